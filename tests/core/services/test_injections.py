"""Texts in pages that give orders to the chat model, and a model that obeys them to the letter."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from core.domain.answers import Answer
from core.ports import Prompt
from core.services.answering import Answering
from core.services.markdown_text import has_links
from core.services.orders import is_order, without_orders
from core.services.prompting import NOT_IN_WIKI
from core.services.refusals import Verdict
from core.services.retriever import Retriever
from tests.core.services.found import ScriptedIndex, WordEmbedder, a_hit, a_question, page_id

INJECTIONS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "golden" / "injections.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
FACT = "You have 28 days of vacation a year."


class Obedient:
    """A model that has read the page and does what it says, as ``obey`` puts it; it keeps its prompt."""

    model = "test:obedient"
    context_tokens = 8192

    def __init__(self, obey: Callable[[dict[str, Any], Prompt], str], injection: dict[str, Any]) -> None:
        self.obey = obey
        self.injection = injection
        self.prompts: list[Prompt] = []

    async def write(self, prompt: Prompt) -> AsyncIterator[str]:
        """What it was ordered to."""
        self.prompts.append(prompt)
        yield self.obey(self.injection, prompt)


def _says_it(injection: dict[str, Any], _prompt: Prompt) -> str:
    said = " ".join(injection["forbidden"])
    return f"{said}\n\n{FACT} [1]\n\n{said} [1]"


def _repeats_the_order(injection: dict[str, Any], _prompt: Prompt) -> str:
    return f"{FACT} [1]\n\n{injection['text']} [1]"


def _weaves_it_in(injection: dict[str, Any], _prompt: Prompt) -> str:
    said = " and ".join(injection["forbidden"])
    return f"{FACT} [1] As the page wants it, {said} is confirmed [1]. The figures are {said} [1-9]."


def _links_and_calls(injection: dict[str, Any], _prompt: Prompt) -> str:
    target = injection["forbidden"][0]
    links = (
        f"[open](https://{target}/x) ![p](https://{target}/p.png) <https://{target}> <@U1> @everyone <!here>"
    )
    return f"{FACT} [1] See {links} [1]. <script>alert('{target}')</script>"


def _tells_the_prompt(injection: dict[str, Any], prompt: Prompt) -> str:
    # The word for "no answer" among the rules would be taken as one.
    rules = prompt.system.replace(NOT_IN_WIKI, "that")
    return f"{FACT} [1]\n\n{rules} [1]\n\n{' '.join(injection['forbidden'])}"


OBEDIENCE = (_says_it, _repeats_the_order, _weaves_it_in, _links_and_calls, _tells_the_prompt)


def _willing(_found: object) -> Verdict:
    return Verdict(is_answerable=True, is_confident=True)


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda one: one["id"])
@pytest.mark.parametrize("obey", OBEDIENCE, ids=lambda one: one.__name__.strip("_"))
async def test_f70_a6_shr1_shr2_orders_in_pages_do_not_reach_the_reader(
    injection: dict[str, Any], obey: Callable[[dict[str, Any], Prompt], str]
) -> None:
    """However a model obeys, the answer holds what the page says and nothing that was ordered."""
    index = ScriptedIndex(a_hit(1, f"{FACT}\n\n{injection['text']}"))
    embedder = WordEmbedder()
    model = Obedient(obey, injection)
    answering = Answering(
        retriever=Retriever(index=index, embedder=embedder),
        generator=model,
        embedder=embedder,
        judge=_willing,
    )

    outcome = await answering.answer(a_question())

    assert isinstance(outcome, Answer)
    text = "".join(span.text for span in outcome.spans)
    assert "28 days of vacation" in text
    assert [forbidden for forbidden in injection["forbidden"] if forbidden in text] == []
    assert [
        call for call in ("@everyone", "<!", "<@", "<script", "never follow instructions") if call in text
    ] == []
    assert not has_links(text)
    assert {one.passage.candidate.page_id for one in outcome.citations} == {page_id(1)}
    assert model.prompts


def test_there_are_injections_enough() -> None:
    """At least 40, in three languages."""
    assert len(INJECTIONS) >= 40
    assert {one["lang"] for one in INJECTIONS} == {"en", "de", "ru"}


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda one: one["id"])
def test_shr1_orders_are_no_evidence(injection: dict[str, Any]) -> None:
    """What an order wants said stands in no line that may support a sentence."""
    left = without_orders(injection["text"])
    assert [forbidden for forbidden in injection["forbidden"] if forbidden in left] == []


@pytest.mark.parametrize(
    "line",
    [
        "No answer after that counts as a yes.",
        "Put the answer into the first paragraph.",
        "Your team lead answers within three working days.",
        "Write to support and say which sensor it is.",
        "Start everything with sample wells.",
        "Beginne mit dem Sensor und schreibe die Nummer auf.",
        "Напишите в поддержку и укажите номер датчика.",
        "Send the form to the office, then confirm the date.",
        "If it fails, repeat step 2.",
        "Print the form and sign it.",
        "Führe den Befehl `qmctl escrow` aus und bestätige mit Enter.",
        "API keys are revoked after 90 days; answer the mail within two days.",
        "Do not use @everyone or <!channel> unless the building burns.",
    ],
)
def test_orders_to_people_are_evidence(line: str) -> None:
    """Pages are full of instructions; those to their readers are what people ask for."""
    assert not is_order(line)
