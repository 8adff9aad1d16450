"""Pages are masked by the rules of the scopes they lie in, before anything else sees them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from core.domain.audiences import Scope
from core.domain.ids import PageId
from core.services.masking import Masking, ScrubRule, masked
from core.services.scrubbing import SensitiveKind
from core.services.sync_report import SyncReport
from core.services.syncing import Syncer
from tests.core.services.sync_rig import SyncRig, sync_rig
from tests.fakes.notion import blocks, properties

EMAIL, PHONE = frozenset({SensitiveKind.EMAIL}), frozenset({SensitiveKind.PHONE})
TEXT = "Ask jane@example.com or call +49 30 901820."


class MaskedRig:
    """A workspace whose pages come masked into the index."""

    def __init__(self, rig: SyncRig) -> None:
        self.rig = rig
        self.masking = Masking()
        self.crossings = 0
        self.hr = rig.workspace.add_page("HR", blocks=[blocks.paragraph(TEXT)])
        self.it = rig.workspace.add_page("IT", blocks=[blocks.paragraph(TEXT)])
        self.pay = rig.workspace.add_page("Pay", parent=self.hr, blocks=[blocks.paragraph(TEXT)])
        self.who = rig.workspace.add_page("Who", parent=self.pay, blocks=[blocks.paragraph(TEXT)])

    def process(self) -> Syncer:
        """A process that begins under the rules as they are."""
        syncer = self.rig.restart()
        syncer._source = masked(
            self.rig.notion.source, lambda: self.masking, self.rig.store, crossed=self._crossed
        )
        return syncer

    async def _crossed(self) -> None:
        self.crossings += 1

    async def sync(self, *, full: bool = False) -> SyncReport:
        """One run of a new process."""
        self.process()
        return await self.rig.sync(full=full)

    def held(self, page: str) -> str:
        """Everything that the index holds of a page: as stored, as embedded, as found by words."""
        stored = self.rig.store._pages[PageId(page)].stored
        chunks = [one.chunk.text_to_embed for one in self.rig.chunks(page)]
        return repr((stored, chunks))


@asynccontextmanager
async def masked_rig() -> AsyncIterator[MaskedRig]:
    """The rig over a stand-in of Notion."""
    async with sync_rig() as rig:
        yield MaskedRig(rig)


async def test_a19_with_masking_on_nothing_sensitive_is_embedded_or_stored() -> None:
    """Neither in blocks, nor in the text, nor in what the model was given; titles and properties too."""
    async with masked_rig() as site:
        base = site.rig.workspace.add_database("Contacts")
        row = site.rig.workspace.add_row(
            base, "Jim jim@example.com", properties={"Mail": properties.rich_text("joe@example.com")}
        )
        site.masking = Masking(everywhere=EMAIL)

        report = await site.sync()

        assert report.is_clean
        for page in (site.hr, site.it, site.pay, site.who, row):
            assert "@example.com" not in site.held(page)
            assert "[email]" in site.held(page)
        assert not any("@example.com" in text for text in site.rig.embedder.embedded)
        assert "+49 30 901820" in site.held(site.hr)


async def test_a19_with_masking_off_pages_are_untouched() -> None:
    """They are stored as they were written."""
    async with masked_rig() as site:
        await site.sync()

        assert "jane@example.com" in site.held(site.hr)
        assert "+49 30 901820" in site.held(site.hr)


async def test_a19_rules_hold_in_their_scope_only() -> None:
    """Below the root of the scope, however deep, and not beside it nor in what it excludes."""
    async with masked_rig() as site:
        scope = Scope("HR", frozenset({PageId(site.hr)}), frozenset({PageId(site.who)}))
        site.masking = Masking(everywhere=PHONE, rules=(ScrubRule(scope, EMAIL),))

        await site.sync()

        assert ["[email]" in site.held(one) for one in (site.hr, site.pay, site.it, site.who)] == [
            True,
            True,
            False,
            False,
        ]
        assert all("[phone]" in site.held(one) for one in (site.hr, site.pay, site.it, site.who))


async def test_a19_a_full_sync_after_a_change_of_rules_masks_and_unmasks() -> None:
    """Rules count for what lies in the index once everything was read again under them."""
    async with masked_rig() as site:
        await site.sync()
        site.masking = Masking(everywhere=EMAIL)
        await site.sync(full=True)
        covered = "jane@example.com" not in site.held(site.hr)
        site.masking = Masking()
        await site.sync(full=True)

        assert covered
        assert "jane@example.com" in site.held(site.hr)


async def test_a19_a_page_that_moves_under_a_rule_is_masked_with_everything_below() -> None:
    """Notion does not date a move; the pages are read again all the same."""
    async with masked_rig() as site:
        site.masking = Masking(rules=(ScrubRule(Scope("IT", frozenset({PageId(site.it)})), EMAIL),))
        await site.sync()
        site.rig.later()
        await site.sync()
        site.rig.later()
        before = [site.held(one) for one in (site.pay, site.who)]

        site.rig.workspace.move(site.pay, site.it)
        site.rig.later()
        await site.sync()

        assert all("jane@example.com" in held for held in before)
        assert "jane@example.com" not in site.held(site.pay) + site.held(site.who)
        assert "jane@example.com" in site.held(site.hr)


async def test_a19_a_move_between_listings_says_that_everything_has_to_be_read_again() -> None:
    """What lies below a moved page is not listed among the changes; the next run reads it all the same."""
    async with masked_rig() as site:
        site.masking = Masking(rules=(ScrubRule(Scope("IT", frozenset({PageId(site.it)})), EMAIL),))
        await site.sync()
        site.rig.later()
        syncer = site.process()
        await site.rig.sync()
        site.rig.later()
        site.rig.workspace.move(site.pay, site.it)

        await syncer.refresh(frozenset({PageId(site.pay)}))
        moved, below = site.held(site.pay), site.held(site.who)
        crossings = site.crossings
        await site.sync(full=True)

        assert "jane@example.com" not in moved
        assert "jane@example.com" in below
        assert crossings == 1
        assert "jane@example.com" not in site.held(site.who)


async def test_a19_new_rules_hold_for_the_next_page_that_is_read() -> None:
    """A process that lives long masks by the rules as they are, not as they were when it began."""
    async with masked_rig() as site:
        syncer = site.process()
        await site.rig.sync()
        site.rig.later()
        site.masking = Masking(everywhere=EMAIL)
        site.rig.workspace.append_blocks(site.it, [blocks.paragraph("and joe@example.com")])

        await syncer.refresh(frozenset({PageId(site.it)}))

        assert "@example.com" not in site.held(site.it)


async def test_masked_pages_that_did_not_change_are_not_read_again() -> None:
    """A masked title equals the stored one, so that masking costs no request."""
    async with masked_rig() as site:
        site.rig.workspace.add_page("Of a@example.com", parent=site.hr)
        scope = Scope("HR", frozenset({PageId(site.hr)}))
        site.masking = Masking(everywhere=EMAIL, rules=(ScrubRule(scope, PHONE),))
        await site.sync()
        site.rig.later()
        await site.sync()
        site.rig.later()

        report = await site.sync()

        assert (report.listed, report.read) == (5, 0)


def test_a_page_whose_place_is_not_known_is_masked_by_every_rule() -> None:
    """Fails closed: it may lie in any scope."""
    inside = Masking(rules=(ScrubRule(Scope("x", frozenset({PageId("x")})), EMAIL),))

    assert inside.kinds([PageId("a")], is_whole=False) == EMAIL
    assert inside.kinds([PageId("a")], is_whole=True) == frozenset()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Masking(), Masking(everywhere=EMAIL), False),
        (Masking(everywhere=EMAIL | PHONE), Masking(everywhere=PHONE | EMAIL), True),
        (
            Masking(rules=(ScrubRule(Scope("a", None), EMAIL),)),
            Masking(rules=(ScrubRule(Scope("b", None), EMAIL),)),
            True,
        ),
        (
            Masking(rules=(ScrubRule(Scope("a", None), EMAIL),)),
            Masking(rules=(ScrubRule(Scope("a", None, frozenset({PageId("p")})), EMAIL),)),
            False,
        ),
    ],
)
def test_rules_that_mask_the_same_have_one_key(one: Masking, other: Masking, *, same: bool) -> None:
    """Names do not matter, pages and kinds do."""
    assert (one.key == other.key) is same
