"""Real PostgreSQL (with pgvector) and a real Redis-compatible server, out of wheels, in a data folder.

For ``DATABASE_URL=embedded`` and ``REDIS_URL=embedded``. Processes that name the same folder share one
server: the first starts it, the last stops it, and a killed one leaves nothing that needs healing by hand.
Both servers listen on unix sockets in a folder that only their user can enter, never on a port.
"""

from bot.embedded.postgres import embedded_postgres
from bot.embedded.redis import embedded_redis

__all__ = ["embedded_postgres", "embedded_redis"]
