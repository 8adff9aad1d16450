"""What stands between a chat and the answer: limits, and equal questions answered once."""

from dataclasses import dataclass

from adapters.caches.connecting import RedisConnection
from adapters.caches.leases import RedisLeases
from adapters.caches.limits import RedisLimits
from bot.clock import SystemClock
from bot.settings import Settings
from core.ports import Answerer, Embedder, Generator
from core.ports.neighbours import NeighbourIndex
from core.ports.watching import Watch
from core.services.answering import Answering, Checking, Looking
from core.services.caching import AnswerCache
from core.services.grounding import VERSION as CHECKING_VERSION
from core.services.grounding import Grounder, Unsupported
from core.services.limiting import LimitedAnswerer
from core.services.metering import MeteredGenerator
from core.services.popular import Frequencies, PopularQuestions
from core.services.prompting import VERSION as PROMPT_VERSION
from core.services.prompting import Style
from core.services.rechecking import Freshness, RecheckingAnswerer
from core.services.refusals import Judge
from core.services.retriever import Retriever
from core.services.rewriting import Rewriter
from core.services.surroundings import Surroundings
from core.services.watching import WatchedAnswerer


@dataclass(frozen=True, slots=True)
class Parts:
    """What answers are made with."""

    retriever: Retriever
    judge: Judge
    generator: Generator | None
    embedder: Embedder
    cache: AnswerCache
    frequencies: Frequencies
    style: Style
    neighbours: NeighbourIndex
    freshness: Freshness | None = None


def describe_writing(settings: Settings) -> str:
    """All of the settings and versions that shape what is written; part of cache keys."""
    checking = f"{CHECKING_VERSION}/{settings.answer_unsupported}/{settings.answer_outdated_after_days}"
    looking = f"{settings.answer_neighbours}/{settings.answer_second_search}"
    return f"{PROMPT_VERSION}/{settings.answer_style}/{checking}/{looking}"


def make_answerer(
    settings: Settings, *, redis: RedisConnection, parts: Parts, watch: Watch
) -> tuple[Answerer, PopularQuestions]:
    """The answerer that chats are given, and what it is often asked."""
    generator = parts.generator
    if generator is not None:
        generator = MeteredGenerator(generator, observe=watch.generated)
    checking = Checking(
        grounder=Grounder(parts.embedder, unsupported=Unsupported(settings.answer_unsupported)),
        outdated_after_days=settings.answer_outdated_after_days,
        observe=watch.checked,
    )
    surroundings = Surroundings(parts.neighbours, reach=settings.answer_neighbours)
    is_rewritten = settings.answer_second_search == "on"
    popular = PopularQuestions(
        Answering(
            retriever=parts.retriever,
            generator=generator,
            embedder=parts.embedder,
            cache=parts.cache,
            judge=parts.judge,
            leases=RedisLeases(redis),
            style=parts.style,
            checking=checking,
            looking=Looking(
                rewriter=Rewriter(generator) if generator is not None and is_rewritten else None,
                surroundings=surroundings,
            ),
        ),
        clock=SystemClock(),
        frequencies=parts.frequencies,
    )
    makeshift = Answering(
        retriever=parts.retriever,
        embedder=parts.embedder,
        judge=parts.judge,
        style=parts.style,
        checking=checking,
        looking=Looking(surroundings=surroundings),
    )
    limited = LimitedAnswerer(
        _rechecked(popular, parts.freshness),
        makeshift=_rechecked(makeshift, parts.freshness),
        counter=RedisLimits(redis, processes=settings.footnote_processes),
        limits=settings.limits,
    )
    return WatchedAnswerer(limited, watch), popular


def _rechecked(answerer: Answerer, freshness: Freshness | None) -> Answerer:
    return answerer if freshness is None else RecheckingAnswerer(answerer, freshness)
