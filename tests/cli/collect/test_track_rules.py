"""`--rules` of `check` and `import runs`: what a track asks of a submission."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.run import Cli, write
from tests.trec_covid import data_path

HEADER = (
    "# ir_metadata.start",
    "# tag: a",
    "# actor:",
    "#   team: garden",
    "# method:",
    "#   models: none",
    "#   retrieval: [{name: bm25}, {name: rerank}]",
    "# ir_metadata.end",
)
ROWS = ("1 Q0 d1 1 3.0 a", "1 Q0 d2 2 2.0 a", "2 Q0 d1 1 3.5 a")
ALL_RULES = """\
topics = ["1", "2"]
documents = "lists/docnos.txt"
depth = 2
min_depth = 1
tag = "[a-z]"
descending = true
ranks = true
group = true
runs_per_group = 1
models = true
header = true
"""


def submission(*rows: str, header: tuple[str, ...] = HEADER) -> str:
    """Return a run file."""
    return "".join(f"{line}\n" for line in (*header, *rows))


def without(line: str) -> tuple[str, ...]:
    """Return the header without a line."""
    return tuple(one for one in HEADER if line not in one)


@pytest.fixture
def track(here: Path) -> Path:
    """Write the rules of a track, all there are, and a run that keeps them."""
    (here / "lists").mkdir()
    write(here / "lists" / "docnos.txt", "d1", "d2", "d3")
    (here / "track.toml").write_text(ALL_RULES, "utf-8")
    (here / "a.run").write_text(submission(*ROWS), "utf-8")
    return here


def test_run_that_keeps_all_rules_is_accepted(cli: Cli, track: Path) -> None:
    """Its row says what is in it, and what its header says of it."""
    answer = cli("check", "a.run", "--rules", "track.toml", "--format", "json")
    assert answer.code == 0
    (row,) = answer.json()["submissions"]
    assert row == {
        "run": "a",
        "group": "garden",
        "models": ["none"],
        "method": "bm25 > rerank",
        "topics": 2,
        "documents": 3,
        "ties": 0,
        "disagreements": 0,
        "faults": 0,
        "verdict": "accepted",
        "because": [],
        "warned": [],
        "file": "a.run",
    }


BROKEN = {
    "topics": (submission(*ROWS[:2]), "no documents for topic 2"),
    "unknown-topic": (submission(*ROWS, "3 Q0 d1 1 1 a"), "expected a known topic, got `3`"),
    "unknown-docno": (submission(*ROWS, "2 Q0 d4 2 1 a"), "expected a known docno, got `d4`"),
    "depth": (
        submission(ROWS[0], ROWS[1], "1 Q0 d3 3 1 a", ROWS[2]),
        "expected at most 2 documents a topic, got 3 in topic 1",
    ),
    "tag": (
        submission(*(row.replace(" a", " ab") for row in ROWS), header=without("tag")),
        "expected a run tag like `[a-z]`, got `ab`",
    ),
    "descending": (submission(ROWS[1], ROWS[0], ROWS[2]), "scores rise from line to line in topic 1"),
    "ranks": (
        submission("1 Q0 d1 2 3.0 a", "1 Q0 d2 1 2.0 a", ROWS[2]),
        "the stated ranks disagree with the scores (order `trec`) in topic 1: `d2` is number 1 by rank",
    ),
    "group": (
        submission(*ROWS, header=without("team")),
        "expected a group, in the list of runs or in the header, got none",
    ),
    "models": (
        submission(*ROWS, header=without("models")),
        "expected models, or `none`, in the list of runs",
    ),
}


@pytest.mark.parametrize("code", BROKEN)
def test_each_rule_is_broken_once(cli: Cli, track: Path, code: str) -> None:
    """The run is refused for it alone, as is told in its row and below."""
    content, words = BROKEN[code]
    (track / "a.run").write_text(content, "utf-8")
    answer = cli("check", "a.run", "--rules", "track.toml", "--format", "json")
    assert answer.code == 1
    (row,) = answer.json()["submissions"]
    assert (row["verdict"], row["because"], row["faults"]) == ("refused", [code], 1)
    (fault,) = [one for one in answer.json()["check"] if one["kind"] == "fault"]
    assert fault["message"].startswith(words)


def test_fewest_documents_are_asked_for(cli: Cli, track: Path) -> None:
    """A topic with fewer is told."""
    (track / "track.toml").write_text("min_depth = 2\n", "utf-8")
    answer = cli("check", "a.run", "--rules", "track.toml")
    assert answer.code == 1
    assert "expected at least 2 documents a topic, got 1 in topic 2" in answer.out


def test_header_is_asked_for(cli: Cli, track: Path) -> None:
    """A list of runs says the rest, and the header is missed all the same."""
    (track / "a.run").write_text(submission(*ROWS, header=()), "utf-8")
    write(track / "runs.tsv", "file\tgroup\tmodels", "a.run\tgarden\tnone")
    answer = cli("check", "--runs", "runs.tsv", "--rules", "track.toml", "--format", "json")
    assert answer.json()["submissions"][0]["because"] == ["header"]


def test_runs_of_a_group_are_counted(cli: Cli, track: Path) -> None:
    """Whoever handed in too many hears it of each: which one goes is not guessed."""
    for tag in ("b", "c"):
        text = submission(*ROWS).replace(" a\n", f" {tag}\n").replace("tag: a", f"tag: {tag}")
        (track / f"{tag}.run").write_text(
            text.replace("garden", "field" if tag == "c" else "garden"), "utf-8"
        )
    answer = cli("check", "a.run", "b.run", "c.run", "--rules", "track.toml", "--format", "json")
    because = {row["run"]: row["because"] for row in answer.json()["submissions"]}
    assert because == {"a": ["runs_per_group"], "b": ["runs_per_group"], "c": []}
    assert "expected at most 1 run a group, got 2 of group `garden`: a, b" in answer.out


def test_file_that_is_no_run_is_none_of_its_group(cli: Cli, track: Path) -> None:
    """A list names it beside the group's one run, which is accepted."""
    write(track / "empty.run", "")
    write(track / "runs.tsv", "file\tgroup", *(f"{name}.run\tgarden" for name in ("a", "empty")))
    answer = cli("check", "gone.run", "--runs", "runs.tsv", "--rules", "track.toml", "--format", "json")
    rows = answer.json()["submissions"]
    assert [one["because"] for one in rows] == [["open"], [], ["empty"]]


def test_exit_code_tells_the_severity(cli: Cli, track: Path) -> None:
    """0 = accepted, 4 = a rule that warns is broken, 1 = refused, or warned of with `--strict`."""
    (track / "a.run").write_text(BROKEN["unknown-docno"][0], "utf-8")
    rules = track / "track.toml"
    rules.write_text(ALL_RULES + 'warn = ["documents", "depth"]\n', "utf-8")
    answer = cli("check", "a.run", "--rules", "track.toml", "--format", "json")
    assert answer.code == 4
    (row,) = answer.json()["submissions"]
    assert (row["verdict"], row["because"], row["warned"]) == ("warned", [], ["documents"])
    assert "1 not in the list of documents, first on line 12: expected a known docno, got `d4`" in answer.out
    assert cli("check", "a.run", "--rules", "track.toml", "--strict").code == 1
    rules.write_text(ALL_RULES + 'warn = ["depth"]\n', "utf-8")
    assert cli("check", "a.run", "--rules", "track.toml").code == 1
    rules.write_text("depth = 9\n", "utf-8")
    assert cli("check", "a.run", "--rules", "track.toml").code == 0


def test_all_faults_of_the_rules_are_told_at_once(cli: Cli, track: Path) -> None:
    """Unknown keys with the known one that is nearest, values, and lists that cannot be read."""
    (track / "bad.txt").write_text("d 1\n", "utf-8")
    (track / "track.toml").write_text(
        'topcs = 3\ndepth = 0\ntag = "["\nranks = 1\ndocuments = "bad.txt"\nwarn = ["header", "dpth"]\n',
        "utf-8",
    )
    answer = cli("check", "a.run", "--rules", "track.toml")
    names = "track.toml: expected `warn` to name rules of this file (`depth`, `documents`, `ranks`)"
    assert answer.code == 1
    assert [line.removeprefix("error: ") for line in answer.err.splitlines()[:-1]] == [
        "track.toml: unknown rule `topcs`; known: `topics`, `depth`, `descending` and others",
        "track.toml: expected `depth` to be an integer >= 1, got 0",
        "track.toml: expected `tag` to be a regular expression, got '['",
        "track.toml: expected `ranks` to be true or false, got 1",
        f"{names}, got `header`",
        f"{names}, got `dpth`",
        "track.toml: documents: bad.txt:1: docno: expected an id without blanks, got 'd 1'",
    ]
    assert not answer.out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected at least one rule of depth, descending"),
        ("depth = 3\nmin_depth = 4\n", "expected `min_depth` to be at most `depth`, 3, got 4"),
        ("depth = true\n", "expected `depth` to be an integer >= 1, got True"),
        ("depth = ", "expected TOML"),
        ('documents = "gone.txt"\n', "gone.txt: no such file or directory"),
        ("topics = []\n", "expected `topics` to be a file, or a list of topic ids, got []"),
    ],
)
def test_rules_that_say_nothing_or_too_much_are_refused(cli: Cli, track: Path, text: str, words: str) -> None:
    """No run is checked by rules that are no rules."""
    (track / "track.toml").write_text(text, "utf-8")
    answer = cli("check", "a.run", "--rules", "track.toml")
    assert answer.code == 1
    assert words in answer.err
    assert not answer.out


def test_broken_header_is_told_as_that(cli: Cli, track: Path) -> None:
    """No rule asks then for what it would have said."""
    (track / "a.run").write_text(submission(*ROWS).replace("bm25}", "bm25"), "utf-8")
    answer = cli("check", "a.run", "--rules", "track.toml", "--format", "json")
    assert answer.json()["submissions"][0]["because"] == ["header"]
    (fault,) = [one for one in answer.json()["check"] if one["kind"] == "fault"]
    assert fault["line"] == 7


def test_file_that_is_no_run_has_a_row(cli: Cli, track: Path) -> None:
    """What cannot be opened, and what has no document, is refused for that, and no rule is named."""
    write(track / "empty.run", "")
    answer = cli("check", "gone.run", "empty.run", "a.run", "--rules", "track.toml", "--format", "json")
    assert answer.code == 1
    rows = [(row["run"], row["verdict"], row["because"]) for row in answer.json()["submissions"]]
    assert rows == [(None, "refused", ["open"]), (None, "refused", ["empty"]), ("a", "accepted", [])]


def test_import_refuses_what_the_rules_refuse(cli: Cli, track: Path) -> None:
    """Nothing is imported where a run is refused; runs of the group that are in count; warnings are said."""
    cli("init", "--scale", "0-2").fine()
    (track / "bad.run").write_text(submission("1 Q0 d9 1 1 b", header=()), "utf-8")
    refused = cli("import", "runs", "a.run", "bad.run", "--rules", "track.toml")
    assert refused.code == 1
    assert "bad.run:1: expected a known docno, got `d9`" in refused.err
    assert "track.toml: 1 of 2 runs refused" in refused.err
    assert cli("show", "runs", "--format", "json").json() == []
    cli("import", "runs", "a.run", "--rules", "track.toml").fine()
    cli("import", "runs", "a.run", "--rules", "track.toml").fine()
    (run,) = cli("show", "runs", "--format", "json").json()
    assert (run["run"], run["group"]) == ("a", "garden")
    text = submission(*ROWS).replace(" a\n", " b\n").replace("tag: a", "tag: b")
    (track / "b.run").write_text(text, "utf-8")
    assert "got 2 of group `garden`: a, b" in cli("import", "runs", "b.run", "--rules", "track.toml").err
    (track / "track.toml").write_text('runs_per_group = 1\nwarn = ["runs_per_group"]\n', "utf-8")
    warned = cli("import", "runs", "b.run", "--rules", "track.toml").fine()
    assert "warning: b.run: expected at most 1 run a group" in warned.err


def test_list_of_runs_and_header_contradict_each_other_with_both_places(cli: Cli, track: Path) -> None:
    """`check` tells it as a fault, and nothing is made or imported of it."""
    write(track / "runs.tsv", "file\tgroup\tmodels", "a.run\tfield\tgpt-4")
    lines = [
        "a.run:4: expected the header's group to be `field`, as runs.tsv:2 says, got `garden`",
        "a.run:6: expected the header's models to be `gpt-4`, as runs.tsv:2 says, got `none`",
    ]
    answer = cli("check", "--runs", "runs.tsv")
    assert answer.code == 1
    assert answer.out.splitlines()[:2] == lines
    cli("init", "--scale", "0-2").fine()
    for command in (("import", "runs", "--runs", "runs.tsv"), ("pool", "--runs", "runs.tsv", "--depth", "1")):
        refused = cli(*command)
        assert refused.code == 1
        assert "\n".join(lines) in refused.err
    told = cli("import", "runs", "a.run", "--group", "field").err
    assert "expected the header's group to be `field`, as `--group` says, got `garden`" in told


@pytest.mark.slow
@pytest.mark.vector("trec-covid-r1 PROVENANCE.md: 143 runs, 30 topics, 529,478 lines, no duplicate; its runs")
def test_runs_of_trec_covid_are_one_table(cli: Cli, here: Path) -> None:
    """A row for each of 143 runs; topics, documents and ranks are those that plain loops count."""
    files = sorted(data_path("runs-top120").glob("*.gz"))
    topics = data_path("topics.covid-round1.xml")
    (here / "topics.xml").write_bytes(topics.read_bytes())
    rules = 'topics = "topics.xml"\ndepth = 1000\ntag = "[A-Za-z0-9._-]+"\nranks = true\nwarn = ["ranks"]\n'
    (here / "track.toml").write_text(rules, "utf-8")
    answer = cli("check", *map(str, files), "--rules", "track.toml", "--format", "json")
    assert answer.code == 4
    rows = answer.json()["submissions"]
    assert len(rows) == 143
    assert sum(row["documents"] for row in rows) == 529_478
    assert {row["topics"] for row in rows} == {30}
    for row, file in zip(rows, files, strict=True):
        lines = [line.split() for line in gzip.decompress(file.read_bytes()).decode().splitlines()]
        by_topic: dict[str, list[tuple[float, str, int]]] = {}
        for topic, _, docno, rank, score, _ in lines:
            by_topic.setdefault(topic, []).append((float(score), docno, int(rank)))
        n_unlike = n_tied = 0
        for found in by_topic.values():
            scores = Counter(score for score, *_ in found)
            n_tied += sum(scores[score] > 1 for score, *_ in found)
            by_score = sorted(found, reverse=True)  # ties by docno, the last one first
            n_unlike += by_score != sorted(found, key=lambda one: one[2])
        assert (row["run"], row["documents"]) == (file.name.removesuffix(".gz"), len(lines))
        assert (row["disagreements"], row["ties"]) == (n_unlike, n_tied)
        assert row["verdict"] == ("warned" if n_unlike else "accepted")
