"""The ``footnote`` command: parse, call, print, exit code. 0 done, 1 the thing failed, 2 wrong use."""

import asyncio
import errno
import os
import signal
import sys
import threading
from collections.abc import Coroutine
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from bot import __version__
from bot.logs import log_for_a_person, set_up_logging
from bot.loops import new_event_loop
from bot.settings import Settings, load_settings
from bot.terminal import complain, note
from core.domain.places import AskerKind, ChannelKind, Place
from core.errors import ConfigurationError, FootnoteError, InvalidInputError

FAILED = 1
WRONG_USE = 2
INTERRUPTED = 130
TERMINATED = 143

_NOT_WRITABLE = frozenset({errno.ENOSPC, errno.EPIPE, errno.EIO, errno.EDQUOT})

app = typer.Typer(
    name="footnote",
    help="Answers a team's questions from its Notion workspace and proves every answer with links.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Platform(StrEnum):
    """Where rules of footnote.toml hold."""

    SLACK = "slack"
    DISCORD = "discord"


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]


def example(*lines: str) -> str:
    """An epilog that shows how a command is used; the backspace mark keeps its lines as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Answers a team's questions from its Notion workspace and proves every answer with links."""
    if version:
        typer.echo(f"footnote {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(WRONG_USE)


@app.command(epilog=example("footnote demo", "footnote demo </dev/null     six sample questions, then leave"))
def demo() -> None:
    """Chat with a sample workspace. Syncs it first; nothing has to be set up."""
    from bot.commands.demo import run_demo

    run(run_demo(_settings()))


@app.command(
    epilog=example("footnote ask 'How many vacation days do I have?'", "footnote ask 'Wo parke ich?' --json")
)
def ask(
    question: Annotated[
        list[str],
        typer.Argument(metavar="QUESTION", help="The question, in any language."),
    ],
    json: Json = False,
) -> None:
    """Answer one question, with links to its sources. They lead to the very paragraphs."""
    from bot.commands.ask import run_ask

    run(run_ask(_settings(), " ".join(question), as_json=json))


@app.command(
    epilog=example("footnote sync", "footnote sync --full", "footnote sync --export ~/Downloads/Export.zip")
)
def sync(
    full: Annotated[bool, typer.Option("--full", help="Enumerate and read everything again.")] = False,
    export: Annotated[
        Path | None,
        typer.Option("--export", help="A Notion 'Markdown & CSV' export: the zip or its unpacked folder."),
    ] = None,
    confirm_removal: Annotated[
        bool,
        typer.Option(
            "--confirm-removal",
            help="Remove what is gone, even so much that it was withheld.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Bring the index up to date with Notion or an export."""
    from bot.commands.sync import run_sync

    run(run_sync(_settings(), full=full, export=export, as_json=json, confirm_removal=confirm_removal))


@app.command(epilog=example("footnote migrate", "footnote migrate --check   exits 1 if anything is pending"))
def migrate(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail if anything is pending.")
    ] = False,
    json: Json = False,
) -> None:
    """Bring the database's schema up to date, and its vector index."""
    from bot.commands.migrate import run_migrate

    run(run_migrate(_settings(), check=check, as_json=json))


@app.command(epilog=example("footnote check", "footnote check --json"))
def check(json: Json = False) -> None:
    """Examine settings, servers, models and tokens. Each line says what to do."""
    from bot.commands.check import run_check

    run(run_check(_settings(), as_json=json))


@app.command(
    epilog=example(
        "footnote scope slack --workspace T1 --channel C042",
        "footnote scope slack --workspace T1 --person U042 --group S01",
        "footnote scope slack --channel C042 --kind shared --asker external",
    )
)
def scope(
    platform: Annotated[Platform, typer.Argument(metavar="PLATFORM", help="slack or discord.")],
    workspace: Annotated[str, typer.Option(help="The Slack workspace or Discord server.")] = "",
    channel: Annotated[str, typer.Option(help="The channel; left out, a reply for one person alone.")] = "",
    person: Annotated[str, typer.Option(help="Who asks.")] = "anybody",
    group: Annotated[list[str] | None, typer.Option(help="A user group or role of that person.")] = None,
    kind: Annotated[ChannelKind | None, typer.Option(help="How widely the channel is read.")] = None,
    asker: Annotated[
        AskerKind, typer.Option(help="Who asks: a colleague, a guest, or another company.")
    ] = AskerKind.MEMBER,
    json: Json = False,
) -> None:
    """Explain what a place may see, by footnote.toml."""
    from bot.commands.scope import run_scope

    place = Place(
        platform=platform.value,
        workspace=workspace,
        channel=channel,
        channel_kind=kind or (ChannelKind.PUBLIC if channel else ChannelKind.DIRECT),
        asker=person,
        asker_kind=asker,
        groups=frozenset(group or ()),
    )
    raise typer.Exit(run_scope(_settings(), place, as_json=json))


@app.command(epilog=example("footnote status", "footnote status --json"))
def status(json: Json = False) -> None:
    """Show the health of the index. Six checks, the page ledger, the last runs."""
    from bot.commands.status import run_status

    run(run_status(_settings(), as_json=json))


@app.command(
    epilog=example("footnote gaps", "footnote gaps --days 7 --json", "footnote gaps --golden new.jsonl")
)
def gaps(
    days: Annotated[int, typer.Option(min=1, max=3650, help="How far to look back.")] = 30,
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many gaps to show.")] = 10,
    golden: Annotated[
        Path | None, typer.Option(help="Also write the questions there, as candidates for footnote eval.")
    ] = None,
    json: Json = False,
) -> None:
    """Show what was asked and not answered well. With the nearest pages, and whom to ask."""
    from bot.commands.gaps import run_gaps

    run(run_gaps(_settings(), days=days, limit=limit, golden=golden, as_json=json))


@app.command(epilog=example("footnote forget U042", "footnote forget 123456789012345678"))
def forget(
    person: Annotated[str, typer.Argument(metavar="PERSON", help="Their id in Slack or Discord.")],
    json: Json = False,
) -> None:
    """Delete what is kept of one person. Every question, judgement and suggestion."""
    from bot.commands.forget import run_forget

    run(run_forget(_settings(), person, as_json=json))


@app.command(
    epilog=example(
        "footnote why https://www.notion.so/Vacation-0123456789abcdef0123456789abcdef",
        "footnote why 0123456789abcdef0123456789abcdef --json",
    )
)
def why(
    link: Annotated[str, typer.Argument(metavar="LINK", help="The page's link or id.")], json: Json = False
) -> None:
    """Explain why a page is in the answers or not. Its state, root, passages, scopes."""
    from bot.commands.why import run_why

    run(run_why(_settings(), link, as_json=json))


@app.command(
    epilog=example(
        "footnote reembed",
        "EMBEDDING_MODEL=ollama:bge-m3 footnote reembed",
        "NOTION_SUMMARIES=on footnote reembed --cost",
    )
)
def reembed(
    cost: Annotated[
        bool,
        typer.Option("--cost", help="Only tell what summaries and contexts would ask of the chat model."),
    ] = False,
    json: Json = False,
) -> None:
    """Make all vectors anew with the configured model. The old ones answer until the new are complete."""
    from bot.commands.reembed import run_cost, run_reembed

    run((run_cost if cost else run_reembed)(_settings(), as_json=json))


@app.command(
    name="eval",
    epilog=example(
        "footnote eval golden.jsonl",
        "footnote eval golden.jsonl --ablate --report report.html",
        "footnote eval golden.jsonl --json --baseline baseline.json",
    ),
)
def evaluate(  # noqa: PLR0913, PLR0917 - the options of the command
    golden: Annotated[
        Path,
        typer.Argument(
            metavar="GOLDEN.jsonl", help="Questions and what should be found, one JSON object a line."
        ),
    ],
    ablate: Annotated[
        bool,
        typer.Option("--ablate", help="Also set stages of the ranking and sizes of chunks side by side."),
    ] = False,
    chunk_sizes: Annotated[
        str,
        typer.Option(
            help="Also cut the pages to these sizes, or none. Embeds them all once. "
            "With --ablate 400,512,600,1000."
        ),
    ] = "",
    enriched: Annotated[
        bool,
        typer.Option("--enriched", help="With --ablate: also what a chat model writes about pages. Asks it."),
    ] = False,
    answers: Annotated[
        bool,
        typer.Option("--answers", help="Also have a chat model judge what answers cite."),
    ] = False,
    judge: Annotated[
        str, typer.Option(help="The chat model that judges, such as ollama:llama3.1:8b. Default LLM_MODEL.")
    ] = "",
    labels: Annotated[
        Path | None, typer.Option(help="Labelled sentences that the judge is held against, one a line.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page with plots there.")] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="An earlier --json output; exit code 1 if figures fell below it.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure retrieval and refusals on a golden set. The index stays as it is."""
    from bot.commands.evaluate import Wanted, read_sizes, run_evaluate
    from bot.evaluation.ablation import CHUNK_SIZES
    from bot.evaluation.variants import Variants

    sizes = read_sizes(chunk_sizes) if chunk_sizes or not ablate else CHUNK_SIZES
    wanted = Wanted(
        variants=Variants(stages=ablate, chunk_sizes=sizes, enriched=enriched),
        answers=answers,
        judge=judge,
        labels=labels,
        page=report,
        baseline=baseline,
    )
    run(run_evaluate(_settings(), golden, as_json=json, wanted=wanted))


@app.command(epilog=example("footnote serve", "NOTION_SYNC_INTERVAL=5 footnote serve"))
def serve() -> None:
    """Run the bot until a signal ends it. Chat platforms, scheduled syncs, health endpoint."""
    from bot.commands.serve import run_serve

    run(run_serve(_settings(quiet=False)))


def run(work: Coroutine[Any, Any, int]) -> None:
    """Run a command's coroutine; its result is the exit code.

    SIGTERM stops it as Ctrl-C does: what is open is closed, so that no run is left to be waited for.
    """
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            code = runner.run(_until_terminated(work))
    except KeyboardInterrupt:
        note("stopped")
        code = INTERRUPTED
    raise typer.Exit(code)


async def _until_terminated(work: Coroutine[Any, Any, int]) -> int:
    task = asyncio.ensure_future(work)
    terminated = False

    def terminate() -> None:
        nonlocal terminated
        terminated = True
        task.cancel()

    # Only the main thread may handle signals; elsewhere whoever made the thread does.
    if threading.current_thread() is threading.main_thread():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
    try:
        return await task
    except asyncio.CancelledError:
        if not terminated:
            raise
        note("stopped")
        return TERMINATED


def main() -> None:
    """The console script: every error a user can cause is one clear line, without a stack trace."""
    sys.exit(run_command_line(sys.argv[1:]))


def run_command_line(arguments: list[str]) -> int:
    """Run the command line and return its exit code."""
    try:
        app(arguments)
        sys.stdout.flush()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    except (ConfigurationError, InvalidInputError) as error:
        complain(str(error))
        return WRONG_USE
    except FootnoteError as error:
        complain(str(error))
        return FAILED
    except OSError as error:
        if error.errno not in _NOT_WRITABLE:
            raise
        # Else the interpreter would try once more as it ends, and complain in its own way.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        complain(f"cannot write the result: {error.strerror}")
        return FAILED
    return 0


def _settings(*, quiet: bool = True) -> Settings:
    """Settings, and logging at their level; commands that print what they do are ``quiet`` if none is set."""
    settings = load_settings()
    if quiet and settings.log_level is None:
        log_for_a_person()
    else:
        set_up_logging(settings.log_level or "info")
    return settings
