"""Topic files in every format, whole and damaged; texts that are corrected are versions."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from store.collection import Collection
from store.errors import ArgumentError, FormatError, PoolerError
from store.formats import TopicFormat
from store.formats.topics import read_topics
from store.records import Action, Decision, JudgeKind, Topic
from tests.helpers.run import Cli
from tests.helpers.world import make_pool, stored_rows

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"

TREC = """
<top>

<num> Number: 401
<title> foreign minorities, Germany

<desc> Description:
What differences impede the integration
of foreign minorities?

<narr> Narrative:
The causes are named.

</top>
<top>
<head> Tipster Topic Description
<num> Number:  051
<title> Topic:  Airbus Subsidies
<con> Concept(s):
1. Airbus Industrie
</top>
"""
TREC_TOPICS = [
    Topic(
        "401",
        "foreign minorities, Germany",
        "What differences impede the integration of foreign minorities?",
        "The causes are named.",
    ),
    Topic("051", "Airbus Subsidies", "", "Concept(s): 1. Airbus Industrie"),
]

COVID = """<?xml version="1.0" encoding="UTF-8"?>
<topics task="COVIDSearch 2020" batch="1">
  <topic number="1">
    <query>coronavirus origin</query>
    <question>what is the origin of COVID-19</question>
    <narrative>seeking the virus's origin,
      including &lt;animal&gt; sources</narrative>
  </topic>
  <topic number="001"><title>東京　タワー</title><description>d</description></topic>
</topics>
"""
COVID_TOPICS = [
    Topic(
        "1",
        "coronavirus origin",
        "what is the origin of COVID-19",
        "seeking the virus's origin, including <animal> sources",
    ),
    Topic("001", "東京　タワー", "d"),
]

TSV = '001\t東京タワーの高さは？\n1\ttides\twhy they rise\nNA\ta\tb\tc\n"x\tq\n2681119#1\tr\n'
TSV_TOPICS = [
    Topic("001", "東京タワーの高さは？"),
    Topic("1", "tides", "why they rise"),
    Topic("NA", "a", "b", "c"),
    Topic('"x', "q"),
    Topic("2681119#1", "r"),
]

JSONL = """{"topic": "001", "title": "t", "description": "d", "narrative": "n", "weight": [1]}

{"query_id": 7, "query": "東京", "question": "どこ", "narrative": null}
{"_id": "NA", "text": "x"}
"""
JSONL_TOPICS = [Topic("001", "t", "d", "n"), Topic("7", "東京", "どこ"), Topic("NA", "x")]

CSV = 'topic,title,narrative\n001,"red, or blue",\n"1",tides,"why they\nrise ""high"""\nNA,a,c\n'
CSV_TOPICS = [
    Topic("001", "red, or blue"),
    Topic("1", "tides", "", 'why they\nrise "high"'),
    Topic("NA", "a", "", "c"),
]

EVERY_FORMAT: list[tuple[TopicFormat, str, list[Topic]]] = [
    ("trec", TREC, TREC_TOPICS),
    ("trec", COVID, COVID_TOPICS),
    ("tsv", TSV, TSV_TOPICS),
    ("csv", CSV, CSV_TOPICS),
    ("jsonl", JSONL, JSONL_TOPICS),
]
formats = pytest.mark.parametrize(
    ("form", "text", "topics"), EVERY_FORMAT, ids=["sgml", "xml", "tsv", "csv", "jsonl"]
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a place for one topic file."""
    return tmp_path / "topics"


def faults_of(file: Path, text: str | bytes, form: TopicFormat = "auto") -> FormatError:
    """Read a damaged file and return its error."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError) as caught:
        read_topics(str(file), format=form)
    return caught.value


def codes(error: FormatError) -> list[tuple[int | None, str]]:
    """Return line and code of every fault."""
    return [(fault.line, fault.code) for fault in error.faults]


@formats
def test_every_format_named_or_recognised_gives_its_topics(
    file: Path, form: TopicFormat, text: str, topics: list[Topic]
) -> None:
    """A format is read the same whether it is named or found by its first line."""
    file.write_text(text, "utf-8")
    assert read_topics(str(file), format=form) == topics
    assert read_topics(str(file)) == topics


@formats
def test_byte_order_mark_crlf_and_gzip_change_nothing(
    file: Path, form: TopicFormat, text: str, topics: list[Topic]
) -> None:
    """What an editor or a compressor does to a file does not reach its topics."""
    dressed = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    file.write_bytes(dressed)
    assert read_topics(str(file)) == topics
    file.write_bytes(gzip.compress(dressed))
    assert read_topics(str(file)) == topics


@formats
def test_standard_input_is_a_file(
    monkeypatch: pytest.MonkeyPatch, form: TopicFormat, text: str, topics: list[Topic]
) -> None:
    """`-` reads standard input, also in the formats that must look ahead."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert read_topics("-") == topics


@formats
def test_truncated_gzip_is_a_fault_and_nothing_else_is_said(
    file: Path, form: TopicFormat, text: str, topics: list[Topic]
) -> None:
    """Half a file is never read as a whole one."""
    error = faults_of(file, gzip.compress(text.encode())[:-12], form)
    assert [fault.code for fault in error.faults] == ["gzip"]
    assert "truncated" in str(error)


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", "topic\ttitle\n", "<topics></topics>"])
def test_file_without_topics_is_a_fault(file: Path, text: str) -> None:
    """An empty file is told, not read as no topics."""
    error = faults_of(file, text)
    assert codes(error) == [(None, "empty")]
    what = "`<top>`, `<topic>` or `<query>` around each" if "<" in text else "at least one"
    assert str(error) == f"{file}: expected {what} topic, got none"


def test_missing_file_and_unknown_format_are_told(tmp_path: Path) -> None:
    """What is not there is said in one line."""
    with pytest.raises(PoolerError, match="none: no such file"):
        read_topics(str(tmp_path / "none"))
    with pytest.raises(ArgumentError, match="`format` must be one of auto, trec, tsv, csv"):
        read_topics("topics", format="xml")  # type: ignore[arg-type]


@formats
def test_bad_and_repeated_ids_are_faults_with_both_lines(
    file: Path, form: TopicFormat, text: str, topics: list[Topic]
) -> None:
    """All faults of a file come at once, each with its line, in every format."""
    ids = ["1", "#2", "a b", "\u202e3", "1"]
    is_xml = text is COVID
    line = {
        "trec": '<topic number="{}"><query>t</query></topic>\n' if is_xml else "<top><num>{}<title>t</top>\n",
        "tsv": "{}\tt\n",
        "csv": "{},t\n",
        "jsonl": '{{"id": "{}", "query": "t"}}\n',
    }[form]
    body = "".join(line.format(topic) for topic in ids)
    head = "id,query\n" if form == "csv" else ""
    error = faults_of(file, f"<topics>{body}</topics>" if is_xml else head + body, form)
    expected = [(2, "id"), (3, "id"), (4, "id"), (5, "duplicate")]
    assert codes(error) == [(line + len(head.splitlines()), code) for line, code in expected]
    assert "does not begin with `#`" in error.faults[0].message
    assert "without blanks" in error.faults[1].message
    assert "without control characters" in error.faults[2].message
    first = 2 if head else 1
    assert error.faults[3].message == f"expected each topic once, got `1`, which line {first} has"


@formats
def test_topic_with_nothing_to_read_is_a_fault(
    file: Path, form: TopicFormat, text: str, topics: list[Topic]
) -> None:
    """A judge is never shown an empty topic."""
    empty = {
        "trec": "<top>\n<num> Number: 7\n<title> </top>",
        "tsv": "6\tt\n7\t",
        "csv": "id;query\n7; ",
        "jsonl": '{"id": 6, "text": "t"}\n{"id": 7, "title": null, "text": ""}',
    }[form]
    if text is COVID:
        empty = '<topics>\n<topic number="7"><query> </query></topic></topics>'
    error = faults_of(file, empty, form)
    assert codes(error) == [(2, "missing")]
    assert "a title, description or narrative of topic `7`, got none" in str(error)


def test_invalid_utf8_is_a_fault_of_its_line_only(file: Path) -> None:
    """A line that cannot be decoded makes no further fault, whatever stood in it."""
    assert codes(faults_of(file, b"1\tt\n2\t\xff\n3\tt\n")) == [(2, "utf8")]
    sgml = b"<top>\n<num> \xff1\n<title> t\n</top>\n<top>\n<title> t\n</top>\n"
    assert codes(faults_of(file, sgml)) == [(2, "utf8")]
    assert codes(faults_of(file, b"<topics>\n<topic number='1'>\xe9\n</topics>")) == [(2, "utf8")]
    assert codes(faults_of(file, b'{"id": "\xff"}\n{"id": 1, "text": "x"}')) == [(1, "utf8")]


# TREC SGML


def test_sgml_closing_tags_may_be_written_or_left_out(file: Path) -> None:
    """Closed, unclosed and upper-case tags, on one line or on many, give one topic."""
    closed = "<top><num>Number: 5</num><title>a b</title><desc>d</desc><narr>n</narr></top>"
    unclosed = "<top>\n<num> Number: 5\n<title>\na\nb\n<desc> Description:\nd\n<narr>\nn\n"
    shouted = "<TOP>\n<NUM>5\n<TITLE>Topic: a\tb\n<DESC>description: d\n<NARR>Narrative: n</TOP>"
    for text in (closed, unclosed, shouted):
        file.write_text(text)
        assert read_topics(str(file)) == [Topic("5", "a b", "d", "n")]


def test_sgml_next_top_closes_the_one_before(file: Path) -> None:
    """A forgotten `</top>` merges no two topics."""
    file.write_text("<top>\n<num>1\n<title>a\n<top>\n<num>2\n<title>b\n")
    assert read_topics(str(file)) == [Topic("1", "a"), Topic("2", "b")]


def test_sgml_what_is_no_tag_is_text(file: Path) -> None:
    """Nothing that is no part of a topic is cut out of one; basic entities are resolved."""
    file.write_text("<top><num>1<title>AT&T &amp; <b>x</b> &#26481; i < j　k &nbsp; <stdio.h> a</top>")
    assert read_topics(str(file)) == [Topic("1", "AT&T & x 東 i < j　k &nbsp; <stdio.h> a")]


def test_sgml_lines_of_wrapped_fields_are_right(file: Path) -> None:
    """A fault of an id names the line of its tag, not of its record."""
    error = faults_of(file, "<top>\n\n<title> a\nb\n\n<num> Number: 3 4\n</top>\n")
    assert codes(error) == [(6, "id")]


@pytest.mark.parametrize(
    ("text", "expected", "message"),
    [
        ("<top>\n<title> t\n</top>", (1, "missing"), "expected an id in `topic`, `number`, `num`"),
        ("<top>\n<num>\n<title> t\n</top>", (2, "id"), "expected an id, got nothing"),
        ("<top>\nhello\n<num>1\n<title>t", (1, "markup"), "expected a tag before 'hello', got none"),
        ("<top><num>1<title>t\n<title>u</top>", (2, "markup"), "expected `title` once in a topic"),
        ("<top><num>1<title>t</title>u</top>", (1, "markup"), "expected a tag before 'u', got none"),
        ("<top><num>1<title>t</top>\nlost", (2, "markup"), "expected `<top>`, got 'lost'"),
    ],
)
def test_sgml_faults(file: Path, text: str, expected: tuple[int, str], message: str) -> None:
    """Text that belongs to no field, and fields that are missing or double, are faults."""
    error = faults_of(file, text)
    assert codes(error) == [expected]
    assert message in str(error)


# XML


def test_xml_markup_inside_a_field_keeps_words_apart(file: Path) -> None:
    """Paragraphs are separated by a blank, a bold word is not."""
    file.write_text(
        "<t><topic number='1'><query>a<b>b</b></query><other>z</other>"
        "<narrative><p>one</p><p>two</p></narrative></topic></t>"
    )
    assert read_topics(str(file)) == [Topic("1", "ab", "", "one two\nother: z")]


@pytest.mark.parametrize(
    ("text", "expected", "message"),
    [
        ("<topics>\n  <a>& b</a></topics>", (None, "empty"), "expected `<top>`, `<topic>` or `<query>`"),
        ("<topic id='1'>q</topic>\n<topic id='2'>\n<query>q", (2, "markup"), "expected `</topic>`, got"),
        ("<topics>\n<topic number='1'><query>q</query></topic>\n", (2, "markup"), "expected `</topics>`"),
        ("<topics>\n<topic><query>q</query></topic></topics>", (2, "missing"), "expected an id"),
        ("<topic id='1'>\n<title>t</title><desc>a <desc>b</desc></topic>", (2, "markup"), "`</desc>`"),
        (
            "\n<topics><topic number='1'>\n<query>q</query>\n<query>r</query></topic></topics>",
            (4, "markup"),
            "expected `query` once in a topic, got it again",
        ),
    ],
)
def test_xml_faults(file: Path, text: str, expected: tuple[int | None, str], message: str) -> None:
    """What would lose a part of a topic, or mix two, is told with its line."""
    error = faults_of(file, text)
    assert codes(error) == [expected]
    assert message in str(error)


# TSV


def test_tsv_header_is_recognised_only_on_top_and_only_whole(file: Path) -> None:
    """`topic` may be a topic's id anywhere else."""
    file.write_text("\nTopic\tTitle\tdescription\n1\ta\n \t\ntopic\ttitle\n")
    assert read_topics(str(file)) == [Topic("1", "a"), Topic("topic", "title")]
    file.write_text("topic\ttitle page\n")
    assert read_topics(str(file)) == [Topic("topic", "title page")]


@pytest.mark.parametrize(
    "header",
    [
        "id\tquery",
        "Query-ID\tQuery",
        "query id\ttext",
        "qid\ttitle\tdesc",
        "number\tTitle\tdescription\tnarrative",
        "num\ttext",
        "\ufefftopic_id\tquery\tquestion",
    ],
)
def test_tsv_header_may_have_the_usual_names(file: Path, header: str) -> None:
    """Names of JSON and XML name columns as well, in any case, with a mark on top or without."""
    file.write_text(f"{header}\n1\tred\n2\tblue\tsky\n", "utf-8")
    told: list[str] = []
    assert read_topics(str(file), doubt=told.append) == [
        Topic("1", "red"), Topic("2", "blue", "sky"),
    ]  # fmt: skip
    assert not told


def test_tsv_header_says_what_columns_are(file: Path) -> None:
    """Columns in another order, or with one left out, are what their names say."""
    file.write_text("qid\tnarr\tquery\n1\tall reds\tred\tcolours\n2\tblues\n")
    assert read_topics(str(file)) == [
        Topic("1", "red", "colours", "all reds"), Topic("2", "", "", "blues"),
    ]  # fmt: skip


@pytest.mark.parametrize("header", ["id\tcolour", "id\tquery\tquery", "id", "7\tquery"])
def test_tsv_header_with_other_names_is_none(file: Path, header: str) -> None:
    """An unknown name, two for one field, one alone, or another first: nothing is skipped."""
    file.write_text(f"{header}\n")
    if "\t" not in header:
        assert codes(faults_of(file, f"{header}\n")) == [(1, "fields")]
        return
    assert read_topics(str(file))[0].topic == header.split("\t")[0]


@pytest.mark.parametrize(
    ("ids", "is_doubtful"),
    [
        (["keyword", "1", "2"], True),
        (["keyword", "G01"], True),
        (["wine", "beer"], False),
        (["wine", "1", "beer", "2"], False),
        (["k1", "1", "2"], False),
        (["1", "wine"], False),
        (["keyword"], False),
        (["--", "1"], False),
    ],
)
def test_tsv_first_line_that_looks_like_names_is_told(file: Path, ids: list[str], is_doubtful: bool) -> None:
    """A word on top of ids that all have digits is read as a topic, and told, but in JSON."""
    told: list[str] = []
    file.write_text("".join(f"{topic}\tcolour\n" for topic in ids))
    assert [one.topic for one in read_topics(str(file), doubt=told.append)] == ids
    assert [text.partition(" looks")[0] for text in told] == (
        [f"the first line was read as topic `{ids[0]}`, but"] if is_doubtful else []
    )
    assert len(read_topics(str(file))) == len(ids)
    file.write_text("".join(f'{{"id": "{topic}", "title": "t"}}\n' for topic in ids))
    told.clear()
    read_topics(str(file), doubt=told.append)
    assert not told


def test_tsv_line_without_a_tab_is_a_fault_with_a_hint(file: Path) -> None:
    """Blanks are never taken for tabs: the fault says what to type."""
    error = faults_of(file, "1\ta\n2 fast cars\n3\tb\n")
    assert codes(error) == [(2, "fields")]
    expected = "expected topic<TAB>title[<TAB>description[<TAB>narrative]], got a line without a tab"
    assert error.faults[0].message == expected
    assert error.hint == f"turn the first blank of each line into a tab: sed '/\\t/!s/  */\\t/' {file}"
    for unsure in ("1,red shoes\n2 blue hat\n", " 1 red shoes\n", "1 a\n2\tb\tc\td\te\n"):
        assert faults_of(file, unsure).hint is None
    assert faults_of(file, "word\n").hint is None


def test_tsv_line_with_five_columns_is_a_fault(file: Path) -> None:
    """A column nobody asked for is not dropped in silence."""
    error = faults_of(file, "1\ta\tb\tc\td\n")
    assert codes(error) == [(1, "fields")]
    assert "got 5 fields" in str(error)


# JSON lines


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        # The eleventh character is the `t` that should be a quote.
        ('{"id": 1, title: 2}', "json", "got invalid JSON at column 11: expecting property name"),
        ("{", "json", "at column 2: expecting property name"),
        ("[1]", "json", "expected a JSON object, got an array"),
        ("null", "json", "expected a JSON object, got null"),
        ('"x"', "json", "expected a JSON object, got text"),
        ("[" * 100_000, "json", "too deep a nesting"),
        ('{"id": ' + "9" * 5000 + "}", "json", "too large a number or too deep a nesting"),
        ('{"title": "t"}', "missing", "expected an id in `topic`, `number`, `num`"),
        ('{"id": null, "title": "t"}', "missing", "expected an id"),
        ('{"id": 1.0, "title": "t"}', "type", "text or an integer in `id`, got a number"),
        ('{"id": true, "title": "t"}', "type", "text or an integer in `id`, got true"),
        ('{"id": "a", "query": ["t"]}', "type", "expected text in `query`, got an array"),
        ('{"id": "a", "title": 5}', "type", "expected text in `title`, got a number"),
        ('{"id": "a", "title": "t", "narrative": {}}', "type", "in `narrative`, got an object"),
        ('{"id": "\\ud800", "title": "t"}', "id", "expected valid Unicode in an id"),
        ('{"id": "", "title": "t"}', "id", "expected an id, got nothing"),
    ],
)
def test_jsonl_faults(file: Path, line: str, code: str, message: str) -> None:
    """A line that is no topic is told with its number; the lines around it are read on."""
    error = faults_of(file, f'{{"id": "ok", "text": "t"}}\n{line}\n{{"id": "ok", "text": "t"}}')
    assert codes(error) == [(2, code), (3, "duplicate")]
    assert message in error.faults[0].message


# Real files; counts from each folder's PROVENANCE.md


def real(name: str) -> str:
    """Return a real file's path, or skip."""
    if not (DATA / name).is_file():
        pytest.skip(f"{name} is not beside the project")
    return str(DATA / name)


def test_trec_covid_topics_are_thirty_with_question_and_narrative() -> None:
    """The official XML (CRLF) maps query, question and narrative."""
    topics = read_topics(real("trec-covid-r1/topics.covid-round1.xml"))
    assert [topic.topic for topic in topics] == [str(number) for number in range(1, 31)]
    assert topics[0].title == "coronavirus origin"
    assert topics[0].description == "what is the origin of COVID-19"
    assert all(topic.title and topic.description and topic.narrative for topic in topics)


@pytest.mark.parametrize(
    ("name", "n_topics", "place", "topic"),
    [
        ("miracl-ja-dev/topics.miracl-v1.0-ja-dev.tsv", 860, 2, Topic("4", "森上亜希子の出身はどこ")),
        ("acordar/all_queries.txt", 493, 0, Topic("1", "Antitrust Cases Pending")),
    ],
)
def test_real_topics_are_as_many_as_published(name: str, n_topics: int, place: int, topic: Topic) -> None:
    """Japanese text comes through byte for byte; ids with gaps stay as they are."""
    topics = read_topics(real(name))
    assert (len(topics), topics[place]) == (n_topics, topic)


def test_wtr_topics_lack_their_tab_on_every_line() -> None:
    """Sixty lines with a blank for the tab are sixty faults and one hint."""
    with pytest.raises(FormatError) as caught:
        read_topics(real("wtr-pool/queries.txt"))
    assert caught.value.n_faults == 60
    assert {fault.code for fault in caught.value.faults} == {"fields"}
    assert caught.value.line == 1
    assert caught.value.hint is not None


def topics_file(folder: Path, name: str, **titles: str) -> str:
    """Write a topics file of titles."""
    lines = [json.dumps({"topic": topic, "title": title}) for topic, title in titles.items()]
    (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return name


def judged_once(folder: Path, cli: Cli) -> None:
    """Make a collection of two topics, of which anna judged two documents of the first."""
    cli("init", "--scale", "0-2").fine()
    cli("import", "topics", topics_file(folder, "old.jsonl", t1="wine", t2="beer")).fine()
    with Collection("collection.db") as opened:
        opened.pools.add(make_pool({"t1": ["a", "b"], "t2": ["a"]}))
        opened.judges.add("anna", JudgeKind.HUMAN)
    judge("t1", a=1, b=2)


def judge(topic: str, **grades: int) -> None:
    """Let anna grade documents of a topic, as a screen does."""
    with Collection("collection.db") as opened:
        desk = opened.desk("anna")
        desk.topic(topic)
        tasks = {task.docno: task for task in desk.queue(topic)}
        for docno, grade in grades.items():
            seen = tasks[docno].revision
            desk.record(Decision(topic, docno, Action.JUDGE, grade=grade, seen_revision=seen))
        desk.leave()


def test_correction_is_a_version_and_says_what_rests_on_the_old(cli: Cli, here: Path) -> None:
    """From the refusal to the corrected judgement, by what each command tells to do next."""
    judged_once(here, cli)
    new = topics_file(here, "new.jsonl", t1="red wine", t2="beer")
    before = stored_rows("collection.db")
    refused = cli("import", "topics", new).failed(3)
    assert "error: topic `t1` exists with another text" in refused.err
    assert "hint: --replace takes the new text, as version 2 of it" in refused.err
    assert stored_rows("collection.db") == before
    answer = cli("import", "topics", new, "--replace").fine()
    assert answer.err == (
        "new.jsonl: 0 topics added, 1 replaced, 1 already there\n"
        "topic t1 has version 2 of its text; 2 judgements made with another text\n"
        "2 judgements made with another text than the current one: pooler status outdated --why topic\n"
    )
    rows = cli("show", "topics", "--format", "json").fine().json()
    assert [(row["topic"], row["version"], row["older"]) for row in rows] == [
        ("t1", 2, 2), ("t2", 1, 0),
    ]  # fmt: skip
    assert "with older text" in cli("show", "topics").fine().out
    shown = [line.split() for line in cli("show", "topics", "t1").fine().out.splitlines()]
    assert ["judged", "with", "older", "text", "2"] in shown
    rows = cli("status", "outdated", "--why", "topic", "--format", "json").fine().json()
    assert [(row["docno"], row["why"], row["topic_version"]) for row in rows] == [
        ("a", ["topic"], 1), ("b", ["topic"], 1),
    ]  # fmt: skip
    assert cli("status", "outdated", "--why", "text", "--format", "json").fine().json() == []
    cli("status", "outdated", "--why", "topic", "--requeue").fine()
    judge("t1", a=0)
    assert "no judgement rests on" in cli("status", "outdated").fine().out
    events = cli("history", "t1", "a", "--format", "json").fine().known()
    assert events["newest_topic_version"] == 2
    assert [(one["action"], one["topic_version"]) for one in events["events"]] == [
        ("judge", 1), ("reopen", None), ("judge", 2),
    ]  # fmt: skip
    assert "topic text" in cli("history", "t1", "a").fine().out


def test_every_version_can_be_seen(cli: Cli, here: Path) -> None:
    """The newest by default, an older one by number, and the unknown one by what there is."""
    judged_once(here, cli)
    cli("import", "topics", topics_file(here, "new.jsonl", t1="red wine"), "--replace").fine()
    shown = cli("show", "topics", "t1", "--format", "json").fine().known()
    assert (shown["title"], shown["version"], shown["newest_version"]) == ("red wine", 2, 2)
    assert [(one["version"], one["judgements"]) for one in shown["versions"]] == [(1, 2), (2, 0)]
    assert shown["versions"][0]["changed_at"] is None
    old = cli("show", "topics", "t1", "--version", "1", "--format", "json").fine().known()
    assert (old["title"], old["version"], old["newest_version"]) == ("wine", 1, 2)
    assert "judged by it" in cli("show", "topics", "t1").fine().out
    assert "judged by it" not in cli("show", "topics", "t2").fine().out
    refused = cli("show", "topics", "t1", "--version", "3").failed(1)
    assert "unknown version of topic t1 `3`; known: `1`, `2`" in refused.err


def test_blanks_alone_are_a_version_and_are_said(cli: Cli, here: Path) -> None:
    """Texts are bytes: one more blank is another text, which differs in nothing else."""
    judged_once(here, cli)
    new = topics_file(here, "new.jsonl", t1="wine ")
    answer = cli("import", "topics", new, "--replace").fine()
    assert (
        "topic t1 has version 2 of its text, which differs only in blanks and line ends;"
        " 2 judgements made with another text" in answer.err
    )
    again = cli("import", "topics", new, "--replace").fine()
    assert again.err == "new.jsonl: nothing new, 1 topic already there\n"
