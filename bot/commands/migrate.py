"""``footnote migrate``: the database's schema and the model's vector index."""

from adapters.stores.reader import grant_reading, role_of
from adapters.stores.schema import migrate, pending
from adapters.stores.vector_index import ensure_vector_index
from adapters.transport import http_client
from bot.servers import running_servers
from bot.settings import Settings
from bot.terminal import output, print_json
from bot.wiring import chunking_for, open_embedder


async def run_migrate(settings: Settings, *, check: bool, as_json: bool) -> int:
    """Apply what is pending; with ``check`` only look, and fail if anything is."""
    with running_servers(settings) as servers:
        steps = await (pending if check else migrate)(servers.database_url)
        index = None
        if not check:
            async with http_client() as client, open_embedder(settings, client) as embedder:
                version = chunking_for(settings, embedder).version
                fingerprint = embedder.profile.fingerprint(version)
                index = await ensure_vector_index(servers.database_url, embedder.profile, fingerprint)
            if settings.database_read_url is not None:
                await grant_reading(servers.database_url, role_of(settings.database_read_url))
    names = [f"{step.number:04d}_{step.name}" for step in steps]
    if as_json:
        print_json({"pending" if check else "applied": names, "vector_index": index})
    elif check:
        output.print("\n".join(f"pending: {name}" for name in names) or "Nothing is pending.")
    else:
        output.print("\n".join(f"applied: {name}" for name in names) or "The schema is up to date.")
    return 1 if check and names else 0
