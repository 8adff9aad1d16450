"""The administrators' commands: who may, what each does, and a resync's progress in one message."""

import asyncio
import io
import logging
from collections.abc import Sequence
from typing import Any

import discord

from adapters.chat.discord.asking import from_interaction
from adapters.chat.discord.calls import EXPIRED, CallError, call
from adapters.chat.discord.charts import has_matplotlib, ledger_lines, ledger_png
from adapters.chat.discord.components import NO_MENTIONS
from adapters.chat.discord.escaping import escaped, fence, plain
from adapters.chat.discord.markup import discord_markdown
from adapters.chat.discord.progress import Following, ProgressPlace
from adapters.chat.discord.progress_texts import ticket_text
from adapters.chat.discord.render import CONTENT_LENGTH
from adapters.chat.discord.settings import DiscordSettings
from adapters.chat.discord.splitting import split
from adapters.chat.discord.texts import Text, say
from adapters.chat.discord.whispering import whisper
from adapters.chat.running import Running
from core.domain.places import Place
from core.errors import InvalidInputError
from core.ports.chat import (
    Administration,
    Audiences,
    Gap,
    IndexStatus,
    ResyncKind,
)

logger = logging.getLogger(__name__)

GAPS = 10
EXAMPLE_LENGTH = 200


class Administering:
    """Carries out what administrators ask, after it has looked that they are."""

    def __init__(
        self,
        *,
        settings: DiscordSettings,
        administration: Administration,
        audiences: Audiences,
        following: Following,
        running: Running,
    ) -> None:
        self._settings = settings
        self._administration = administration
        self._audiences = audiences
        self._running = running
        self._following = following

    def is_admin(self, interaction: discord.Interaction) -> bool:
        """Whether settings or rules name the person or one of their roles, or they may manage our server.

        Looked up in what the server tells, whatever the command's own permissions were changed to (DSC-5).
        In servers that the settings do not name, managing them means nothing to us.
        """
        user = interaction.user
        if interaction.guild_id is None or not isinstance(user, discord.Member):
            return False
        if user.id in self._settings.admins or self._audiences.is_admin(_place(interaction)):
            return True
        if self._settings.guild_ids and interaction.guild_id not in self._settings.guild_ids:
            return False
        if any(role.id in self._settings.admin_roles for role in user.roles):
            return True
        return user.guild_permissions.manage_guild or user.guild_permissions.administrator

    async def admits(self, interaction: discord.Interaction, verb: str) -> bool:
        """Check, log, and tell the refused in private."""
        if self.is_admin(interaction):
            logger.info("allowed: %d does %s", interaction.user.id, verb)
            return True
        logger.warning("refused: %d wanted %s", interaction.user.id, verb)
        await whisper(interaction, say(Text.ADMINS_ONLY, str(interaction.locale.value)))
        return False

    async def resync(self, interaction: discord.Interaction, kind: ResyncKind) -> None:
        """Start or join a run and show its progress in one message that everybody in the channel sees."""
        if not await self.admits(interaction, kind.value):
            return
        await call("acknowledging", interaction.response.defer(thinking=True))
        ticket = await self._administration.resync(kind, asked_by=f"discord:{interaction.user.id}")
        message = self._following.message(ProgressPlace.of(interaction))
        await message.try_to_show(ticket_text(ticket))
        self._running.start_show(self._following.follow(ticket.run_id, message))

    async def status(self, interaction: discord.Interaction) -> None:
        """How the index is, with a chart."""
        if not await self._begin(interaction, "status"):
            return
        found = await self._administration.status()
        files: dict[str, Any] = {}
        if has_matplotlib() and found.ledger:
            picture = await asyncio.to_thread(ledger_png, found.ledger)
            files["file"] = discord.File(io.BytesIO(picture), filename="pages.png")
        await self._tell(interaction, status_text(found), **files)

    async def gaps(self, interaction: discord.Interaction) -> None:
        """What was asked and not answered well."""
        if await self._begin(interaction, "gaps"):
            viewer = self._audiences.audience_for(_place(interaction))
            await self._tell(
                interaction, gaps_text(await self._administration.gaps(viewer=viewer, limit=GAPS))
            )

    async def scope(self, interaction: discord.Interaction) -> None:
        """What this channel sees, and why; the settings' file is the source."""
        if await self._begin(interaction, "scope"):
            await self._tell(interaction, escaped(self._audiences.explain(_place(interaction))))

    async def why(self, interaction: discord.Interaction, link: str) -> None:
        """Explains one page."""
        if not await self._begin(interaction, "why"):
            return
        try:
            text = discord_markdown(await self._administration.why(link.strip().strip("<>")))
        except InvalidInputError as error:
            text = escaped(str(error))
        await self._tell(interaction, text)

    async def _begin(self, interaction: discord.Interaction, verb: str) -> bool:
        if not await self.admits(interaction, verb):
            return False
        await call("acknowledging", interaction.response.defer(ephemeral=True, thinking=True))
        return True

    async def _tell(self, interaction: discord.Interaction, text: str, **files: Any) -> None:
        async def send(piece: str, **files: Any) -> None:
            sending = interaction.followup.send(
                piece, ephemeral=True, allowed_mentions=NO_MENTIONS, suppress_embeds=True, **files
            )
            await call("a followup", sending)

        for piece in split(text, limit=CONTENT_LENGTH) or ("…",):
            try:
                await send(piece, **files)
            except CallError as error:
                if not files or error.code in EXPIRED:
                    raise
                logger.info("a picture cannot be attached there: %s", error)
                await send(piece)
            files = {}


def _place(interaction: discord.Interaction) -> Place:
    """The channel as a place, with who asks."""
    return from_interaction(interaction, "", private=False).channel_place()


def status_text(status: IndexStatus) -> str:
    """The index's health, and the pages by state as bars."""
    last = f"<t:{int(status.last_sync.timestamp())}:R>" if status.last_sync else "never"
    lines = [
        f"**Index**: {status.pages} pages, {status.chunks} passages, {status.pending} waiting; "
        f"last sync {last}"
    ]
    for check in status.checks:
        sign = "✅" if check.ok else "❌"
        remedy = f" → {escaped(check.remedy)}" if check.remedy and not check.ok else ""
        lines.append(f"{sign} {escaped(check.name)}: {escaped(check.detail)}{remedy}")
    return "\n".join(lines) + "\n" + fence(ledger_lines(status.ledger))


def gaps_text(gaps: Sequence[Gap]) -> str:
    """What was asked and not answered well, most frequent first."""
    if not gaps:
        return "No gaps: everything asked lately was answered well."
    lines = ["**Asked and not answered well**"]
    for gap in gaps:
        example = escaped(plain(gap.examples[0], limit=EXAMPLE_LENGTH)) if gap.examples else "…"
        pages = ", ".join(escaped(title) for title, _ in gap.nearest_pages[:2])
        lines.append(f"- {gap.count} × {example}" + (f" (nearest: {pages})" if pages else ""))
    return "\n".join(lines)
