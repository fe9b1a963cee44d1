"""Topic files of every format and track, whole, damaged and hostile; corrected texts are versions."""

from __future__ import annotations

import gzip
import io
import json
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from store.collection import Collection
from store.errors import ArgumentError, FormatError, PoolerError
from store.formats import TopicFormat
from store.formats.topics import read_topics
from store.records import Action, Decision, JudgeKind, Topic
from tests.helpers.run import Cli
from tests.helpers.shared_data import shared_data
from tests.helpers.world import make_pool, stored_rows

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


def test_trec_covid_topics_are_thirty_with_question_and_narrative() -> None:
    """The official XML (CRLF) maps query, question and narrative."""
    topics = read_topics(str(shared_data("trec-covid-r1/topics.covid-round1.xml")))
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
    topics = read_topics(str(shared_data(name)))
    assert (len(topics), topics[place]) == (n_topics, topic)


def test_wtr_topics_lack_their_tab_on_every_line() -> None:
    """Sixty lines with a blank for the tab are sixty faults and one hint."""
    with pytest.raises(FormatError) as caught:
        read_topics(str(shared_data("wtr-pool/queries.txt")))
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


FORMS: dict[str, tuple[str, list[Topic]]] = {
    "TREC-1 ad hoc": (
        "<top>\n<head> Tipster Topic Description\n<num> Number:  051\n<dom> Domain: Trade\n"
        "<title> Topic:  Cheese Duties\n<desc> Description:\nDuties on cheese.\n<smry> Summary:\nDuties.\n"
        "<narr> Narrative:\nNames a duty.\n<con> Concept(s):\n1. cheddar\n2. gouda\n"
        "<fac> Factor(s):\n<nat> Nationality: Swiss\n</fac>\n<def> Definition(s):\nDuty: a tax.\n</top>\n",
        [
            Topic(
                "051",
                "Cheese Duties",
                "Duties on cheese.",
                "Names a duty.\nDomain: Trade\nSummary: Duties.\nConcept(s): 1. cheddar 2. gouda\n"
                "Factor(s): Nationality: Swiss\nDefinition(s): Duty: a tax.",
            )
        ],
    ),
    "TREC-4 without titles": (
        "<top>\n<num> Number: 202\n<desc> Description:\nHow are bees\ncounted?\n</top>\n",
        [Topic("202", "", "How are bees counted?")],
    ),
    "TREC-8 ad hoc": (
        "<top>\n\n<num> Number: 401 \n<title> wild bees\n\n<desc> Description: \nWhere do they nest?\n\n"
        "<narr> Narrative: \nA nest is named.\n\n</top>\n\n<top>\n<num> Number: 402\n<title> wasps\n</top>\n",
        [Topic("401", "wild bees", "Where do they nest?", "A nest is named."), Topic("402", "wasps")],
    ),
    "Robust": (
        "<top>\n<num> Number: 672\n<title>\nbee sting help\n<desc> Description:\nWhat helps?\n"
        "<narr> Narrative:\nBut not: <i>folklore</i>, or < 5 lines.\n</top>",
        [Topic("672", "bee sting help", "What helps?", "But not: folklore, or < 5 lines.")],
    ),
    "Common Core in XML": (
        "<?xml version='1.0'?>\n<topics>\n<top>\n<num>321</num>\n<title>bee law</title>\n<desc>Laws?</desc>\n"
        "<narr>Any law.</narr>\n</top>\n</topics>\n",
        [Topic("321", "bee law", "Laws?", "Any law.")],
    ),
    "Web named pages": (
        "<top>\n<num> Number: NP1\n<desc> Description:\nbee board\n</top>",
        [Topic("NP1", "", "bee board")],
    ),
    "Terabyte": (
        "\n<top>\n<num> Number: 701\n<title> bee counts\n<desc> Description:\nCounts?\n</top>\n",
        [Topic("701", "bee counts", "Counts?")],
    ),
    "Terabyte efficiency": (
        "1:bee hives\n2:what: a hive?\n",
        [Topic("1", "bee hives"), Topic("2", "what: a hive?")],
    ),
    "Million Query 2007": (
        "1:after the bees\n10:bee, wasp\n",
        [Topic("1", "after the bees"), Topic("10", "bee, wasp")],
    ),
    "Million Query 2009": (
        "20001:1:bee keeper\n20002:4:queen\n",
        [Topic("20001", "bee keeper"), Topic("20002", "queen")],
    ),
    "Web track": (
        '<webtrack>\n<topic number="1" type="faceted">\n<query>bees</query>\n'
        "<description>About bees.\n</description>\n"
        '<subtopic number="1" type="nav">Find the\nbee board.</subtopic>\n'
        '<subtopic number="2" type="inf">How do bees fly?</subtopic>\n</topic>\n</webtrack>\n',
        [
            Topic(
                "1",
                "bees",
                "About bees.",
                "type: faceted\nsubtopic 1 nav: Find the bee board.\nsubtopic 2 inf: How do bees fly?",
            )
        ],
    ),
    "Session and Tasks in nested XML": (
        "<topics><topic num='7'><query>bees</query><keys><key>hive</key><key>wax</key></keys></topic>"
        "</topics>",
        [Topic("7", "bees", "", "keys: hive; wax")],
    ),
    "Microblog 2011": (
        "<top>\n<num> Number: MB001 </num>\n<title> bee news </title>\n"
        "<querytime> Tue Feb 08 2011 </querytime>\n"
        "<querytweettime> 3495 </querytweettime>\n</top>\n",
        [Topic("MB001", "bee news", "", "querytime: Tue Feb 08 2011\nquerytweettime: 3495")],
    ),
    "Microblog 2013": (
        "<top>\n<num> Number: MB111 </num>\n<query> bee shortages </query>\n</top>\n\n"
        "<top>\n<num> Number: MB112 </num>\n<query> wax </query>\n</top>\n",
        [Topic("MB111", "bee shortages"), Topic("MB112", "wax")],
    ),
    "News background linking 2018": (
        "<top>\n<num> Number: 321 </num>\n<docid>9171de</docid>\n<url>https://n.example/a?b=1&c=2</url>\n</top>\n",
        [Topic("321", "", "", "docid: 9171de\nurl: https://n.example/a?b=1&c=2")],
    ),
    "News background linking 2020": (
        "<top>\n<num> Number: 886 </num>\n<docid>AEQZ</docid>\n<title>Bee law</title>\n"
        "<desc>What law?</desc>\n"
        '<narr>Any.</narr>\n<subtopics>\n<sub num="1">fines</sub>\n<sub num="2">hives</sub>\n'
        "</subtopics>\n</top>",
        [Topic("886", "Bee law", "What law?", "Any.\ndocid: AEQZ\nsubtopics: fines; hives")],
    ),
    "Genomics 2004": (
        "<TOPICS>\n<TOPIC>\n<ID>51</ID>\n<TITLE>bee gene</TITLE>\n<NEED>Find it.</NEED>\n"
        "<CONTEXT>Genes.</CONTEXT>\n"
        "</TOPIC>\n</TOPICS>",
        [Topic("51", "bee gene", "", "NEED: Find it.\nCONTEXT: Genes.")],
    ),
    "Genomics 2006": (
        "<160>What do bees do?\n<161>Why?\n",
        [Topic("160", "What do bees do?"), Topic("161", "Why?")],
    ),
    "Clinical Decision Support": (
        '<topics task="CDS">\n<topic number="1" type="diagnosis">\n'
        "<description>A man of 58, stung.</description>\n"
        "<summary>Stung.</summary>\n</topic>\n</topics>",
        [Topic("1", "", "A man of 58, stung.", "type: diagnosis\nsummary: Stung.")],
    ),
    "Precision Medicine": (
        '<topics><topic number="1"><disease>Hives</disease><gene>ABC (x&lt;2)</gene><other/></topic>'
        "</topics>",
        [Topic("1", "", "", "disease: Hives\ngene: ABC (x<2)")],
    ),
    "Clinical Trials 2021": (
        '<topics task="CT">\n<topic number="1">\nA man,\nstung.\n</topic>\n</topics>',
        [Topic("1", "A man, stung.")],
    ),
    "Clinical Trials 2023": (
        '<topics>\n<topic number="1" template="stings">\n<field name="how many">3</field>\n'
        "</topic>\n</topics>",
        [Topic("1", "", "", "template: stings\nfield how many: 3")],
    ),
    "Health Misinformation": (
        "<topics>\n<topic>\n<number>101</number>\n<query>honey cough</query>\n"
        "<description>Does it?</description>\n"
        "<narrative>Any.</narrative>\n<stance>helpful</stance>\n</topic>\n</topics>",
        [Topic("101", "honey cough", "Does it?", "Any.\nstance: helpful")],
    ),
    "TREC-COVID": (
        '<topics batch="1">\r\n<topic number="1">\r\n<query>bee virus</query>\r\n'
        "<question>which?</question>\r\n"
        "<narrative>any virus</narrative>\r\n</topic>\r\n</topics>\r\n",
        [Topic("1", "bee virus", "which?", "any virus")],
    ),
    "Deep Learning": (
        "264014\thow long do bees live?\n104861\tcost, of honey\n",
        [Topic("264014", "how long do bees live?"), Topic("104861", "cost, of honey")],
    ),
    "RAG 2024": ("2024-105741\tare bees well?\n", [Topic("2024-105741", "are bees well?")]),
    "RAG in JSON lines": ('{"qid": "r1", "query": "are bees well?"}\n', [Topic("r1", "are bees well?")]),
    "RAG 2025": ('{"id": 14, "title": "How bees fare, and why"}\n', [Topic("14", "How bees fare, and why")]),
    "NeuCLIR": (
        '{"topic_id": "101", "languages_with_qrels": ["zho"], "topics": [{"lang": "zho", '
        '"topic_title": "蜂"},'
        ' {"lang": "eng", "topic_title": "bees", "topic_description": "About bees"}]}\n',
        [Topic("101", "bees", "About bees")],
    ),
    "RAGTIME requests": (
        '{"request_id": "300", "title": "bees", "background": "I keep bees.", "limit": 2000}\n',
        [Topic("300", "bees", "", "background: I keep bees.")],
    ),
    "BioGen in one object": (
        '{"topics": [\n  {"id": "116", "topic": "bee stings", "question": "Do they hurt?"},\n'
        '  {"id": "117", "topic": "honey"}\n]}\n',
        [Topic("116", "bee stings", "Do they hurt?"), Topic("117", "honey")],
    ),
    "Tip of the Tongue": (
        '{"id": "t1", "title": "bee film", "text": "I saw a film ...", "domain": "film"}\n',
        [Topic("t1", "bee film", "I saw a film ...", "domain: film")],
    ),
    "BEIR": (
        '{"_id": "q1", "text": "bees", "metadata": {"url": "u", "query_id": "9"}}\n',
        [Topic("9", "bees", "", "_id: q1")],
    ),
    "CLEF ad hoc": (
        "<top>\n<num> C041 </num>\n<EN-title> Bees in Food </EN-title>\n<EN-desc> Find bees.\n</EN-desc>\n"
        "<EN-narr> Any. </EN-narr>\n</top>\n",
        [Topic("C041", "Bees in Food", "Find bees.", "Any.")],
    ),
    "CLEF ad hoc in two languages": (
        "<top><num>C1</num><EN-title>Bees</EN-title><DE-title>Bienen</DE-title></top>",
        [Topic("C1", "Bees", "", "DE-title: Bienen")],
    ),
    "CLEF 2008": (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<topics>\n <topic lang="en">\n'
        "  <identifier>10.2452/451-AH</identifier>\n  <title>Bees</title>\n"
        "  <description>Find.</description>\n"
        "  <narrative>Any.</narrative>\n </topic>\n</topics>",
        [Topic("10.2452/451-AH", "Bees", "Find.", "Any.")],
    ),
    "CLEF eHealth 2014": (
        "<topics>\n<topic>\n<id>q14.1</id>\n<title>Sting</title>\n<desc>Helps?</desc>\n"
        "<profile>A man.</profile>\n"
        "<narr>Any</narr>\n</topic></topics>",
        [Topic("q14.1", "Sting", "Helps?", "Any\nprofile: A man.")],
    ),
    "CLEF eHealth 2015": (
        "<topics>\n<top>\n<num>clef2015.1</num>\n<query>red sting</query>\n</top>\n</topics>",
        [Topic("clef2015.1", "red sting")],
    ),
    "CLEF eHealth 2018": (
        "<queries>\n<query>\n<id> 151001 </id>\n<title> stings </title>\n</query>\n</queries>",
        [Topic("151001", "stings")],
    ),
    "CLEF CheckThat": (
        'tweet_id\ttweet_content\n9\tBees are gone "all" of them\n',
        [Topic("9", 'Bees are gone "all" of them')],
    ),
    "CLEF Touche with a document type": (
        "<?xml version='1.0'?>\n<!DOCTYPE topics [\n<!-- ]> -->\n<!ELEMENT topics (topic*)>\n"
        "<!ATTLIST topic number CDATA #REQUIRED>\n]>\n"
        "<topics><topic><number>1</number><title>Bees?</title></topic></topics>",
        [Topic("1", "Bees?")],
    ),
    "INEX": (
        "<!DOCTYPE inex_topic>\n"
        '<inex_topic topic_id="544"><title>bees</title><castitle>//a[b > 1]</castitle></inex_topic>',
        [Topic("544", "bees", "", "castitle: //a[b > 1]")],
    ),
    "FIRE": (
        "<?xml version='1.0' encoding='UTF-8'?>\n<topics>\n<top lang='hi'>\n<num>26</num>\n"
        "<title>मधुमक्खी</title>\n"
        "<desc>क्या?</desc>\n<narr>कोई</narr>\n</top>\n</topics>",
        [Topic("26", "मधुमक्खी", "क्या?", "कोई")],
    ),
    "NTCIR-1": (
        "<TOPIC q=0031>\n<TITLE>\n蜂\n</TITLE>\n<DESCRIPTION>\n蜂の巣\n</DESCRIPTION>\n<NARRATIVE>\n巣\n"
        "</NARRATIVE>\n</TOPIC>\n"
        "<TOPIC q=0032>\n<TITLE>\n蜜\n</TITLE>\n</TOPIC>\n",
        [Topic("0031", "蜂", "蜂の巣", "巣"), Topic("0032", "蜜")],
    ),
    "NTCIR CLIR": (
        "<TOPIC>\n<NUM>001</NUM>\n<SLANG>CH</SLANG>\n<TITLE>Bees</TITLE>\n<DESC>Find.</DESC>\n"
        "<NARR>\n<BACK>They fly.</BACK>\n<REL>Any.</REL>\n</NARR>\n<CONC>hive, wax</CONC>\n</TOPIC>\n"
        "<TOPIC>\n<NUM>002</NUM>\n<TITLE>Wax</TITLE>\n</TOPIC>\n",
        [Topic("001", "Bees", "Find.", "They fly. Any.\nSLANG: CH\nCONC: hive, wax"), Topic("002", "Wax")],
    ),
    "NTCIR GeoTime": (
        '<TOPIC ID="G-1">\n<DESCRIPTION LANG="EN">When?</DESCRIPTION>\n'
        '<DESCRIPTION LANG="JA">いつ</DESCRIPTION>\n</TOPIC>',
        [Topic("G-1", "", "When?", "DESCRIPTION JA: いつ")],
    ),
    "NTCIR WWW": (
        "<queries>\n<query>\n<qid>0001</qid>\n<content>bee picture</content>\n"
        "<description>A bee.</description>\n</query>\n"
        "</queries>",
        [Topic("0001", "bee picture", "A bee.")],
    ),
    "NTCIR Data Search": ("DS1-E-0001\tbee counts 2015\n", [Topic("DS1-E-0001", "bee counts 2015")]),
    "Indri parameters": (
        "<parameters>\n<query>\n<number>1</number>\n<text>#combine( bees )</text>\n</query>\n</parameters>",
        [Topic("1", "#combine( bees )")],
    ),
    "CDATA and comments": (
        "<topics><!-- <topic number='9'>\n</topic> -->\n"
        "<topic number='1'><title><![CDATA[a <b> & c]]></title></topic></topics>",
        [Topic("1", "a <b> & c")],
    ),
    "topics by attributes": (
        '<topics><topic number="1" title="a &amp; b"/><topic number="2" title="c"/></topics>',
        [Topic("1", "a & b"), Topic("2", "c")],
    ),
    "CSV of a search team": (
        'query_id,query\nq1,"red shoes, size 40"\nq2,hat\n',
        [Topic("q1", "red shoes, size 40"), Topic("q2", "hat")],
    ),
    "CSV of a spreadsheet": (
        "\ufeffID;Title;Narrative;Owner\r\n1;shoes;Red ones.;Ann\r\n2;hats;;\r\n",
        [Topic("1", "shoes", "", "Red ones.\nOwner: Ann"), Topic("2", "hats")],
    ),
    "CSV with the id behind": ("text,number,description\nshoes,7,red\n", [Topic("7", "shoes", "red")]),
    "TSV with a column of its own": (
        "qid\tlanguage\tquery\n7\ten\tshoes\n",
        [Topic("7", "shoes", "", "language: en")],
    ),
    "JSON list": (
        '[{"id": "1", "query": "a"},\n {"id": "2", "query": "b", "n": [3]}]',
        [Topic("1", "a"), Topic("2", "b")],
    ),
}


@pytest.mark.parametrize(("text", "topics"), FORMS.values(), ids=FORMS)
def test_topics_of_a_track_are_read(tmp_path: Path, text: str, topics: list[Topic]) -> None:
    """Without a word about its form, a file gives the topics that its track had."""
    file = tmp_path / "topics"
    file.write_text(text, "utf-8", newline="")
    assert read_topics(str(file)) == topics


BOMB = (
    "<!DOCTYPE t [\n<!ENTITY a 'ha'>\n<!ENTITY b '&a;&a;&a;&a;'>\n]>\n"
    "<topic number='1'><title>&b;</title></topic>"
)
STOLEN = (
    "<!DOCTYPE t [\n<!ENTITY a SYSTEM 'file:///etc/passwd'>]>\n<topic number='1'><title>&a;</title></topic>"
)
PARAMETER = "<!DOCTYPE t [\n\n<!ENTITY % a SYSTEM 'http://a.example/b'> %a;]>\n<topic number='1'>x</topic>"
OUTSIDE = "<!DOCTYPE t\n SYSTEM 'http://a.example/t.dtd'>\n<topic number='1'><title>x</title></topic>"
PUBLIC = (
    '<?xml version="1.0"?>\n<!DOCTYPE t PUBLIC "-//A//B" "b.dtd" [<!ELEMENT t ANY>]>\n<topic id="1">x</topic>'
)


@pytest.mark.parametrize(
    ("text", "line", "code", "words"),
    [
        (BOMB, 2, "entity", "expected a file without entities of its own, got '<!ENTITY a'"),
        (STOLEN, 2, "entity", "got '<!ENTITY a'"),
        (PARAMETER, 3, "entity", "got '<!ENTITY % a'"),
        (f"<top><num>1<title>x</top>\n{BOMB}", 3, "entity", "got '<!ENTITY a'"),
        (OUTSIDE, 2, "doctype", "expected a document type without another file, got \"SYSTEM 'http://a.exam"),
        (PUBLIC, 2, "doctype", 'got \'PUBLIC "-//A//B"'),
        (OUTSIDE.lower(), 2, "doctype", "got \"system 'http://a.exam"),
        (
            f"<!DOCTYPE t>\n<topic number='2'>y</topic>\n{OUTSIDE}",
            4,
            "doctype",
            "got \"SYSTEM 'http://a.exam",
        ),
        ("<!DOCTYPE t [<!ELEMENT t ANY>\n<topic id='1'>x</topic>", 1, "doctype", "without `>`"),
    ],
    ids=["bomb", "external", "parameter", "behind", "SYSTEM", "PUBLIC", "lower", "second", "open"],
)
def test_entities_and_other_files_are_refused(
    tmp_path: Path, text: str, line: int, code: str, words: str
) -> None:
    """What a declaration could blow up or fetch is neither read nor left out in silence."""
    file = tmp_path / "topics"
    file.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_topics(str(file))
    assert [(fault.line, fault.code) for fault in caught.value.faults] == [(line, code)]
    assert words in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "<top " + "a" * 300_000,
        "<top><num>1<title>" + "<a" * 150_000,
        "<!--" * 100_000,
        "<!DOCTYPE a [" * 30_000,
        "<topic number='1'>" + "<x>" * 100_000 + "</topic>",
        "<topic id=1>" + "<x>a</x>" * 50_000 + "</topic>",
        "[" * 300_000,
        "1:" + " " * 300_000,
        "a,b\n" + '"' * 300_001,
    ],
)
def test_hostile_files_cost_time_in_proportion(tmp_path: Path, text: str) -> None:
    """No file of a third of a megabyte takes seconds, whatever it repeats; a square would take minutes."""
    file = tmp_path / "topics"
    file.write_text(text)
    start = time.process_time()
    with suppress(FormatError):
        read_topics(str(file))
    assert time.process_time() - start < 5


def test_what_is_no_text_is_left_out_and_told_once(tmp_path: Path) -> None:
    """Lists and objects of JSON are named with the number of topics that have them."""
    file = tmp_path / "topics"
    file.write_text('{"id": 1, "title": "a", "docs": [1]}\n{"id": 2, "title": "b", "docs": [], "x": {}}\n')
    told: list[str] = []
    assert read_topics(str(file), tell=told.append) == [Topic("1", "a"), Topic("2", "b")]
    assert told == ["left out, as it is no text: docs (2), x (1)"]
