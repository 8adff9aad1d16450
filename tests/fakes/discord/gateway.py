"""The gateway: sessions of shards over WebSockets, heartbeats, resumes, and what can go wrong."""

import asyncio
import json
import secrets
import zlib
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.fakes.discord import payloads
from tests.fakes.discord.rest import concerns_bot, without_content
from tests.fakes.discord.world import BOT_TOKEN, Channel, World

DISPATCH, HEARTBEAT, IDENTIFY, PRESENCE, RESUME, RECONNECT = 0, 1, 2, 3, 6, 7
REQUEST_MEMBERS, INVALID_SESSION, HELLO, HEARTBEAT_ACK = 8, 9, 10, 11
GUILDS, GUILD_MEMBERS, PRESENCES = 1 << 0, 1 << 1, 1 << 8
GUILD_MESSAGES, DIRECT_MESSAGES, MESSAGE_CONTENT = 1 << 9, 1 << 12, 1 << 15
NOT_GRANTED = GUILD_MEMBERS | PRESENCES
KEPT_EVENTS = 1_000
SENDS_A_MINUTE = 120


@dataclass(slots=True)
class Session:
    """What a shard was told, kept for a resume."""

    id: str
    shard: int
    intents: int
    sequence: int = 0
    sent: int = 0
    events: deque[tuple[int, str, dict[str, Any]]] = field(default_factory=lambda: deque(maxlen=KEPT_EVENTS))
    socket: "Socket | None" = None


class Socket:
    """One connection; zlib-stream compressed if asked for."""

    def __init__(self, ws: web.WebSocketResponse, *, compress: bool) -> None:
        self.ws = ws
        self.session: Session | None = None
        self._deflate = zlib.compressobj() if compress else None
        self._lock = asyncio.Lock()

    async def send(
        self, op: int, data: Any, *, event: str | None = None, sequence: int | None = None
    ) -> None:
        """One payload; a connection that is gone loses it."""
        text = json.dumps({"op": op, "d": data, "s": sequence, "t": event})
        async with self._lock:
            if self.ws.closed:
                return
            try:
                if self._deflate is None:
                    await self.ws.send_str(text)
                else:
                    packed = self._deflate.compress(text.encode()) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
                    await self.ws.send_bytes(packed)
            except ConnectionError:
                return


class Gateway:
    """Sessions by shard. Counters tell tests what happened."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.url = ""
        self.heartbeat_seconds = 41.25
        self.answers_heartbeats = True
        self.refuses_resumes = False
        self.identified = 0
        self.resumed = 0
        self.heartbeats = 0
        self.closed: list[int] = []
        self._sessions: dict[str, Session] = {}
        self._sockets: set[Socket] = set()
        self._queue: asyncio.Queue[tuple[Session, int, str, dict[str, Any]]] = asyncio.Queue()

    # --- telling ---

    def dispatch(self, event: str, data: dict[str, Any], guild: int) -> None:
        """Tell the shard of a server, or keep it for the shard's resume."""
        shard = self._world.shard_of(guild) if guild else 0
        for session in self._sessions.values():
            if session.shard == shard and self._is_wanted(session, event, guild):
                self._tell(session, event, self._as_seen(session, event, data))

    def announce_thread(self, thread: Channel) -> None:
        """THREAD_CREATE."""
        self.dispatch("THREAD_CREATE", payloads.channel(self._world, thread), thread.guild)

    def announce_guild(self, guild: int) -> None:
        """GUILD_CREATE again, after a test changed the server."""
        self.dispatch("GUILD_CREATE", payloads.guild(self._world, self._world.guilds[guild]), guild)

    def add_bot(self, guild: int) -> None:
        """GUILD_CREATE of a server that somebody has just added the bot to: nothing says it was away."""
        told = payloads.guild(self._world, self._world.guilds[guild])
        del told["unavailable"]
        self.dispatch("GUILD_CREATE", told, guild)

    def remove_guild(self, guild: int) -> None:
        """GUILD_DELETE: the bot was thrown out."""
        self.dispatch("GUILD_DELETE", {"id": str(guild)}, guild)

    def _tell(self, session: Session, event: str, data: dict[str, Any]) -> None:
        session.sequence += 1
        session.events.append((session.sequence, event, data))
        self._queue.put_nowait((session, session.sequence, event, data))

    async def deliver(self) -> None:
        """Send what was dispatched, in order, for as long as the stand-in runs."""
        while True:
            session, sequence, event, data = await self._queue.get()
            if session.socket is not None and sequence > session.sent:
                session.sent = sequence
                await session.socket.send(DISPATCH, data, event=event, sequence=sequence)

    def _is_wanted(self, session: Session, event: str, guild: int) -> bool:
        if event.startswith("MESSAGE"):
            return bool(session.intents & (GUILD_MESSAGES if guild else DIRECT_MESSAGES))
        if event.startswith(("GUILD", "THREAD")):
            return bool(session.intents & GUILDS)
        return True

    def _as_seen(self, session: Session, event: str, data: dict[str, Any]) -> dict[str, Any]:
        if event != "MESSAGE_CREATE":
            return data
        message = self._world.messages[int(data["id"])]
        if session.intents & MESSAGE_CONTENT or concerns_bot(self._world, message):
            return data
        return without_content(data)

    # --- going wrong ---

    def connections(self) -> int:
        """Shards that are connected and know who they are."""
        return sum(session.socket is not None for session in self._sessions.values())

    async def drop(self, *, code: int = 4000) -> int:
        """Close every connection at once, as when a server of Discord's goes away; returns how many."""
        sockets = tuple(self._sockets)
        for socket in sockets:
            self._detach(socket)
            await socket.ws.close(code=code)
        return len(sockets)

    async def ask_to_reconnect(self) -> None:
        """Op 7 to every shard."""
        for socket in tuple(self._sockets):
            await socket.send(RECONNECT, None)

    async def invalidate(self, *, resumable: bool) -> None:
        """Op 9 to every shard, after which it may resume or has to begin anew."""
        for socket in tuple(self._sockets):
            if not resumable:
                self._detach(socket)
                if socket.session is not None:
                    self._sessions.pop(socket.session.id, None)
            await socket.send(INVALID_SESSION, data=resumable)

    def forget_sessions(self) -> None:
        """No session can be resumed any more."""
        for session in self._sessions.values():
            session.socket = None
        self._sessions.clear()

    # --- one connection ---

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """The WebSocket's handler."""
        query = request.query
        if query.get("v") != "10" or query.get("encoding") != "json":
            raise web.HTTPBadRequest(text="v=10 and encoding=json")
        if query.get("compress") not in (None, "zlib-stream"):
            raise web.HTTPBadRequest(text="only zlib-stream is spoken here")
        ws = web.WebSocketResponse(max_msg_size=4096)
        await ws.prepare(request)
        socket = Socket(ws, compress="compress" in query)
        self._sockets.add(socket)
        try:
            await socket.send(HELLO, {"heartbeat_interval": int(self.heartbeat_seconds * 1000)})
            await self._listen(socket)
        finally:
            self._detach(socket)
            self._sockets.discard(socket)
            if ws.close_code is not None:
                self.closed.append(ws.close_code)
        return ws

    def _detach(self, socket: Socket) -> None:
        if socket.session is not None and socket.session.socket is socket:
            socket.session.socket = None

    async def _listen(self, socket: Socket) -> None:
        sends = 0
        while True:
            try:
                received = await socket.ws.receive(timeout=self.heartbeat_seconds * 2)
            except TimeoutError:
                await socket.ws.close(code=4009, message=b"Session timed out.")
                return
            if received.type is not WSMsgType.TEXT:
                if received.data == 1000 and socket.session is not None:
                    # A client that says goodbye ends its session.
                    self._sessions.pop(socket.session.id, None)
                return
            sends += 1
            if sends > SENDS_A_MINUTE:
                await socket.ws.close(code=4008, message=b"You are being rate limited.")
                return
            if not await self._take(socket, json.loads(received.data)):
                return

    async def _take(self, socket: Socket, payload: dict[str, Any]) -> bool:
        data = payload.get("d")
        match payload.get("op"):
            case 1:
                self.heartbeats += 1
                if self.answers_heartbeats:
                    await socket.send(HEARTBEAT_ACK, None)
                return True
            case 2:
                return await self._identify(socket, data or {})
            case 6:
                return await self._resume(socket, data or {})
            case 3 | 8 if socket.session is not None:
                return True
            case _:
                return await _refuse(socket, 4003 if socket.session is None else 4001)

    async def _identify(self, socket: Socket, data: dict[str, Any]) -> bool:
        if socket.session is not None:
            return await _refuse(socket, 4005)
        if data.get("token") != BOT_TOKEN:
            return await _refuse(socket, 4004)
        shard, count = data.get("shard") or (0, 1)
        if count != self._world.shards or not 0 <= shard < count:
            return await _refuse(socket, 4010)
        intents = int(data.get("intents") or 0)
        if intents & NOT_GRANTED or (intents & MESSAGE_CONTENT and not self._world.grants_message_content):
            return await _refuse(socket, 4014)
        if set(data.get("properties") or {}) < {"os", "browser", "device"}:
            return await _refuse(socket, 4002)
        self.identified += 1
        session = Session(id=secrets.token_hex(8), shard=shard, intents=intents, socket=socket)
        socket.session = session
        self._sessions[session.id] = session
        told = payloads.ready(self._world, shard=(shard, count), session=session.id, resume_url=self.url)
        self._tell(session, "READY", told)
        for guild in self._world.guilds.values():
            if self._world.shard_of(guild.id) == shard:
                self._tell(session, "GUILD_CREATE", payloads.guild(self._world, guild))
        return True

    async def _resume(self, socket: Socket, data: dict[str, Any]) -> bool:
        session = self._sessions.get(str(data.get("session_id")))
        if session is None or data.get("token") != BOT_TOKEN or self.refuses_resumes:
            await socket.send(INVALID_SESSION, data=False)
            return True
        socket.session = session
        self.resumed += 1
        session.sent = int(data.get("seq") or 0)
        # Events may come while others are repeated: none is left out, none told twice.
        while missed := [one for one in session.events if one[0] > session.sent]:
            sequence, event, told = missed[0]
            session.sent = sequence
            await socket.send(DISPATCH, told, event=event, sequence=sequence)
        session.socket = socket
        self._tell(session, "RESUMED", {"_trace": []})
        return True


async def _refuse(socket: Socket, code: int) -> bool:
    await socket.ws.close(code=code)
    return False
