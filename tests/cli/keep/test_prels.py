"""`pooler export prels` and `pooler import judgements --as`: samples out and in again."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from store.collection import Collection
from store.records import Action, Decision
from tests.helpers.run import Cli, Outcome, by_rule, read_lines, read_trec, write

XINFAP = [
    "51 0 d1 1 1",
    "51 0 d2 1 0",
    "51 0 d3 1 2",
    "51 0 d4 2 -1",
    "51 0 d5 2 1",
    "51 0 d6 2 0",
    "51 0 d7 2 -1",
]
"""The strata on which `sample_eval.pl` was run."""

STATAP = [
    "1 clueweb09-en0003-55-31884 0 0 1",
    "1 clueweb09-en0009-84-37392 0 1 0.0136322534877696",
    "10 GX225-79-9870332 1 1 0.568969759822883",
    "10 GX253-98-16418961 0 4 0.165904710473544",
    "50 clueweb09-en0007-05-20194 0 1 1",
    "50 clueweb09-en0011-00-00001 2 2 0.25",
]
"""Lines of the Web track 2009 and the Million Query track 2007, and two of methods 4 and 2."""


@pytest.fixture
def empty(cli: Cli, here: Path) -> Path:
    """Work beside an empty collection of scale 0-2."""
    cli("init", "--scale", "0-2").fine()
    return here


def bring(cli: Cli, kind: str, *options: str) -> Outcome:
    """Import `p` as the sample of `me`."""
    return cli("import", "judgements", "p", "--as", kind, "--judge", "me", *options)


def written(cli: Cli, kind: str, *options: str) -> list[str]:
    """Return the lines of an exported sample of `me`."""
    return by_rule(cli, "export", "prels", "--as", kind, "--qrels", "me", *options).fine().out.splitlines()


@pytest.mark.vector("sample_eval.pl")
def test_xinfap_file_comes_out_as_it_went_in(cli: Cli, empty: Path) -> None:
    """Bytes, and on the way: 7 listed, 5 sampled, 3/3 and 2/4 of the strata."""
    write(empty / "p", *XINFAP)
    answer = bring(cli, "xinfap").fine()
    assert "p: 5 judgements added of me" in answer.err
    assert "p: pool sample-me: 5 documents sampled, 2 not sampled" in answer.err
    cli("export", "prels", "--as", "xinfap", "--pool", "sample-me", "--out", "out").fine()
    assert (empty / "out").read_bytes() == (empty / "p").read_bytes()
    with Collection("collection.db") as opened:
        entries = {entry.docno: entry for entry in opened.pools.get("sample-me").entries}
    assert {docno: entry.stratum for docno, entry in entries.items()} == {
        **dict.fromkeys(["d1", "d2", "d3"], 1),
        **dict.fromkeys(["d4", "d5", "d6", "d7"], 2),
    }
    assert {entry.inclusion_probability for entry in list(entries.values())} == {1.0, 0.5}
    assert [docno for docno, entry in entries.items() if not entry.sampled] == ["d4", "d7"]


@pytest.mark.vector("ir_datasets, tests of clueweb09/en/trec-web-2009 and gov2/trec-mq-2007")
def test_statap_file_comes_out_as_it_went_in(cli: Cli, empty: Path) -> None:
    """Bytes: probabilities to the last digit, and methods other than 0 and 1."""
    write(empty / "p", *STATAP)
    bring(cli, "statap", "--as-pool", "mq").fine()
    assert written(cli, "statap", "--pool", "mq") == STATAP
    with Collection("collection.db") as opened:
        manifest = opened.pools.get("mq").manifest
    # Method 1 with probability 1 is not what the rule gives either.
    assert manifest["methods"] == {
        "1": {"50": ["clueweb09-en0007-05-20194"]},
        "2": {"50": ["clueweb09-en0011-00-00001"]},
        "4": {"10": ["GX253-98-16418961"]},
    }


def test_iterations_negative_grades_and_stratum_0_survive(cli: Cli, here: Path) -> None:
    """Rounds of judged and unjudged lines, a junk grade, empty strata: the same bytes."""
    lines = [
        "9 0.5 a 0 -2",
        "9 1 b 0 -1",
        "9 0.5 c 7 -1",
        "9 2 d 7 -1",
        "10 1 a 1 2",
        "10 1 b 1 -1",
        "10 0.5 c 2 0",
    ]
    write(here / "p", *lines)
    cli("init", "--scale", "-2-2").fine()
    bring(cli, "xinfap").fine()
    assert written(cli, "xinfap", "--pool", "sample-me") == lines
    with Collection("collection.db") as opened:
        pool = opened.pools.get("sample-me")
    assert pool.round == "0.5"  # 3 lines, as 1 has: the lesser one
    chances = {(one.topic, one.docno): one.inclusion_probability for one in pool.entries}
    assert chances["9", "c"] is None  # nothing of stratum 7 was sampled
    assert chances["9", "b"] == 0.5


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("xinfap", ["--strategy", "stratified", "--param", "strata=1:2,3:5:0.5", "--budget", "9"]),
        ("xinfap", ["--strategy", "uniform", "--budget", "5"]),
        ("statap", ["--strategy", "uniform", "--budget", "7"]),
        ("statap", ["--strategy", "statap", "--budget", "4"]),
        ("xinfap", ["--strategy", "statap", "--budget", "3"]),
    ],
)
def test_drawn_sample_goes_round(cli: Cli, judged: Path, kind: str, options: list[str]) -> None:
    """Pool, judge, export; import into another collection; export: the same bytes."""
    cli("pool", *options, "--depth", "5", "--seed", "3", "--name", "drawn").fine()
    export = ("export", "prels", "--as", kind, "--qrels", "strict")
    cli(*export, "--pool", "drawn", "--out", "first").fine()
    first = (judged / "first").read_bytes()
    other = ("--collection", "other.db")
    cli("init", "--scale", "0-2", *other).fine()
    cli("import", "judgements", "first", "--as", kind, "--judge", "strict", *other).fine()
    second = cli(*export, "--pool", "sample-strict", *other).fine()
    assert second.out.encode() == first
    assert "warning" not in second.err
    # And what the file says is what the pool and the judge say.
    grades = {
        (topic, docno): grade
        for topic, docno, grade in read_trec(judged / "judgements" / "strict.qrels", (0, 2, 3))
    }
    with Collection("collection.db") as opened:
        entries = opened.pools.get("drawn").entries
    expected = []
    for one in sorted(entries, key=lambda one: (one.topic, one.docno)):
        grade = grades[one.topic, one.docno]
        if kind == "xinfap":
            code = grade if one.sampled else "-1"
            expected.append(f"{one.topic} 0 {one.docno} {one.stratum} {code}")
        elif one.sampled and one.inclusion_probability is not None:
            method = int(one.inclusion_probability < 1)
            chance = repr(one.inclusion_probability).removesuffix(".0")
            expected.append(f"{one.topic} {one.docno} {grade} {method} {chance}")
    assert first.decode().splitlines() == expected


def judge_by_hand(name: str) -> None:
    """Judge topic 51 at the desk: 2, skip, cannot; leave the rest."""
    with Collection("collection.db") as opened:
        desk = opened.desk(name)
        actions: list[dict[str, object]] = [
            {"action": Action.JUDGE, "grade": 2},
            {"action": Action.SKIP},
            {"action": Action.CANNOT, "reason": "cut off"},
        ]
        tasks = [task.docno for task in desk.queue("51")]
        assert tasks == ["d1", "d2", "d3", "d5", "d6"]  # what was not sampled is never shown
        for docno, action in zip(tasks, actions, strict=False):
            desk.record(Decision("51", docno, **action))  # type: ignore[arg-type]
        desk.leave()


def test_sampled_documents_without_a_grade_are_told_by_reason(cli: Cli, empty: Path) -> None:
    """Skipped, unjudgeable, unjudged and judged-though-not-sampled are four numbers on stderr."""
    write(empty / "p", *XINFAP)
    bring(cli, "xinfap", "--as-pool", "s").fine()
    cli("judges", "add", "anna").fine()
    judge_by_hand("anna")
    write(empty / "more", "51 0 d4 1", "51 0 d9 2", "52 0 d9 0")
    cli("import", "judgements", "more", "--judge", "anna", "--kind", "human").fine()
    export = ("export", "prels", "--pool", "s", "--qrels", "anna")
    answer = cli(*export, "--as", "xinfap", "--out", "x").fine()
    assert read_lines(empty / "x") == ["51 0 d1 1 2"] + [
        f"51 0 d{number} {1 if number < 4 else 2} -1" for number in range(2, 8)
    ]
    reasons = "4 documents (2 unjudged, 1 skipped, 1 cannot be judged)"
    assert f"sampled but without a grade: {reasons}, written with -1, as if not sampled" in answer.err
    assert "judged but not sampled: 1 document, written with -1" in answer.err
    assert "judged but not in this pool: 2 documents, left out" in answer.err
    assert "5 documents sampled of 7 in pool s, 1 judged (1 x 2); judge anna" in answer.err
    facts = json.loads((empty / "x.manifest.json").read_text("utf-8"))
    assert facts["sampled_without_grade"] == {"unjudged": 2, "skipped": 1, "cannot": 1, "undecided": 0}
    assert (facts["listed"], facts["sampled"], facts["judged"]) == (7, 5, 1)
    assert (facts["judged_not_sampled"], facts["judged_outside_the_pool"]) == (1, 2)
    assert facts["columns"] == ["topic", "iteration", "docno", "stratum", "rel"]
    assert facts["sha256"] == hashlib.sha256((empty / "x").read_bytes()).hexdigest()
    answer = cli(*export, "--as", "statap").fine()
    assert answer.out == "51 d1 2 0 1\n"
    assert f"sampled but without a grade: {reasons}, left out" in answer.err
    assert "judged but not sampled: 1 document, left out" in answer.err


def test_votes_of_several_judges_become_one_grade(cli: Cli, empty: Path) -> None:
    """Ties go low, high, or leave a sampled document without a grade, which is told."""
    write(empty / "p", "51 0 a 1 2", "51 0 b 1 1", "51 0 c 1 -1")
    bring(cli, "xinfap", "--as-pool", "s").fine()
    write(empty / "q", "51 0 a 0", "51 0 b 1")
    cli("import", "judgements", "q", "--judge", "you").fine()
    export = ("export", "prels", "--as", "xinfap", "--pool", "s", "--aggregate", "majority")
    for ties, grade in (("low", 0), ("high", 2), ("unresolved", -1)):
        answer = by_rule(cli, *export, "--ties", ties).fine()
        assert answer.out.splitlines() == [f"51 0 a 1 {grade}", "51 0 b 1 1", "51 0 c 1 -1"]
        assert ("without a grade: 1 document (1 undecided)" in answer.err) == (grade == -1)
    assert "official@1: 1 document undecided" in cli(*export[:6]).failed(1).err


def test_unsampled_documents_are_pooled_for_nobody(cli: Cli, empty: Path) -> None:
    """Progress counts the sampled documents alone."""
    write(empty / "p", *XINFAP)
    bring(cli, "xinfap").fine()
    [row] = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [row[name] for name in ("pooled", "judged", "unjudged", "outside")] == [5, 5, 0, 0]
    assert cli("export", "pool", "--name", "sample-me").fine().out.count("\n") == 5


def test_minus_one_in_a_statap_file_is_sampled_and_unjudged(cli: Cli, empty: Path) -> None:
    """It makes a pool entry with its probability and no judgement."""
    write(empty / "p", "1 a 1 1 0.5", "1 b -1 1 0.25")
    answer = bring(cli, "statap").fine()
    assert "p: pool sample-me: 2 documents sampled" in answer.err
    assert "p: sampled but not judged: 1 document" in answer.err
    assert written(cli, "statap", "--pool", "sample-me") == ["1 a 1 1 0.5"]
    [row] = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [row[name] for name in ("pooled", "judged", "unjudged")] == [2, 1, 1]


def test_grade_minus_one_of_the_scale_has_no_place_in_xinfap(cli: Cli, here: Path) -> None:
    """In statap it is a grade; in xinfap it would mean "not sampled", and is refused."""
    cli("init", "--scale", "-1-1").fine()
    write(here / "p", "1 a -1 1 0.5", "1 b 1 1 0.5")
    bring(cli, "statap").fine()
    assert written(cli, "statap", "--pool", "sample-me") == read_lines(here / "p")
    write(here / "p", "1 0 a 1 0", "1 0 b 1 1", "1 0 c 1 -1")
    bring(cli, "xinfap", "--as-pool", "x", "--replace").fine()
    write(here / "q", "1 0 a -1")
    cli("import", "judgements", "q", "--judge", "me", "--replace").fine()
    refused = cli("export", "prels", "--as", "xinfap", "--pool", "x", "--qrels", "me").failed(1)
    assert "grade -1 of the scale would mean `not sampled` in an xinfap file" in refused.err


def test_map_code_lenient_and_gzip_work_as_for_qrels(cli: Cli, empty: Path) -> None:
    """Options of `import judgements` mean the same for samples."""
    text = "# by hand\n1 0 a 1 9\n1 0 b 1 -2 gray\n1 0 c 1 -1\n"
    (empty / "p").write_bytes(gzip.compress(text.encode()))
    bring(cli, "xinfap", "--map", "9=2", "--code", "-2=unjudged").failed(1)
    answer = bring(cli, "xinfap", "--map", "9=2", "--code", "-2=unjudged", "--lenient").fine()
    assert "text after field 5 was ignored on 1 lines; is it a prels file?" in answer.err
    assert "p: pool sample-me: 2 documents sampled, 1 not sampled" in answer.err
    assert "p: sampled but not judged: 1 document" in answer.err
    lines = written(cli, "xinfap", "--pool", "sample-me")
    assert lines == ["1 0 a 1 2", "1 0 b 1 -1", "1 0 c 1 -1"]


def test_same_file_again_changes_nothing(cli: Cli, empty: Path) -> None:
    """A second import adds neither judgement nor pool; another file gets a pool of its own."""
    write(empty / "p", *XINFAP)
    bring(cli, "xinfap").fine()
    assert "nothing new, 5 judgements already there of me" in bring(cli, "xinfap").fine().err
    with Collection("collection.db") as opened:
        assert [pool.name for pool in opened.pools.all()] == ["sample-me"]
    write(empty / "p", *XINFAP[:-1])
    assert "pool sample-me-2" in bring(cli, "xinfap").fine().err
    refused = bring(cli, "xinfap", "--as-pool", "sample-me").failed(3)
    assert "there is another pool named `sample-me`" in refused.err


def test_file_of_another_format_is_refused_and_nothing_is_taken(cli: Cli, empty: Path) -> None:
    """The hint names the format that it could be."""
    write(empty / "p", *XINFAP)
    assert "could be xinfap lines" in bring(cli, "statap").failed(1).err
    write(empty / "p", *STATAP)
    assert "could be statap lines" in bring(cli, "xinfap").failed(1).err
    write(empty / "p", "1 0 a 1", "1 0 b 0")
    assert "as those of a qrels file" in bring(cli, "xinfap").failed(1).err
    with Collection("collection.db") as opened:
        assert (opened.pools.all(), opened.judges.all()) == ([], [])


def test_faults_of_what_the_lines_mean_are_told_with_lines(cli: Cli, judged: Path) -> None:
    """Grades off the scale, with their numbers; unknown topics and docnos, counted."""
    write(judged / "p", "G01 0 KG-E-001 1 3", "G01 0 KG-E-002 1 -1", "G01 0 KG-E-003 1 -2")
    refused = bring(cli, "xinfap").failed(1)
    assert "p:1: expected a grade of the scale (0, 1, 2), got 3" in refused.err
    assert "p:3: expected a grade of the scale (0, 1, 2), got -2" in refused.err
    assert "p:2" not in refused.err
    write(judged / "p", "G99 KG-E-001 1 0 1", "G01 XX-1 1 0 1")
    refused = bring(cli, "statap").failed(1)
    assert "p: 1 of 2 topics (1 line) not in the collection: `G99`" in refused.err
    assert "p: 1 of 2 docnos (1 line) not in the collection: `XX-1`" in refused.err


def test_what_cannot_be_is_refused_in_words(cli: Cli, judged: Path) -> None:
    """Pools that are no samples, unknown pools, no format, and columns that name no judge."""
    export = ("export", "prels", "--qrels", "strict")
    refused = cli(*export, "--as", "xinfap").failed(1)
    assert "pool `pool` has no strata" in refused.err
    refused = cli(*export, "--as", "statap").failed(1)
    assert "pool `pool` has no inclusion probabilities" in refused.err
    assert "unknown pool `poll`" in cli(*export, "--as", "statap", "--pool", "poll").failed(1).err
    cli(*export).failed(2)
    cli(*export, "--as", "trec").failed(2)
    write(judged / "p", *STATAP)
    column = cli("import", "judgements", "p", "--as", "statap", "--judge-column", "2").failed(1)
    assert "`--judge-column` is for qrels; no column of a sample names a judge" in column.err
    bring(cli, "statap", "--allow-unknown").fine()
    both = ("--kinds", "model,imported")
    refused = by_rule(cli, "export", "prels", "--as", "xinfap", "--pool", "sample-me", *both).failed(1)
    assert "28 documents undecided" in refused.err
    refused = cli(*export, "--as", "xinfap", "--pool", "sample-me").failed(1)
    assert "pool `sample-me` has no strata" in refused.err


def test_earlier_result_is_replaced_and_another_file_is_not(cli: Cli, empty: Path) -> None:
    """`--out` spares a file that is no earlier result, as every export does."""
    write(empty / "p", *XINFAP)
    bring(cli, "xinfap").fine()
    export = ("export", "prels", "--as", "xinfap", "--pool", "sample-me", "--out")
    assert "already exists, and is not an earlier result" in cli(*export, "p").failed(1).err
    first = cli(*export, "out").fine()
    assert first.out == ""
    cli(*export, "out").fine()
    assert Counter(read_lines(empty / "out")) == Counter(XINFAP)
