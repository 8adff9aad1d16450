"""The strict reader of ``footnote.toml``."""

import pytest

from bot.scopes.reading import WrongFileError, read_footnote_file
from core.domain.places import ChannelKind, Place
from core.services.scrubbing import SensitiveKind

GOOD = """
[scopes.Engineering]
include = ["https://www.notion.so/team/Engineering-11111111111111111111111111111111"]

[scopes.Handbook]
include = ["22222222-2222-2222-2222-222222222222"]
exclude = ["Salaries", "44444444444444444444444444444444"]
scrub = ["phone"]

[scopes.Salaries]
include = ["33333333333333333333333333333333"]

[scopes.all]
include = "everything"

[scrub]
pages = ["iban", "card"]
questions = "all"

[slack]
default = ["Handbook"]
public = []
may_ask = ["members", "U042"]
ask_in = ["C042", "direct"]
admins = ["U042"]

[slack.channels]
C042 = ["Engineering", "Handbook"]

[slack.groups]
S01 = ["Salaries"]

[discord.guilds]
123456789012345678 = ["all"]

[discord.roles]
223456789012345678 = ["Salaries"]
"""


def test_a_file_says_who_sees_what() -> None:
    """Names of scopes stand for pages, and a scope may exclude another one."""
    read = read_footnote_file(GOOD, name="footnote.toml")

    handbook = read.rules.scopes["Handbook"]
    assert handbook.label == "Handbook minus Salaries and 1 page"
    assert handbook.scope.exclude == {
        "33333333-3333-3333-3333-333333333333",
        "44444444-4444-4444-4444-444444444444",
    }
    place = Place("slack", "T1", "C042", ChannelKind.PUBLIC, "U1")
    assert read.rules.explain(place) == (
        "C042 in T1 sees: Engineering, Handbook minus Salaries and 1 page (channels.C042)"
    )
    guild = Place("discord", "123456789012345678", "5", ChannelKind.PUBLIC, "6")
    assert read.rules.audience_for(guild).admits(("anything",))  # type: ignore[arg-type]  # any page
    assert read.masking.everywhere == {SensitiveKind.IBAN, SensitiveKind.CARD}
    assert read.scrub_questions == frozenset(SensitiveKind)
    assert [(rule.scope.name, rule.kinds) for rule in read.masking.rules] == [
        ("Handbook", frozenset({SensitiveKind.PHONE}))
    ]


def test_an_empty_file_allows_nothing() -> None:
    """Every section may be left out."""
    read = read_footnote_file("", name="footnote.toml")

    assert not read.rules.may_ask(Place("slack", "T1", "C1", ChannelKind.PUBLIC, "U1"))


SCOPE = '[scopes.Handbook]\ninclude = ["22222222222222222222222222222222"]\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[slack\n", "f.toml: this is no TOML: "),
        ('[scope.x]\ninclude = "everything"', "f.toml:1: scope is unknown (did you mean 'scopes'?)"),
        (
            '[scopes.x]\nincludes = "everything"',
            "f.toml:2: scopes.x.includes is unknown (did you mean 'include'?); expected one of: ",
        ),
        ("[scopes.x]\nexclude = []", "f.toml:1: scopes.x has no include: expected page ids or links"),
        ('[scopes.x]\ninclude = "all"', "f.toml:2: scopes.x.include is a single text: expected a list"),
        ("[scopes.x]\ninclude = []", "f.toml:2: scopes.x.include is empty: expected page ids"),
        ("[scopes.x]\ninclude = [1]", "f.toml:2: scopes.x.include is a list with something else than texts"),
        (
            '[scopes.x]\ninclude = ["Handbook"]',
            "f.toml:2: scopes.x.include 'Handbook' is not a Notion page id: expected 32 hexadecimal digits",
        ),
        (
            f'{SCOPE}exclude = ["Salaris"]\n[scopes.Salaries]\ninclude = ["{"3" * 32}"]',
            "(did you mean 'Salaries'?)",
        ),
        (f'{SCOPE}exclude = ["Handbook"]', "f.toml:3: scopes.Handbook.exclude excludes 'Handbook'"),
        (f'{SCOPE}[slack]\ndefault = ["handbok"]', "slack.default 'handbok' is no scope (did you mean 'Ha"),
        (f'{SCOPE}[slack]\ndefault = "Handbook"', "f.toml:4: slack.default is a single text: expected a li"),
        (
            f'{SCOPE}[slack.channels]\n"#general" = ["Handbook"]',
            "f.toml:4: slack.channels.#general is not an id: expected a Slack channel id such as C042",
        ),
        (f'{SCOPE}[discord.roles]\nadmin = ["Handbook"]', "discord.roles.admin is not an id: expected a Dis"),
        ('[slack]\nmay_ask = ["everyone"]', "f.toml:2: slack.may_ask 'everyone' is not understood"),
        ("[slack]\nchanels = {}", "f.toml:2: slack.chanels is unknown (did you mean 'channels'?)"),
        ('[slack]\ndigest = "#wiki"', "f.toml:2: slack.digest is no channel: expected a Slack channel id"),
        ("slack = 3", "f.toml:1: slack is a number: expected a table, [slack]"),
        (
            '[scrub]\npages = ["mail"]',
            "f.toml:2: scrub.pages 'mail' cannot be masked (did you mean 'email'",
        ),
        ("[discrod]", "f.toml:1: discrod is unknown (did you mean 'discord'?)"),
    ],
)
def test_a_wrong_file_is_refused_with_one_line_that_says_where_and_what(text: str, expected: str) -> None:
    """File, line, key, what is wrong, what is expected; never half of the rules."""
    with pytest.raises(WrongFileError) as caught:
        read_footnote_file(text, name="f.toml")

    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
