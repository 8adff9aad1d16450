"""The chain of pages above a page, and the breadcrumb made of it."""

import pytest

from core.domain.documents import ObjectType, PageRef
from core.domain.ids import PageId
from core.domain.placing import place


def ref(
    name: str, parent: str | None = None, title: str | None = None, kind: ObjectType = ObjectType.PAGE
) -> PageRef:
    """A page called like its id."""
    return PageRef(
        PageId(name),
        name if title is None else title,
        f"https://www.notion.so/{name}",
        parent_id=PageId(parent) if parent else None,
        object_type=kind,
    )


def breadcrumb_of(page: PageRef, *others: PageRef) -> str:
    return place(page, {one.id: one for one in (page, *others)}).breadcrumb


def test_k14_the_breadcrumb_names_two_ancestors() -> None:
    """Of a tree L1 > L2 > L3 > L4 the last page is at "L2 > L3 > L4"; all ancestors are known."""
    pages = [ref("L1"), ref("L2", "L1"), ref("L3", "L2"), ref("L4", "L3")]

    placed = place(pages[-1], {one.id: one for one in pages})

    assert placed.breadcrumb == "L2 > L3 > L4"
    assert [ancestor.id for ancestor in placed.ancestors] == ["L1", "L2", "L3"]


def test_k15_an_unknown_parent_leaves_the_own_title() -> None:
    """The chain simply ends there."""
    assert breadcrumb_of(ref("Page", "somewhere")) == "Page"
    assert breadcrumb_of(ref("Page", "Middle"), ref("Middle", "somewhere")) == "Middle > Page"


@pytest.mark.parametrize("title", ["", " "])
def test_u11_an_untitled_ancestor_does_not_cut_the_chain(title: str) -> None:
    """It is named as Notion names it."""
    untitled = ref("m", "Top", title=title)

    assert breadcrumb_of(ref("Page", "m"), untitled, ref("Top")) == "Top > Untitled > Page"


def test_u12_in_a_cycle_each_page_appears_once() -> None:
    """A above B above A is not "A > B > A"."""
    assert breadcrumb_of(ref("A", "B"), ref("B", "A")) == "B > A"


def test_k15_a_page_above_itself_has_no_ancestor() -> None:
    """The shortest cycle."""
    assert breadcrumb_of(ref("A", "A")) == "A"


def test_k15_a_cycle_above_the_page_is_followed_once() -> None:
    """Neither of its pages appears twice."""
    placed = place(ref("P", "A"), {one.id: one for one in (ref("A", "B"), ref("B", "A"))})

    assert [ancestor.id for ancestor in placed.ancestors] == ["B", "A"]


def test_u10_rows_stand_below_their_database() -> None:
    """A database is an ancestor like any page."""
    assert (
        breadcrumb_of(
            ref("Row", "Tasks", kind=ObjectType.ROW),
            ref("Tasks", "Wiki", kind=ObjectType.DATABASE),
            ref("Wiki"),
        )
        == "Wiki > Tasks > Row"
    )


def test_k15_a_chain_of_1200_ancestors_is_followed() -> None:
    """Without recursion."""
    pages = [ref("0"), *(ref(str(number), str(number - 1)) for number in range(1, 1201))]

    assert len(place(pages[-1], {one.id: one for one in pages}).ancestors) == 1200
