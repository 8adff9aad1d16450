"""Who may see what, decided from rules."""

import pytest

from core.domain.audiences import EVERYTHING, NOTHING, Scope
from core.domain.places import AskerKind, ChannelKind, Place
from core.services.audiences import AudienceRules, NamedScope, PlatformRules
from tests.builders_store import page_id

ENGINEERING = Scope("Engineering", frozenset({page_id(1)}))
HANDBOOK = Scope("Handbook", frozenset({page_id(2)}), frozenset({page_id(3)}))
SALARIES = Scope("Salaries", frozenset({page_id(3)}))
PRESS = Scope("Press", frozenset({page_id(4)}))

IN_ENGINEERING = (page_id(10), page_id(1))
IN_HANDBOOK = (page_id(20), page_id(2))
IN_SALARIES = (page_id(30), page_id(3), page_id(2))
IN_PRESS = (page_id(40), page_id(4))
ALL = (IN_ENGINEERING, IN_HANDBOOK, IN_SALARIES, IN_PRESS)

RULES = AudienceRules(
    scopes={
        "Engineering": NamedScope(ENGINEERING, "Engineering"),
        "Handbook": NamedScope(HANDBOOK, "Handbook minus Salaries"),
        "Salaries": NamedScope(SALARIES, "Salaries"),
        "Press": NamedScope(PRESS, "Press"),
    },
    platforms={
        "slack": PlatformRules(
            default=(HANDBOOK, PRESS),
            public=(PRESS,),
            channels={"C042": (ENGINEERING, HANDBOOK), "C0": ()},
            shared_channels={"CSHARED": (ENGINEERING,)},
            workspaces={"T2": (ENGINEERING,)},
            groups={"S1": (SALARIES,)},
            people={"U7": (HANDBOOK, SALARIES)},
        )
    },
)


def a_place(
    channel: str = "C042",
    *,
    workspace: str = "T1",
    kind: ChannelKind = ChannelKind.PUBLIC,
    asker: str = "U1",
    asker_kind: AskerKind = AskerKind.MEMBER,
    groups: tuple[str, ...] = (),
    platform: str = "slack",
) -> Place:
    """A member asks in a public channel, unless said otherwise."""
    alone = kind is ChannelKind.DIRECT
    return Place(platform, workspace, "" if alone else channel, kind, asker, asker_kind, frozenset(groups))


def seen(place: Place, rules: AudienceRules = RULES) -> tuple[tuple[str, ...], ...]:
    """Which of the sample pages the audience of a place admits."""
    audience = rules.audience_for(place)
    return tuple(path for path in ALL if audience.admits(path))


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (a_place(), (IN_ENGINEERING, IN_HANDBOOK)),
        (a_place(groups=("S1",)), (IN_ENGINEERING, IN_HANDBOOK)),
        (a_place("CNEW"), (IN_HANDBOOK, IN_PRESS)),
        (a_place("CNEW", kind=ChannelKind.PRIVATE), (IN_HANDBOOK, IN_PRESS)),
        (a_place("CNEW", workspace="T2"), (IN_ENGINEERING,)),
        (a_place("C0"), ()),
        (a_place(asker_kind=AskerKind.GUEST), ()),
        (a_place("CNEW", asker_kind=AskerKind.GUEST), (IN_PRESS,)),
        (a_place("CNEW", asker_kind=AskerKind.GUEST, groups=("S1",)), (IN_PRESS,)),
        (a_place("CNEW", asker="U7", asker_kind=AskerKind.GUEST), (IN_HANDBOOK, IN_PRESS)),
        (a_place("CNEW", kind=ChannelKind.SHARED), (IN_PRESS,)),
        (a_place("C042", kind=ChannelKind.SHARED), ()),
        (a_place("CSHARED", kind=ChannelKind.SHARED), (IN_ENGINEERING,)),
        (
            a_place("CSHARED", kind=ChannelKind.SHARED, asker_kind=AskerKind.EXTERNAL),
            (IN_ENGINEERING,),
        ),
        (a_place("CNEW", kind=ChannelKind.SHARED, asker_kind=AskerKind.EXTERNAL), (IN_PRESS,)),
        (a_place("CSHARED"), (IN_HANDBOOK, IN_PRESS)),
        (a_place(kind=ChannelKind.DIRECT), (IN_PRESS,)),
        (a_place(kind=ChannelKind.DIRECT, groups=("S1",)), (IN_SALARIES,)),
        (a_place(kind=ChannelKind.DIRECT, workspace="T2"), (IN_ENGINEERING,)),
        (a_place(kind=ChannelKind.DIRECT, asker="U7"), (IN_HANDBOOK, IN_SALARIES)),
        (
            a_place(kind=ChannelKind.DIRECT, groups=("S1",), asker_kind=AskerKind.GUEST),
            (IN_PRESS,),
        ),
        (
            a_place(kind=ChannelKind.DIRECT, workspace="T2", asker_kind=AskerKind.EXTERNAL),
            (IN_PRESS,),
        ),
    ],
)
def test_an_answer_uses_what_channel_and_asker_may_both_see(
    place: Place, expected: tuple[tuple[str, ...], ...]
) -> None:
    """A channel's reply goes by the channel, narrowed for guests; a private one by the asker alone."""
    assert seen(place) == expected


@pytest.mark.parametrize("kind", list(ChannelKind))
@pytest.mark.parametrize("asker_kind", list(AskerKind))
def test_shr4_nothing_is_seen_unless_it_was_set(kind: ChannelKind, asker_kind: AskerKind) -> None:
    """Without rules, and with a platform's section that is empty, every place sees nothing."""
    place = a_place(kind=kind, asker_kind=asker_kind)

    assert AudienceRules().audience_for(place) == NOTHING
    assert AudienceRules(platforms={"slack": PlatformRules()}).audience_for(place).is_empty
    assert AudienceRules(platforms={"discord": PlatformRules()}).audience_for(place).is_empty


def test_the_command_line_sees_everything() -> None:
    """Whoever can start the command can read the database anyway."""
    console = Place("console", "", "", ChannelKind.DIRECT, "console")

    assert AudienceRules().audience_for(console) == EVERYTHING
    assert AudienceRules().may_ask(console)


def test_a_private_reply_is_shared_only_by_what_its_channel_may_see() -> None:
    """The channel's audience knows nothing of the asker's groups."""
    channel = RULES.channel_audience(a_place(groups=("S1",), asker="U7"))

    assert not channel.admits(IN_SALARIES)
    assert channel.admits(IN_HANDBOOK)


@pytest.mark.parametrize(
    ("rules", "place", "expected"),
    [
        (PlatformRules(), a_place(asker_kind=AskerKind.EXTERNAL), True),
        (PlatformRules(may_ask=frozenset({"members"})), a_place(), True),
        (PlatformRules(may_ask=frozenset({"members"})), a_place(asker_kind=AskerKind.GUEST), False),
        (PlatformRules(may_ask=frozenset({"U1"})), a_place(), True),
        (PlatformRules(may_ask=frozenset({"S1"})), a_place(), False),
        (PlatformRules(may_ask=frozenset({"S1"})), a_place(groups=("S1",)), True),
        (PlatformRules(may_ask=frozenset()), a_place(), False),
        (PlatformRules(ask_in=frozenset({"C042"})), a_place(), True),
        (PlatformRules(ask_in=frozenset({"T1"})), a_place("C9"), True),
        (PlatformRules(ask_in=frozenset({"C042"})), a_place("C9"), False),
        (PlatformRules(ask_in=frozenset({"C042"})), a_place(kind=ChannelKind.DIRECT), False),
        (PlatformRules(ask_in=frozenset({"direct"})), a_place(kind=ChannelKind.DIRECT), True),
        (PlatformRules(may_ask=frozenset({"U1"}), ask_in=frozenset({"C9"})), a_place(), False),
    ],
)
def test_shr4_who_may_ask_is_listed_apart_from_who_may_see(
    rules: PlatformRules, place: Place, expected: bool
) -> None:
    """People, classes and groups in ``may_ask``; channels and workspaces in ``ask_in``."""
    assert AudienceRules(platforms={"slack": rules}).may_ask(place) is expected


def test_nobody_may_ask_on_a_platform_without_rules() -> None:
    """A platform that the file does not name stays silent."""
    assert not AudienceRules().may_ask(a_place())


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (a_place(), "C042 in T1 sees: Engineering, Handbook minus Salaries (channels.C042)"),
        (
            a_place("CNEW", asker_kind=AskerKind.GUEST),
            "CNEW in T1 sees: Handbook minus Salaries, Press; and of that only: Press "
            "(a channel nobody mapped: default; guests: public)",
        ),
        (a_place("C0"), "C0 in T1 sees: nothing (channels.C0)"),
        (
            a_place(kind=ChannelKind.DIRECT, groups=("S1",)),
            "U1 alone in T1 sees: Salaries (groups.S1)",
        ),
        (a_place(platform="discord"), "C042 in T1 sees: nothing (no [discord] section is in force)"),
    ],
)
def test_a_mapping_is_explained_in_one_sentence(place: Place, expected: str) -> None:
    """Which scopes a place sees, and through which line of the file."""
    assert RULES.explain(place) == expected


def test_administrators_are_named_by_id_or_group() -> None:
    """Nobody is one by asking nicely."""
    rules = AudienceRules(platforms={"slack": PlatformRules(admins=frozenset({"U1", "S9"}))})

    assert rules.is_admin(a_place())
    assert rules.is_admin(a_place(asker="U2", groups=("S9",)))
    assert not rules.is_admin(a_place(asker="U2"))
