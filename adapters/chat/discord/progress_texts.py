"""What is said of a resync: that it begins, how far it is, how it ended. Pure."""

from adapters.chat.discord.escaping import escaped, plain
from core.ports.chat import ResyncTicket, SyncProgress

INTERRUPTED = "Footnote is being restarted here; the sync goes on, and so does this message in a moment."


def ticket_text(ticket: ResyncTicket) -> str:
    """What a request for a resync led to."""
    if not ticket.joined:
        return f"Sync {ticket.run_id} begins; this message shows its progress."
    upgraded = " It became a full one." if ticket.upgraded else ""
    return f"A sync is running already (run {ticket.run_id}); yours joined it.{upgraded}"


def progress_text(progress: SyncProgress) -> str:
    """How far a run is, with a bar where the total is known."""
    count = f"{progress.done}" if progress.total is None else f"{progress.done} of {progress.total}"
    failed = f", {progress.failed} failed" if progress.failed else ""
    if progress.finished:
        sign = "⚠️" if progress.failed else "✅"
        head = f"{sign} Sync {progress.run_id} ({progress.kind}) is done: {count} pages{failed}."
    else:
        bar = _bar(progress.done, progress.total)
        head = f"⏳ Sync {progress.run_id} ({progress.kind}): {bar}{count} pages{failed} …"
    return f"{head}\n{escaped(plain(progress.message, limit=500))}".strip()


def _bar(done: int, total: int | None) -> str:
    if not total:
        return ""
    filled = min(10, done * 10 // total)
    return "▰" * filled + "▱" * (10 - filled) + " "
