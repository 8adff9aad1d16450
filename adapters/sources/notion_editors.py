"""Who edited a page last, as Notion knows it now."""

from adapters.sources.notion_api import NotionApi
from adapters.sources.notion_json import as_mapping, as_text
from core.errors import NotFoundError, UnreadableError


class NotionEditors:
    """Addresses of last editors; two requests each, and nothing is kept."""

    def __init__(self, api: NotionApi) -> None:
        self._api = api

    async def email_of_last_editor(self, page_id: str) -> str:
        """Their e-mail address; empty for a bot, or where the integration may not read addresses.

        Raises:
            TemporaryError, RefusedError: Notion cannot be asked.
        """
        try:
            page = await self._api.page(page_id)
            editor = as_text(as_mapping(page.get("last_edited_by")).get("id"))
            user = await self._api.user(editor) if editor else {}
        except (NotFoundError, UnreadableError):
            return ""
        return as_text(as_mapping(user.get("person")).get("email"))
