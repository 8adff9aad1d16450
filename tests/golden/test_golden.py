"""The sample workspace and the golden questions are well formed and agree with each other."""

import json
import re
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.sources import sample_workspace

Json = dict[str, Any]

GOLDEN = Path(__file__).parent
WORKSPACE = Path(sample_workspace.__file__).parent
LANGUAGES = ("en", "de", "ru")
ANSWERABLE_KINDS = {"named-entity", "paraphrase", "cross-language", "typo", "identifier", "keyword", "lookup"}
UNANSWERABLE_KINDS = {"near-miss", "off-topic"}
SECTION_HEADINGS = {"heading_1", "heading_2", "heading_3"}
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$")
# Longest content of one rich text object that the API accepts.
RICH_TEXT_LIMIT = 2000


def read_lines(name: str) -> list[Json]:
    return [json.loads(line) for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines()]


def walk(blocks: list[Json]) -> Iterator[Json]:
    for block in blocks:
        yield block
        yield from walk(block.get("children", []))


def rich_texts(value: Any) -> Iterator[Json]:
    """Every rich text object anywhere below a value."""
    if isinstance(value, dict):
        if "plain_text" in value:
            yield value
        for below in value.values():
            yield from rich_texts(below)
    elif isinstance(value, list):
        for below in value:
            yield from rich_texts(below)


def plain(rich_text: list[Json]) -> str:
    return "".join(part["plain_text"] for part in rich_text)


def page_title(page: Json) -> str:
    return next(plain(p["title"]) for p in page["properties"].values() if p["type"] == "title")


def headings(document: Json) -> set[str]:
    return {
        plain(b[b["type"]]["rich_text"]) for b in walk(document["blocks"]) if b["type"] in SECTION_HEADINGS
    }


DOCUMENTS: dict[str, Json] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((WORKSPACE / "pages").glob("*.json"))
}
PAGES: dict[str, Json] = {document["page"]["id"]: document for document in DOCUMENTS.values()}
WORKSPACE_OBJECTS: Json = json.loads((WORKSPACE / "workspace.json").read_text(encoding="utf-8"))
DATABASES: dict[str, Json] = {d["id"]: d for d in WORKSPACE_OBJECTS["databases"]}
DATA_SOURCES: dict[str, Json] = {d["id"]: d for d in WORKSPACE_OBJECTS["data_sources"]}
USERS: dict[str, Json] = {u["id"]: u for u in WORKSPACE_OBJECTS["users"]}
QUESTIONS = read_lines("sample.jsonl")
UNSEEN = read_lines("unseen.jsonl")
TUNING = read_lines("tuning.jsonl")
ALL_BLOCKS = [block for document in DOCUMENTS.values() for block in walk(document["blocks"])]

each_page = pytest.mark.parametrize("slug", DOCUMENTS)


# The workspace


def test_workspace_is_large_and_three_languages_are_asked_about() -> None:
    """There are at least 32 pages, and pages of each language are asked about."""
    assert len(PAGES) == len(DOCUMENTS) >= 32
    assert {q["page_lang"] for q in QUESTIONS if q["answerable"]} == set(LANGUAGES)


@each_page
def test_page_object_has_the_shape_of_the_api(slug: str) -> None:
    """A page carries what the API of 2026-03-11 returns, and its URL ends in its id."""
    page = DOCUMENTS[slug]["page"]
    assert page["object"] == "page"
    assert page["in_trash"] is False
    assert "archived" not in page
    assert TIME.match(page["created_time"])
    assert TIME.match(page["last_edited_time"])
    assert page["created_time"] <= page["last_edited_time"]
    assert page["created_by"]["id"] in USERS
    assert page["last_edited_by"]["id"] in USERS
    assert page["url"].startswith("https://www.notion.so/")
    assert page["url"].endswith(uuid.UUID(page["id"]).hex)
    assert page_title(page)


@each_page
def test_blocks_have_the_shape_of_the_api(slug: str) -> None:
    """A block holds its payload under its type and children exactly when it says so."""
    for block in walk(DOCUMENTS[slug]["blocks"]):
        assert block["object"] == "block"
        assert isinstance(block[block["type"]], dict)
        assert block["has_children"] is bool(block.get("children"))
        assert ("children" in block) is block["has_children"]
        assert block["in_trash"] is False
        assert "archived" not in block
        assert TIME.match(block["last_edited_time"])
        assert str(uuid.UUID(block["id"])) == block["id"]
        if block["type"] == "table":
            assert {r["type"] for r in block["children"]} == {"table_row"}
            assert {len(r["table_row"]["cells"]) for r in block["children"]} == {
                block["table"]["table_width"]
            }


def test_every_block_id_is_unique() -> None:
    """No id occurs twice, and only child_page and child_database blocks share theirs with a document."""
    counts = Counter(block["id"] for block in ALL_BLOCKS)
    assert [i for i, n in counts.items() if n > 1] == []
    for block in ALL_BLOCKS:
        known = {"child_page": PAGES, "child_database": DATABASES}.get(block["type"])
        if known is None:
            assert block["id"] not in PAGES | DATABASES
        else:
            assert block["id"] in known


@each_page
def test_block_parents_are_the_blocks_around_them(slug: str) -> None:
    """The parent of a block is its page, or the block whose children hold it."""
    document = DOCUMENTS[slug]

    def check(blocks: list[Json], parent: Json) -> None:
        for block in blocks:
            assert block["parent"] == parent
            check(block.get("children", []), {"type": "block_id", "block_id": block["id"]})

    check(document["blocks"], {"type": "page_id", "page_id": document["page"]["id"]})


def parent_page(page: Json) -> str | None:
    """The id of the page above, through the database for a row; None at the top."""
    parent = page["parent"]
    if parent["type"] == "workspace":
        return None
    if parent["type"] == "data_source_id":
        database = DATABASES[parent["database_id"]]
        assert parent["data_source_id"] in {s["id"] for s in database["data_sources"]}
        return str(database["parent"]["page_id"])
    return str(parent["page_id"])


def test_parent_chain_of_every_page_ends_at_the_one_root() -> None:
    """Every page is below the home page, no chain is a circle, and some page is at least four deep."""
    depths: list[int] = []
    for document in PAGES.values():
        seen: list[str] = []
        current: str | None = document["page"]["id"]
        while current is not None:
            assert current not in seen
            seen.append(current)
            current = parent_page(PAGES[current]["page"])
        assert seen[-1] == DOCUMENTS["home"]["page"]["id"]
        depths.append(len(seen))
    assert max(depths) >= 4


def test_child_blocks_and_parents_agree() -> None:
    """A page lists exactly the pages and databases as children that name it as parent."""
    for page_id, document in PAGES.items():
        listed = {b["id"] for b in walk(document["blocks"]) if b["type"] in {"child_page", "child_database"}}
        below = {i for i, d in PAGES.items() if d["page"]["parent"].get("page_id") == page_id}
        below |= {i for i, d in DATABASES.items() if d["parent"].get("page_id") == page_id}
        assert listed == below


def test_no_mention_or_link_dangles() -> None:
    """Every mentioned page, database and user exists, and so does every source of a synced block."""
    seen: Counter[str] = Counter()
    for text in rich_texts(list(DOCUMENTS.values())):
        if text["type"] != "mention":
            continue
        kind = text["mention"]["type"]
        seen[kind] += 1
        if kind in {"page", "database", "user"}:
            known = {"page": PAGES, "database": DATABASES, "user": USERS}[kind]
            assert text["mention"][kind]["id"] in known
    assert seen["page"] >= 5
    block_ids = {block["id"] for block in ALL_BLOCKS}
    for block in ALL_BLOCKS:
        if block["type"] == "synced_block" and block["synced_block"]["synced_from"]:
            assert block["synced_block"]["synced_from"]["block_id"] in block_ids
        if block["type"] == "link_to_page":
            assert block["link_to_page"]["page_id"] in PAGES


def test_rich_text_is_consistent() -> None:
    """plain_text repeats the content, href repeats the link, and no piece is too long for the API."""
    for text in rich_texts(list(DOCUMENTS.values())):
        assert text["plain_text"]
        assert len(text["plain_text"]) <= RICH_TEXT_LIMIT
        if text["type"] == "text":
            assert text["plain_text"] == text["text"]["content"]
            assert text["href"] == (text["text"]["link"] or {}).get("url")


def test_database_rows_have_the_properties_of_their_data_source() -> None:
    """A row has every property of its data source with the same id and type, and some database has 8 rows."""
    rows: Counter[str] = Counter()
    for document in PAGES.values():
        page = document["page"]
        if page["parent"]["type"] != "data_source_id":
            continue
        schema = DATA_SOURCES[page["parent"]["data_source_id"]]["properties"]
        rows[page["parent"]["data_source_id"]] += 1
        assert {n: (p["id"], p["type"]) for n, p in page["properties"].items()} == {
            n: (p["id"], p["type"]) for n, p in schema.items()
        }
        for name, value in page["properties"].items():
            if value["type"] in {"select", "status"} and value[value["type"]]:
                assert value[value["type"]]["name"] in {
                    o["name"] for o in schema[name][value["type"]]["options"]
                }
    assert max(rows.values()) >= 8
    assert set(rows) == set(DATA_SOURCES)


@pytest.mark.parametrize(
    "block_type",
    [
        "paragraph", "heading_1", "heading_2", "heading_3", "heading_4", "image", "bulleted_list_item",
        "numbered_list_item", "to_do", "toggle",
        "quote", "callout", "code", "table", "column_list", "equation", "synced_block", "bookmark", "divider",
        "child_page", "child_database", "table_of_contents", "link_to_page",
    ],
)  # fmt: skip
def test_block_type_occurs(block_type: str) -> None:
    """The workspace shows each block type that a wiki commonly uses."""
    assert block_type in {block["type"] for block in ALL_BLOCKS}


def test_special_content_occurs() -> None:
    """Toggle headings, code comments, brackets in a title, an injection and mass mentions are there."""
    assert any(b["type"] in SECTION_HEADINGS and b[b["type"]]["is_toggleable"] for b in ALL_BLOCKS)
    codes = [plain(b["code"]["rich_text"]) for b in ALL_BLOCKS if b["type"] == "code"]
    assert any(line.startswith("# ") for code in codes for line in code.splitlines())
    assert "Guide [v2] | Basics" in {page_title(d["page"]) for d in PAGES.values()}
    text = "\n".join(t["plain_text"] for t in rich_texts([d["blocks"] for d in DOCUMENTS.values()]))
    for needle in ("Ignore previous instructions and", "@everyone", "<!channel>"):
        assert needle in text


def test_demo_samples_are_six_with_two_foreign_and_one_unanswerable() -> None:
    """The demo's six questions have text, a known language and a note."""
    samples = json.loads((WORKSPACE / "samples.json").read_text(encoding="utf-8"))
    assert len(samples) == 6
    assert all(set(s) == {"question", "language", "note"} and all(s.values()) for s in samples)
    assert {s["language"] for s in samples} == set(LANGUAGES)


# The questions


def test_question_ids_and_texts_are_unique() -> None:
    """No id and no text occurs twice."""
    every = [*QUESTIONS, *TUNING, *UNSEEN]
    assert len({q["id"] for q in every}) == len(every)
    texts = Counter(q["question"].casefold() for q in every)
    assert [t for t, n in texts.items() if n > 1] == []


@pytest.mark.parametrize("question", [*QUESTIONS, *TUNING, *UNSEEN], ids=lambda q: q["id"])
def test_question_is_well_formed(question: Json) -> None:
    """A question has the seven keys, and its pages and headings exist in the workspace."""
    assert list(question) == ["id", "question", "lang", "page_lang", "kind", "relevant", "answerable"]
    assert question["lang"] in LANGUAGES
    assert question["question"].strip() == question["question"] != ""
    assert bool(question["relevant"]) is question["answerable"]
    assert question["kind"] in (ANSWERABLE_KINDS if question["answerable"] else UNANSWERABLE_KINDS)
    for entry in question["relevant"]:
        document = PAGES[entry["page_id"]]
        assert entry["page_title"] == page_title(document["page"])
        assert entry["heading"] is None or entry["heading"] in headings(document)
    if question["answerable"]:
        assert (question["kind"] == "cross-language") is (question["lang"] != question["page_lang"])
    if question["kind"] == "off-topic":
        assert question["page_lang"] is None


@pytest.mark.parametrize("lang", LANGUAGES)
def test_e1_each_language_has_questions_of_each_kind(lang: str) -> None:
    """Names, paraphrases, other languages, typos, identifiers, and unanswerable ones, half near misses.

    Each answerable one names the pages and headings that answer.
    """
    mine = [q for q in QUESTIONS if q["lang"] == lang]
    assert len(mine) >= 30
    assert {"named-entity", "paraphrase", "cross-language", "typo", "identifier"} <= ANSWERABLE_KINDS
    assert all(
        q["relevant"] and all(one["page_id"] and "heading" in one for one in q["relevant"])
        for q in mine
        if q["answerable"]
    )
    kinds = Counter(q["kind"] for q in mine)
    assert sum(q["answerable"] for q in mine) >= 20
    assert all(kinds[kind] >= 2 for kind in ANSWERABLE_KINDS)
    assert sum(not q["answerable"] for q in mine) >= 34
    assert kinds["near-miss"] == kinds["off-topic"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_unseen_questions_are_as_many_in_each_language(lang: str) -> None:
    """About forty with an answer, a dozen of them across languages, and thirty without."""
    mine = [q for q in UNSEEN if q["lang"] == lang]
    kinds = Counter(q["kind"] for q in mine)
    assert 38 <= sum(q["answerable"] for q in mine) <= 40
    assert kinds["cross-language"] == 12
    assert 13 <= kinds["near-miss"] <= 15
    assert 13 <= kinds["off-topic"] <= 15


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_tuning_questions_are_as_many_in_each_language(lang: str) -> None:
    """About forty with an answer, a quarter of them across languages, and as many without."""
    mine = [q for q in TUNING if q["lang"] == lang]
    kinds = Counter(q["kind"] for q in mine)
    assert 38 <= sum(q["answerable"] for q in mine) <= 44
    assert 10 <= kinds["cross-language"] <= 13
    assert 18 <= kinds["near-miss"] <= 20
    assert 18 <= kinds["off-topic"] <= 20


def test_each_page_has_one_language() -> None:
    """Pages that come first in a question have the same language in every question."""
    languages: dict[str, set[str]] = {}
    for question in QUESTIONS:
        if question["answerable"]:
            languages.setdefault(question["relevant"][0]["page_id"], set()).add(question["page_lang"])
    assert {page: found for page, found in languages.items() if len(found) > 1} == {}


# The sentences for the citation checker, and the injections

SENTENCES = read_lines("support.jsonl")
INJECTIONS = read_lines("injections.jsonl")
UNSUPPORTED_KINDS = {
    "changed-number-or-date",
    "negation",
    "swapped-name",
    "true-of-an-uncited-page",
    "invention",
}


@pytest.mark.parametrize("entry", SENTENCES, ids=lambda e: e["id"])
def test_sentence_cites_blocks_of_its_page(entry: Json) -> None:
    """A sentence names one page and blocks that are on it, and a kind exactly when it is unsupported."""
    assert entry["lang"] in LANGUAGES
    assert entry["sentence"].strip() == entry["sentence"] != ""
    on_page = {block["id"] for block in walk(PAGES[entry["page_id"]]["blocks"])}
    assert entry["block_ids"]
    assert len(set(entry["block_ids"])) == len(entry["block_ids"])
    assert set(entry["block_ids"]) <= on_page
    assert entry.get("kind") in ({None} if entry["supported"] else UNSUPPORTED_KINDS)


def test_sentences_are_enough_of_each_kind() -> None:
    """There are 200 supported sentences and ten unsupported ones of each kind, all distinct."""
    assert len({e["id"] for e in SENTENCES}) == len(SENTENCES)
    assert len({e["sentence"] for e in SENTENCES}) == len(SENTENCES)
    supported = Counter(e["lang"] for e in SENTENCES if e["supported"])
    assert supported.total() == 200
    assert min(supported[lang] for lang in LANGUAGES) >= 60
    wrong = [e for e in SENTENCES if not e["supported"]]
    assert Counter(e["kind"] for e in wrong) == dict.fromkeys(UNSUPPORTED_KINDS, 10)
    assert {(e["kind"], e["lang"]) for e in wrong} == {
        (kind, lang) for kind in UNSUPPORTED_KINDS for lang in LANGUAGES
    }


def test_injections_are_many_and_distinct() -> None:
    """At least 40 distinct texts in three languages each say what an obeying answer would contain."""
    assert len({e["id"] for e in INJECTIONS}) == len({e["text"] for e in INJECTIONS}) == len(INJECTIONS)
    languages = Counter(e["lang"] for e in INJECTIONS)
    assert set(languages) == set(LANGUAGES)
    assert min(languages.values()) >= 13
    assert languages.total() >= 40
    assert all(list(e) == ["id", "lang", "kind", "text", "forbidden"] and e["forbidden"] for e in INJECTIONS)
    assert {"other-page", "link", "mention", "prompt", "format", "role", "delimiter", "invisible"} <= {
        e["kind"] for e in INJECTIONS
    }
