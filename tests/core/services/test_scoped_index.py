"""Search results tell nothing of pages that their readers may not see."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from core.domain.answers import Candidate
from core.domain.audiences import EVERYTHING, Audience, Scope
from core.domain.ids import PageId
from core.ports import WordQuery
from core.ports.neighbours import Stretch
from core.services.scoped_index import HIDDEN, ScopedIndex
from tests.core.services.found import ScriptedIndex, a_hit, page_id
from tests.core.services.found import page_url as link_to

READERS = Audience("readers", ((Scope("some", frozenset({page_id(1)})),),))
OPEN, SECRET, UNKNOWN = 1, 2, 3
WORDS = WordQuery(text="x", terms=("x",))


class Titles:
    """Page 1 may be seen, page 2 may not, of others nothing is known."""

    def __init__(self) -> None:
        self.asked: list[list[PageId]] = []

    async def titles(self, ids: Sequence[PageId], *, audience: Audience) -> Mapping[PageId, str | None]:
        """What the readers may know."""
        assert audience.groups
        self.asked.append(list(ids))
        known = {page_id(OPEN): "Open", page_id(SECRET): None, page_id(4): "Root"}
        return {one: known[one] for one in ids if one in known}


async def seen(body: str = "Text.", audience: Audience = READERS, **more: Any) -> Candidate:
    """A hit on page 1, as the readers get it."""
    index = ScopedIndex(ScriptedIndex(a_hit(1, body, **more)), Titles())
    [found] = (await index.search(vector=None, words=WORDS, audience=audience, limit=5)).candidates
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"See [Secret plan]({link_to(SECRET)}) now.", f"See {HIDDEN} now."),
        (f"See [Open]({link_to(OPEN)}) now.", f"See [Open]({link_to(OPEN)}) now."),
        (f"See [Other]({link_to(UNKNOWN)}) now.", f"See [Other]({link_to(UNKNOWN)}) now."),
        (f"See {link_to(SECRET)} now.", f"See {HIDDEN} now."),
        (f"[A \\] b]({link_to(SECRET)}), [c]({link_to(OPEN)})", f"{HIDDEN}, [c]({link_to(OPEN)})"),
        (f"[x](https://www.notion.so/db?p={page_id(SECRET)})", HIDDEN),
        (f"et plan]({link_to(SECRET)}) and more", f"{HIDDEN} and more"),
        ("Done. See [Secret pl", f"Done. See {HIDDEN}"),
        ("Done. See [Secret plan](https://www.notion.so/Secr", f"Done. See {HIDDEN}"),
        ("- [ ] a task\n- [x] another [1]", "- [ ] a task\n- [x] another [1]"),
        ("[docs](https://example.com/a) and text", "[docs](https://example.com/a) and text"),
        ("No links, 3 < 5.", "No links, 3 < 5."),
    ],
)
async def test_t26_links_to_hidden_pages_are_cut_with_label_and_address(body: str, expected: str) -> None:
    """Labels are titles, and addresses hold them too; a link cut in two may be to anywhere."""
    assert (await seen(body)).body == expected


async def test_t26_hidden_ancestors_are_not_named() -> None:
    """What may be seen of the way up stays."""
    hidden = await seen(
        path=(page_id(1), page_id(2), page_id(4)), title="Page", breadcrumb="Root > Secret > Page"
    )
    shown = await seen(path=(page_id(1), page_id(4)), title="Page", breadcrumb="Root > Page")
    far = await seen(
        path=(page_id(1), page_id(4), page_id(1), page_id(2)), title="Page", breadcrumb="Open > Root > Page"
    )

    assert hidden.breadcrumb == "Root > Page"
    assert shown.breadcrumb == "Root > Page"
    assert far.breadcrumb == "Open > Root > Page"


async def test_a_page_that_moved_out_of_sight_meanwhile_is_left_out() -> None:
    """Between the search and the look at titles a sync may have moved it."""
    index = ScopedIndex(ScriptedIndex(a_hit(SECRET), a_hit(OPEN)), Titles())

    found = await index.search(vector=None, words=WORDS, audience=READERS, limit=5)
    pages = await index.search_pages(words=WORDS, audience=READERS, limit=5)

    assert [one.page_id for one in found.candidates] == [page_id(OPEN)]
    assert pages.candidates == ()


async def test_who_may_see_everything_costs_no_second_look() -> None:
    """The results are as the index gave them."""
    titles = Titles()
    index = ScopedIndex(ScriptedIndex(a_hit(SECRET, f"[x]({link_to(SECRET)})")), titles)

    found = await index.search(vector=None, words=WORDS, audience=EVERYTHING, limit=5)

    assert found.candidates[0].body.startswith("[x](")
    assert titles.asked == []
    assert await index.generation() == 7


class Around:
    """Neighbours as an index behind would give them, one of them out of sight by mistake."""

    async def around(self, stretches: Sequence[Stretch], *, audience: Audience) -> Sequence[Candidate]:  # noqa: ARG002 - the port's
        """Two passages."""
        return [a_hit(OPEN, f"See [Secret plan]({link_to(SECRET)})."), a_hit(SECRET, "Secret text.")]


async def test_t26_neighbours_tell_no_more_than_what_was_found() -> None:
    """What stands beside a passage is cut like the passage, and a hidden page's text is left out."""
    index = ScopedIndex(ScriptedIndex(), Titles(), Around())

    found = await index.around([Stretch(page_id(OPEN), 0, 2)], audience=READERS)

    assert [one.body for one in found] == [f"See {HIDDEN}."]
    assert await ScopedIndex(ScriptedIndex(), Titles()).around([], audience=READERS) == ()
