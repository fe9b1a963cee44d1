"""Pools that change: added to, replaced, dropped, compared; what that does to documents and judges."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler import pool, pool_diff
from pooler.pools.change import ChangeCount, PooledWhen, PoolSide, StatesInPool, by_topic, n_judgements
from pooler.pools.change import pool_diff as sides_of
from store.judging.states import IfPooled, PairState
from store.records import Assignable, State
from tests.helpers.fixtures import made_once
from tests.helpers.run import Cli, read_lines, run_inside, write, write_run
from tests.helpers.trec_covid import data_path

_PART = re.compile(
    r"^(new|leaving|staying): ([\d,]+) documents?(?:: ([\d,]+) judged, ([\d,]+) cannot be judged,"
    r" ([\d,]+) skipped, ([\d,]+) unjudged)?",
    re.MULTILINE,
)
_OUTSIDE = re.compile(r"^judged outside every pool: ([\d,]+) before, ([\d,]+) after$", re.MULTILINE)
_COST = re.compile(r"^(?:at most )?([\d,]+) judgements?: ", re.MULTILINE)


def number(text: str | None) -> int:
    """Read a number with commas; nothing is 0."""
    return int((text or "0").replace(",", ""))


def planned(words: str) -> dict[str, tuple[int, ...]]:
    """Return documents, judged, cannot, skipped and unjudged by part; outside before and after; the cost."""
    found = {part[1]: tuple(map(number, part.groups()[1:])) for part in _PART.finditer(words)}
    outside, cost = _OUTSIDE.search(words), _COST.search(words)
    assert outside is not None
    return found | {
        "outside": tuple(map(number, outside.groups())),
        "cost": (number(cost[1] if cost else None),),
    }


POOLS = ("main", "late", "deep")
PAIRS = st.tuples(st.sampled_from("12"), st.sampled_from("abcdefg"))
STANDINGS = st.builds(PairState, st.frozensets(st.sampled_from(POOLS)), st.sampled_from(list(State)))


@given(
    now=st.dictionaries(PAIRS, STANDINGS),
    whole=st.sets(st.sampled_from(POOLS)),
    partly=st.dictionaries(st.sampled_from(POOLS), st.sets(PAIRS)),
    added=st.lists(PAIRS),
)
def test_any_change_is_counted_as_sets_would_be(
    now: dict[tuple[str, str], PairState],
    whole: set[str],
    partly: dict[str, set[tuple[str, str]]],
    added: list[tuple[str, str]],
) -> None:
    """Pools as sets before and after: differences and intersection, split by state."""
    leaving = {**partly, **dict.fromkeys(whole, None)}
    count = ChangeCount(now, leaving)
    count.add(added[:2])
    count.add(added[2:])
    change = count.finish()
    pools = {name: {pair for pair, one in now.items() if name in one.pools} for name in POOLS}
    before = set().union(*pools.values())
    for name in whole:
        pools[name] = set()
    for name in partly.keys() - whole:
        pools[name] = pools[name] - partly[name]
    after = set().union(*pools.values(), added)
    judged = {pair for pair, one in now.items() if one.state is State.JUDGED}
    expected = {
        PooledWhen.NEW: after - before,
        PooledWhen.LEAVING: before - after,
        PooledWhen.STAYING: before & after,
    }
    states = {pair: one.state for pair, one in now.items()}
    for part, pairs in expected.items():
        for topic in "12":
            of_topic = [pair for pair in pairs if pair[0] == topic]
            found = change.by_topic.get(topic, {}).get(part, StatesInPool())
            assert found.documents == len(of_topic)
            for state in State:
                in_state = [p for p in of_topic if states.get(p, State.UNJUDGED) is state]
                assert getattr(found, state.value) == len(in_state)
        assert change.total(part).documents == len(pairs)
    assert set(change.new) == expected[PooledWhen.NEW]
    assert len(change.new) == len(set(change.new))
    assert (change.outside_before, change.outside_after) == (len(judged - before), len(judged - after))


NEW = tuple(Assignable("1", docno) for docno in "abcd")


@pytest.mark.parametrize(
    ("judges", "plan", "drawable", "expected"),
    [
        # Four documents for two judges are eight judgements, less the one that ann has made.
        (("ann", "ben"), None, 0, 7),
        (("ben",), None, 0, 4),
        # Two judges each, and of a plan whoever decided has done one.
        (("ann",), {"per_document": 2}, 0, 7),
        # One judge each, three for half of them: 2 + 2 x 3 - 1.
        (("ann", "ben"), {"per_document": 1, "overlap": 0.5, "overlap_judges": 3}, 0, 7),
        (("ann", "ben"), None, 3, 13),
        # One to all three judges, one of the others to two, two to one: 3 + 2 + 2 - 1.
        (("ann", "ben"), {"calibration": 1, "overlap": 0.25, "judges": ["ann", "ben", "gpt"]}, 0, 6),
    ],
)
def test_judgements_are_counted_by_document(
    judges: tuple[str, ...], plan: dict[str, Any] | None, drawable: int, expected: int
) -> None:
    """Every judge judges everything unless documents are assigned; what is decided is done."""
    new = (Assignable("1", "a", decided=frozenset({"ann"})), *NEW[1:])
    assert n_judgements(IfPooled(new, judges, plan), drawable=drawable) == expected


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pool abc of topic 1 and efg of topic 2; ann grades a 0, skips b and gives up on c.

    An imported file grades d of topic 1, and z of topic 2, in no pool.
    """
    folder = tmp_path_factory.mktemp("pooled")

    def call(*arguments: str | Path) -> None:
        run_inside(*arguments, "--collection", folder / "collection.db").fine()

    call("init", "--scale", "0-2")
    call("import", "runs", folder / write_run(folder, "first", {"1": "abcd", "2": "efg"}))
    call("pool", "--depth", "3", "--round", "1")
    call("judges", "add", "ann", "ben")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO("0\ns\nc 1\nq\n"))
        call("judge", "--judge", "ann", "--plain", "--min-dwell", "0", "--topic", "1")
    write(folder / "q.txt", "1 9 d 2", "2 9 z 1")
    call("import", "judgements", folder / "q.txt", "--judge", "old", "--allow-unknown")
    return folder


@pytest.fixture
def pooled(here: Path, prepared: Path) -> Path:
    """Work in a copy of it."""
    shutil.copytree(prepared, here, dirs_exist_ok=True)
    return here


def digest(folder: Path) -> dict[str, str]:
    """Return the hash of the collection, its log read into it, and of the files beside it."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if not path.name.endswith(("-shm", "-wal"))
    }


def test_dry_run_says_what_a_deeper_pool_adds(cli: Cli, pooled: Path) -> None:
    """By hand: d of topic 1 is new, and judged by the file; g of topic 2 was pooled at depth 3."""
    before = digest(pooled)
    options = ("pool", "--add", "--depth", "4", "--out", "new.txt", "--dry-run")
    answer = cli(*options).fine()
    # Both people would be shown d: neither has graded it.
    assert planned(answer.err) == {
        "new": (1, 1, 0, 0, 0),
        "leaving": (0, 0, 0, 0, 0),
        "staying": (6, 1, 1, 1, 3),
        "outside": (2, 1),
        "cost": (2,),
    }
    assert "2 judgements: how long is not known; every judge sees every document" in answer.err
    assert "pool `pool-2`, round 2: nothing was written, this is --dry-run" in answer.err
    assert digest(pooled) == before
    assert not (pooled / "new.txt").exists()


def test_dry_run_says_what_a_shallower_pool_leaves_out(cli: Cli, pooled: Path) -> None:
    """Depth 1 in place of 3 leaves b skipped, c given up, f and g unjudged without a pool."""
    answer = cli("pool", "--replace", "--depth", "1", "--dry-run").fine()
    assert planned(answer.err) == {
        "new": (0, 0, 0, 0, 0),
        "leaving": (4, 0, 1, 1, 2),
        "staying": (2, 1, 0, 0, 1),
        "outside": (2, 2),
        "cost": (0,),
    }
    assert "no further judgement is needed" in answer.err
    assert "the pool that is `pool` now would be withdrawn" in answer.err
    real = cli("pool", "--replace", "--depth", "1").fine()
    assert "0 documents new to the pools; 2 stay" in real.err
    words = "4 documents left without a pool: 0 judged, 1 cannot be judged, 1 skipped, 2 unjudged"
    assert words in real.err
    assert "the pool that was `pool` is withdrawn, and listed as `pool.replaced-1`" in real.err
    # Judgements stay, and what is not said is as before: the round, too.
    exported = cli("export", "qrels", "ann").fine().out
    assert exported.splitlines() == ["1 1 a 0"]
    pools = cli("show", "pools", "--format", "json").fine().json()
    assert [(row["pool"], row["round"], row["depth"], row["withdrawn"]) for row in pools] == [
        ("pool.replaced-1", "1", 3, True),
        ("pool", "1", 1, False),
    ]
    # Once more is the same, and changes nothing.
    assert "already there, unchanged" in cli("pool", "--replace").fine().err
    assert len(cli("show", "pools", "--format", "json").json()) == 2
    # Its former content can be written still.
    former = cli("export", "pool", "--name", "pool.replaced-1").fine().out.splitlines()
    assert former == ["1 a", "1 b", "1 c", "2 e", "2 f", "2 g"]


def test_replacing_keeps_what_is_not_said_and_takes_what_is(cli: Cli, pooled: Path) -> None:
    """Another strategy drops the old one's parameters; order, seed and budget are kept."""
    options = ("--seed", "7", "--order", "docno-asc", "--name", "other")
    cli("pool", "-s", "rrf", "--param", "k=3", "--budget", "2", *options).fine()
    cli("pool", "--replace", "--name", "other", "-s", "borda", "--manifest", "m.json").fine()
    manifest = json.loads((pooled / "m.json").read_text())
    assert (manifest["strategy"], manifest["parameters"]) == ("borda", {"depth": 100})
    kept = {name: manifest[name] for name in ("order", "seed", "budget", "round")}
    assert kept == {"order": "docno-asc", "seed": 7, "budget": 2, "round": "0"}


def test_what_takes_the_place_of_an_added_pool_leaves_out_the_same(cli: Cli, pooled: Path) -> None:
    """Documents of other pools stay out, and none of its own; a pool of nothing is refused.

    By hand: the first pool has abc and efg; the late run brings d, x, y and h, w, v. To depth 2
    that is x and h alone; to depth 4 every one.
    """
    late = write_run(pooled, "late", {"1": "axyd", "2": "ehwv"})
    cli("import", "runs", late).fine()

    def added() -> list[str]:
        return cli("export", "pool", "--name", "pool-2").fine().out.splitlines()

    cli("pool", "--add", "--depth", "2").fine()
    assert added() == ["1 x", "2 h"]
    deeper = ("pool", "--name", "pool-2", "--replace", "--depth", "4")
    dry = planned(cli(*deeper, "--dry-run").fine().err)
    assert (dry["new"][0], dry["leaving"][0]) == (4, 0)
    answer = cli(*deeper, "--manifest", "m.json").fine()
    assert "documents of other pools are left out, as `pool-2` did" in answer.err
    assert sorted(added()) == ["1 d", "1 x", "1 y", "2 h", "2 v", "2 w"]
    assert json.loads((pooled / "m.json").read_text())["without"]["pools"] == ["pool"]
    assert "already there, unchanged" in cli(*deeper).fine().err
    for more in ([], ["--dry-run"]):
        refused = cli("pool", "--name", "pool-2", "--replace", "-d", "1", *more).failed(1)
        assert "nothing would be left of pool `pool-2`: other pools have all of it" in refused.err
        assert "pooler pool drop --pool pool-2" in refused.err
    assert len(added()) == 6
    # A strategy that cannot leave anything out says so.
    answer = cli("pool", "--name", "pool-2", "--replace", "-s", "mtf", "--dry-run").fine()
    assert "left out documents of other pools; `mtf` cannot" in answer.err


def test_a_file_of_pairs_left_out_is_asked_for_again(cli: Cli, pooled: Path) -> None:
    """What `--minus` named is not kept, so it is warned of, unless it is named again."""
    write(pooled / "x.txt", "1 a")
    cli("pool", "--name", "less", "--minus", "x.txt", "--depth", "2").fine()
    again = ("pool", "--name", "less", "--replace", "--dry-run")
    answer = cli(*again).fine()
    assert "warning: pool `less` left out documents of other pools, or of a file" in answer.err
    answer = cli(*again, "--minus", "x.txt").fine()
    assert "warning: pool `less`" not in answer.err
    assert "already exists unchanged" in answer.err
    cli("pool", "--add", "--name", "pool-2", "--depth", "4", "--minus", "x.txt").fine()
    write(pooled / "x.txt", "1 zz")
    cli("pool", "--name", "pool-2", "--replace", "--minus", "x.txt").fine()
    answer = cli("pool", "--name", "pool-2", "--replace", "--dry-run").fine()
    assert "warning: pool `pool-2` left out the pairs of a file, too" in answer.err
    write(pooled / "x.txt", "1 a")
    said = cli("pool", "--name", "pool", "--replace", "--minus", "x.txt").fine().err
    assert "judgements stay; judged documents outside every pool: 2 now, 1 before" in said


def test_a_name_that_is_taken_is_refused_as_the_real_run_would(cli: Cli, pooled: Path) -> None:
    """`--dry-run` fails with the same words; the same pool is named as such."""
    dry = cli("pool", "--depth", "4", "--round", "1", "--dry-run").failed(3)
    real = cli("pool", "--depth", "4", "--round", "1").failed(3)
    assert dry.err.splitlines()[-2:] == real.err.splitlines()[-2:]
    assert "another pool named `pool` (depth 3, not 4)" in real.err
    assert "--replace withdraws the other" in real.err
    assert "--add without --name lists only what no pool has yet" in real.err
    same = cli("pool", "--depth", "3", "--round", "1", "--dry-run").fine()
    assert "already exists unchanged: nothing would change" in same.err
    assert planned(same.err)["staying"] == (6, 1, 1, 1, 3)
    cli("pool", "drop", "--pool", "pool").fine()
    gone = cli("pool", "--depth", "3", "--round", "1").failed(3)
    assert "another pool named `pool`, and it is withdrawn" in gone.err
    cli("pool", "--replace").fine()
    assert len(cli("export", "pool").fine().out.splitlines()) == 6


def test_an_adaptive_pool_says_what_it_may_draw(cli: Cli, pooled: Path) -> None:
    """What it draws is not known before: that many at most, and a cost of at most so many."""
    options = ("pool", "-s", "mtf", "--budget", "2", "--name", "live")
    answer = cli(*options, "--dry-run").fine()
    assert "new: 0 documents; 4 may be drawn\n" in answer.err
    assert "at most 8 judgements" in answer.err
    cli(*options).fine()
    other = (*options[:-3], "3", "--name", "live", "--replace")
    for more in (["--dry-run"], []):
        refused = cli(*other, *more).failed(3)
        assert "cannot be replaced by another adaptive pool" in refused.err
    assert len(cli("show", "pools", "--format", "json").json()) == 2


def test_assigned_documents_cost_what_the_plan_gives(cli: Cli, pooled: Path) -> None:
    """With one judge a document one new document is one judgement; then it is nobody's yet."""
    cli("assign", "ann", "ben", "--seed", "1").fine()
    assert planned(cli("pool", "--add", "--depth", "4", "--dry-run").fine().err)["cost"] == (1,)
    assert "not assigned yet: pooler assign --add" in cli("pool", "--add", "-d", "4").err


def test_dry_run_tells_the_cost_after_a_judge_is_renamed(cli: Cli, pooled: Path) -> None:
    """A plan names the judge by the new name; d, the one new document, is one judgement still."""
    cli("assign", "ann", "ben", "--seed", "1").fine()
    cli("judges", "rename", "ben", "bo").fine()
    assert planned(cli("pool", "--replace", "--depth", "4", "--dry-run").fine().err)["cost"] == (1,)


def test_what_comes_back_has_its_judge_still(cli: Cli, pooled: Path) -> None:
    """Six documents are assigned, four leave; of these four and d, that come then, d has nobody."""
    assert "6 documents of 2 topics, 6 assignments" in cli("assign", "ann", "ben", "--seed", "1").fine().err
    cli("pool", "--replace", "--depth", "1").fine()
    # Ann gave up on c, which is hers; b, f, g and d are to be judged.
    assert planned(cli("pool", "--replace", "--depth", "4", "--dry-run").fine().err)["cost"] == (4,)
    answer = cli("pool", "--replace", "--depth", "4").fine()
    assert "5 documents new to the pools" in answer.err
    assert "1 of 5 new documents not assigned yet: pooler assign --add" in answer.err
    assert "1 document of 1 topic, 1 assignment" in cli("assign", "--add").fine().err


def test_options_that_say_nothing_here_are_refused(cli: Cli, pooled: Path) -> None:
    """In words, before anything is read."""
    for options, words in (
        (("first.run", "--dry-run"), "`--dry-run` is for a collection"),
        (("first.run", "--replace"), "`--replace` is for a collection"),
        (("first.run", "--collection", "c.db"), "`--collection` and run files exclude each other"),
        (("--add", "--replace"), "`--add` and --replace exclude each other"),
        (("--name", ""), "`--name` must not be empty"),
    ):
        assert words in cli("pool", *options).failed(1).err


def test_unpool_says_what_falls_away(cli: Cli, pooled: Path) -> None:
    """By hand: of a b c and e f g ann decided on a and c; ben and she lose 6 and 4 judgements."""
    dry = cli("pool", "drop", "--pool", "pool", "--dry-run").fine()
    words = "no longer needed: 10 judgements: how long is not known; every judge sees every document"
    assert words in dry.err
    assert words in cli("pool", "drop", "first", "--dry-run").fine().err
    # Depth 1 keeps a and e: b and f and g go for both, c for ben alone.
    shallow = cli("pool", "--replace", "--depth", "1", "--dry-run").fine()
    assert "no longer needed: 7 judgements" in shallow.err
    live = ("pool", "-s", "mtf", "--budget", "2", "--name", "live")
    cli(*live).fine()
    # Four may be drawn, none is yet; two judges.
    assert "no longer needed: at most 8" in cli("pool", "drop", "--pool", "live", "--dry-run").fine().err
    assert "falls away" not in cli("pool", "drop", "first").fine().err


def test_cost_says_how_many_judges_a_document_has(cli: Cli, pooled: Path) -> None:
    """What was assigned last is carried on: the line of the cost says what that is."""
    options = ("pool", "--add", "--depth", "4", "--dry-run")
    assert "2 judgements: how long is not known; every judge sees" in cli(*options).fine().err
    cli("assign", "ann", "ben", "--seed", "1", "--overlap", "1").fine()
    answer = cli(*options).fine()
    words = "2 judgements: how long is not known; as last assigned: 1 judge per document, 2 for 100%"
    assert words in answer.err


def test_tables_that_cannot_be_written_are_refused_before_anything_changes(cli: Cli, pooled: Path) -> None:
    """A table and a column have to be there: the run stays in the pools until then."""
    before = digest(pooled)
    assert "unknown table `change`" in cli("pool", "drop", "first", "--table", "change").failed(1).err
    assert "unknown column `size`" in cli("pool", "drop", "first", "--sort", "size").failed(1).err
    assert digest(pooled) == before
    rows = cli("pool", "drop", "first", "--format", "tsv").fine().tsv()
    assert {row["docno"] for row in rows} == set("abcefg")


@pytest.fixture
@made_once
def two_runs(cli: Cli, here: Path) -> Path:
    """Pool two runs of two topics at depth 2 as round 1, and judge a of topic 1 and e of 2."""
    cli("init", "--scale", "0-2").fine()
    first = write_run(here, "first", {"1": "abc", "2": "ef"})
    second = write_run(here, "second", {"1": "bdz"})
    cli("import", "runs", first, second).fine()
    cli("pool", "--depth", "2", "--round", "1", "--order", "docno-asc").fine()
    write(here / "q.txt", "1 1 a 2", "2 1 e 0", "1 1 y 1")
    cli("import", "judgements", "q.txt", "--judge", "ann").fine()
    return here


def test_add_lists_only_what_is_new(cli: Cli, two_runs: Path) -> None:
    """A late run adds its own documents as the next round, planned as the first pool was."""
    cli("import", "runs", write_run(two_runs, "late", {"1": "ay", "2": "eg"})).fine()
    answer = cli("pool", "--add", "--out", "new.txt").fine()
    # The pool had a b d of topic 1, e f of topic 2; late brings a y and e g at depth 2.
    assert read_lines(two_runs / "new.txt") == ["1 y", "2 g"]
    assert "1 of the pairs are already judged, and stay so" in answer.err
    assert "pool `pool-2`, round 2, is in the collection" in answer.err
    manifest = json.loads((two_runs / "new.txt.manifest.json").read_text())
    assert (manifest["parameters"], manifest["order"]) == ({"depth": 2}, "docno-asc")
    status = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [(row["pooled"], row["judged"], row["outside"]) for row in status] == [(7, 3, 0)]
    exported = cli("export", "qrels", "ann").fine().out.splitlines()
    assert exported == ["1 1 a 2", "1 1 y 1", "2 1 e 0"]
    again = cli("pool", "--add").fine()
    assert "every document is in a pool already: nothing to add" in again.err


def test_add_takes_what_is_said_and_keeps_the_rest(cli: Cli, two_runs: Path) -> None:
    """Deeper with --add lists what the deeper pool has more, in the same order rule."""
    cli("pool", "--add", "--depth", "3", "--name", "deep", "--round", "1.5", "-o", "new.txt").fine()
    assert read_lines(two_runs / "new.txt") == ["1 c", "1 z"]
    manifest = json.loads((two_runs / "new.txt.manifest.json").read_text())
    assert (manifest["name"], manifest["round"], manifest["order"]) == ("deep", "1.5", "docno-asc")
    # Rounds count on from the highest: after 1 and 1.5 comes 2.
    cli("pool", "--add", "-s", "rrf", "--param", "k=1", "--depth", "9").fine()


def test_add_needs_a_pool_and_a_round_it_can_count(cli: Cli, two_runs: Path) -> None:
    """Without a pool built from runs, or without a number to count on, it says what to do."""
    cli("pool", "--name", "named", "--round", "spring", "--depth", "3").fine()
    cli("import", "runs", write_run(two_runs, "late", {"3": "q"})).fine()
    assert "round 2" in cli("pool", "--add").fine().err
    cli("init", "--scale", "0-2", "--collection", "empty.db").fine()
    cli("import", "runs", "first.run", "--collection", "empty.db").fine()
    answer = cli("pool", "--add", "--collection", "empty.db").failed(1)
    assert "--add needs a pool to add to" in answer.err
    cli("pool", "--round", "spring", "--collection", "empty.db").fine()
    answer = cli("pool", "--add", "--depth", "9", "--collection", "empty.db").failed(1)
    assert "`--round` must be given, since no round is a number" in answer.err


def test_unpool_shows_and_takes_out_what_a_run_alone_brought(cli: Cli, two_runs: Path) -> None:
    """The documents leave the pool, the judged one stays judged and counts as outside."""
    dry = cli("pool", "drop", "first", "--dry-run", "--format", "json").fine()
    rows = [(row["topic"], row["docno"], row["rank"], row["state"], row["grade"]) for row in dry.json()]
    # b is second's too; a, e and f are first's alone.
    assert rows == [("1", "a", 1, "judged", 2), ("2", "e", 1, "judged", 0), ("2", "f", 2, "unjudged", None)]
    assert "3 documents that only `first` brought would leave the pools; 2 of them are judged" in dry.err
    before = cli("export", "pool").fine().out
    assert cli("pool", "drop", "first", "--format", "json").fine().json() == dry.json()
    assert cli("export", "pool").fine().out.splitlines() == ["1 b", "1 d"]
    assert len(before.splitlines()) == 5
    status = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [(row["pooled"], row["judged"], row["outside"]) for row in status] == [(2, 0, 3)]
    # What is left is the pool of the other run alone.
    cli("pool", "second.run", "--depth", "2", "--order", "docno-asc", "-o", "alone.txt").fine()
    assert read_lines(two_runs / "alone.txt") == ["1 b", "1 d"]
    answer = cli("pool", "drop", "first").failed(1)
    assert "run `first` does not feed any pool, nor will it" in answer.err
    assert "nothing to take out: it was added with --late, or taken out before" in answer.err
    assert "pooler show runs first" in answer.err
    cli("show", "runs", "first").fine()
    # It feeds no later pool either.
    assert "depth 100 of 1 run" in cli("pool", "--name", "later").fine().err


def test_unpool_refuses_what_it_cannot_tell(cli: Cli, two_runs: Path) -> None:
    """Unknown names, replaced runs, and pools whose strategy looked at every run."""
    assert "unknown run `third`" in cli("pool", "drop", "third").failed(1).err
    assert "unknown pool `pol`" in cli("pool", "drop", "first", "--pool", "pol").failed(1).err
    cli("pool", "-s", "mtf", "--name", "live").fine()
    words = "what `mtf` chose depends on every run"
    assert words in cli("pool", "drop", "first", "--pool", "live").failed(1).err
    assert words in cli("pool", "drop", "first", "--dry-run").fine().err
    write_run(two_runs, "second", {"1": "xyz"})
    answer = cli("import", "runs", "second.run", "--replace").fine()
    assert "pooler pool --replace --name pool --dry-run says" in answer.err
    cli("pool", "--replace", "--name", "pool", "--dry-run").fine()
    words = "its run `second` has been replaced since"
    assert words in cli("pool", "drop", "first", "--pool", "pool").failed(1).err
    # Without --pool both pools keep what they have, and the run feeds no later one.
    answer = cli("pool", "drop", "first", "--format", "json").fine()
    assert answer.json() == []
    assert answer.err.count("keeps its documents") == 2
    assert "depth 100 of 1 run" in cli("pool", "--name", "later").fine().err


def test_a_run_that_has_fed_no_pool_yet_feeds_no_later_one(cli: Cli, two_runs: Path) -> None:
    """A run may be withdrawn before it is pooled; nothing leaves the pools, which is said."""
    cli("import", "runs", write_run(two_runs, "new", {"1": "vw"})).fine()
    before = cli("export", "pool").fine().out
    dry = cli("pool", "drop", "new", "--dry-run").fine()
    assert "run `new` has fed no pool yet\n`new` would contribute to no later pool" in dry.err
    answer = cli("pool", "drop", "new", "--format", "json").fine()
    assert answer.json() == []
    assert "`new` contributes to no later pool" in answer.err
    assert cli("export", "pool").fine().out == before
    assert "(left out: `new`, not contributing)" in cli("pool", "--add").fine().err


def test_what_was_taken_out_comes_back_on_demand_alone(cli: Cli, two_runs: Path) -> None:
    """Importing the same file again leaves the run out, and says so; --replace lets it in."""
    cli("pool", "drop", "first").fine()
    write(two_runs / "runs.tsv", "file\tgroup\tcontributes", "first.run\tg\tyes", "second.run\tg\tyes")
    answer = cli("import", "runs", "--runs", "runs.tsv").fine()
    assert "warning: `first`: already there, and left out of pools; --replace" in answer.err
    assert "nothing to add (left out: `first`, not contributing)" in cli("pool", "--add").fine().err
    answer = cli("import", "runs", "first.run", "--replace").fine()
    assert "left out" not in answer.err
    rows = cli("diagnose", "--table", "contributions", "--format", "json").fine().json()
    assert [(row["run"], row["group"]) for row in rows] == [("first", "g"), ("second", "g")]
    assert "3 pairs to judge" in cli("pool", "--add").fine().err


def test_a_pool_can_be_withdrawn(cli: Cli, two_runs: Path) -> None:
    """Its documents are in no pool, what is judged stays, and another pool may take them."""
    assert "`RUN` must be given, or --pool NAME" in cli("pool", "drop").failed(1).err
    assert "unknown pool `pol`" in cli("pool", "drop", "--pool", "pol").failed(1).err
    words = "pool `pool` would be withdrawn: 5 documents, of which 2 are judged"
    assert words in cli("pool", "drop", "--pool", "pool", "--dry-run").fine().err
    assert "is withdrawn" in cli("pool", "drop", "--pool", "pool").fine().err
    assert "was already withdrawn" in cli("pool", "drop", "--pool", "pool").fine().err
    status = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [(row["pooled"], row["outside"]) for row in status] == [(0, 3)]
    cli("pool", "--name", "again").fine()
    status = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [(row["pooled"], row["judged"], row["outside"]) for row in status] == [(7, 2, 1)]


def test_a_budget_with_add_counts_new_documents(cli: Cli, two_runs: Path) -> None:
    """Two more of every topic are two that no pool has, as far as there are any."""
    cli("import", "runs", write_run(two_runs, "late", {"1": "aqrst", "2": "e"})).fine()
    cli("pool", "--add", "-s", "take", "--depth", "5", "--budget", "2", "-o", "new.txt").fine()
    # By best rank: q at 2; then c, z (of the first two runs) and r at 3, the later docno first.
    assert read_lines(two_runs / "new.txt") == ["1 q", "1 z"]


@pytest.mark.slow
@pytest.mark.vector("TREC-COVID round 1: castorini/TREC-COVID, commit be3ed3f")
def test_late_runs_of_trec_covid(cli: Cli, here: Path) -> None:
    """To the 56 runs savantx_nist_run_3 adds 155 documents, of which 2 are judged; BBGhelani1 none."""
    with data_path("leaderboard.csv").open(encoding="utf-8", newline="") as file:
        names = [row["run"] for row in csv.DictReader(file) if row["contributed judgments"] == "yes"]
    runs = [data_path(f"runs-top120/{name}.gz") for name in names]
    late = data_path("runs-top120/savantx_nist_run_3.gz")
    options = ("--depth", "7", "--order", "docno-asc")
    cli("pool", *runs, *options, "-o", "56.txt").fine()
    assert len(read_lines(here / "56.txt")) == 6959
    cli("pool", *runs, late, *options, "--minus", "56.txt", "-o", "late.txt").fine()
    new = set(read_lines(here / "late.txt"))
    assert len(new) == 155
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", *runs).fine()
    cli("pool", *options, "--round", "1").fine()
    cli("import", "judgements", data_path("qrels-rnd1.txt.gz"), "--judge", "nist").fine()
    cli("import", "runs", late).fine()
    answer = cli("pool", "--add", "-o", "added.txt").fine()
    assert set(read_lines(here / "added.txt")) == new
    assert "2 of the pairs are already judged" in answer.err
    gone = cli("pool", "drop", "savantx_nist_run_3", "--format", "json").fine().json()
    assert {f"{row['topic']} {row['docno']}" for row in gone} == new
    assert sum(row["state"] == "judged" for row in gone) == 2
    # Its seven best of every topic are all pooled: counted by hand with a sorted list and a set.
    cli("import", "runs", data_path("runs-top120/BBGhelani1.gz")).fine()
    assert "nothing to add" in cli("pool", "--add").fine().err


def test_topics_without_a_pooled_document_are_named(cli: Cli, two_runs: Path) -> None:
    """By hand: the runs have topics 1 and 2; 3 to 14 come from a topics file, twelve in all."""
    write(two_runs / "t.tsv", *[f"{number}\ttitle {number}" for number in range(1, 15)])
    cli("import", "topics", "t.tsv").fine()
    words = (
        "warning: 12 of 14 topics without a pooled document: 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and"
        " 2 more; no contributing run has a document"
    )
    dry = cli("pool", "--depth", "3", "--name", "deep", "--dry-run").fine()
    assert words in dry.err
    assert words in cli("pool", "--depth", "3", "--name", "deep").fine().err
    # A late run alone has topic 3: an adaptive pool may draw from it, and one of 1 and 2 cannot.
    cli("import", "runs", write_run(two_runs, "late", {"3": "q"})).fine()
    live = cli("pool", "-s", "mtf", "--name", "live").fine()
    assert "warning: 11 of 14 topics without a pooled document: 4, 5" in live.err


SOME_PAIRS = st.sets(st.tuples(st.sampled_from(["9", "10", "a"]), st.sampled_from("xyz")))


@given(first=SOME_PAIRS, second=SOME_PAIRS)
def test_every_document_is_on_one_side(first: set[tuple[str, str]], second: set[tuple[str, str]]) -> None:
    """The three lists are the two differences and the intersection, sorted; topics add up."""
    found = sides_of(first, second)
    sides = {PoolSide.ONLY_A: first - second, PoolSide.ONLY_B: second - first, PoolSide.BOTH: first & second}
    assert {side: set(pairs) for side, pairs in found.items()} == sides
    for side, pairs in found.items():
        assert pairs == sorted(pairs, key=lambda p: (["9", "10", "a"].index(p[0]), p[1]))
        assert sum(len(parts[side]) for parts in by_topic(found).values()) == len(pairs)


@pytest.fixture(scope="module")
def prepared_pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pool two runs at depth 1 as `main`, then a late one with them at 2 as `deep`.

    main: a, b of topic 1; e of topic 2. deep: a, b, c, x of topic 1; e, f of topic 2.
    ann grades c 2 and a 0.
    """
    folder = tmp_path_factory.mktemp("two-pools")

    def call(*arguments: str | Path) -> None:
        run_inside(*arguments, "--collection", folder / "collection.db").fine()

    call("init", "--scale", "0-2")
    for tag, rows in {
        "x": ("1 Q0 a 1 2 x", "1 Q0 c 2 1 x", "2 Q0 e 1 2 x", "2 Q0 f 2 1 x"),
        "y": ("1 Q0 b 1 2 y", "1 Q0 c 2 1 y"),
        "late": ("1 Q0 c 1 2 late", "1 Q0 x 2 1 late"),
    }.items():
        write(folder / f"{tag}.run", *rows)
    call("import", "runs", folder / "x.run", folder / "y.run")
    call("pool", "--depth", "1", "--name", "main")
    call("import", "runs", folder / "late.run")
    call("pool", "--depth", "2", "--name", "deep", "--out", folder / "deep.txt")
    write(folder / "q.txt", "1 0 c 2", "1 0 a 0")
    call("import", "judgements", folder / "q.txt", "--judge", "ann")
    return folder


@pytest.fixture
def two_pools(here: Path, prepared_pair: Path) -> Path:
    """Work in a copy of it."""
    shutil.copytree(prepared_pair, here, dirs_exist_ok=True)
    return here


def test_diff_counts_sides_states_and_bringers(cli: Cli, two_pools: Path) -> None:
    """c, x of topic 1 and f of topic 2 are new; c is judged; who has them within depth 2."""
    answer = cli("pool", "diff", "main", "deep", "--format", "json")
    found = answer.fine().json()
    states = ("documents", "judged", "cannot", "skipped", "unjudged", "outside", "not_pooled")
    assert {row["what"]: tuple(row[name] for name in states) for row in found["summary"]} == {
        "only in A": (0, 0, 0, 0, 0, 0, 0),
        "only in B": (3, 1, 0, 0, 2, 0, 0),
        "in both": (3, 1, 0, 0, 2, 0, 0),
    }
    assert [(row["run"], row["documents"], row["alone"]) for row in found["runs"]] == [
        ("late", 2, 1),
        ("x", 2, 1),
        ("y", 1, 0),
    ]
    listed = [
        (row["topic"], row["docno"], row["state"], row["grade"], row["rank"], row["runs"])
        for row in found["documents"]
    ]
    assert listed == [
        ("1", "c", "judged", 2, 1, ["late", "x", "y"]),
        ("1", "x", "unjudged", None, 2, ["late"]),
        ("2", "f", "unjudged", None, 2, ["x"]),
    ]
    topics = {(row["topic"], row["what"]): row["documents"] for row in found["topics"]}
    assert topics == {
        ("1", "only in A"): 0, ("1", "only in B"): 2, ("1", "in both"): 2,
        ("2", "only in A"): 0, ("2", "only in B"): 1, ("2", "in both"): 1,
    }  # fmt: skip
    assert "2 topics of 2 differ" in cli("pool", "diff", "main", "deep", "--by-topic").fine().out
    table = cli("pool", "diff", "main", "deep").fine().out
    assert "A = pool `main`, B = pool `deep`" in table
    assert "brought by no run" not in table


def test_a_withdrawn_pool_keeps_its_states_apart(cli: Cli, two_pools: Path) -> None:
    """What it alone has is not pooled, or judged outside every pool; never unjudged."""
    cli("pool", "drop", "--pool", "deep").fine()
    answer = cli("pool", "diff", "main", "deep", "--format", "json").fine().json()
    (row,) = (row for row in answer["summary"] if row["what"] == "only in B")
    assert (row["judged"], row["unjudged"], row["outside"], row["not_pooled"]) == (0, 0, 1, 2)
    assert "B = pool `deep`, withdrawn" in cli("pool", "diff", "main", "deep").fine().out


def test_files_need_no_collection(cli: Cli, two_pools: Path) -> None:
    """Two files are compared as they are, one of them from stdin; states are not known."""
    write(two_pools / "other.txt", "1 a", "9 q")
    files = ("deep.txt", "other.txt", "--collection", "none.db", "--format", "json")
    answer = cli("pool", "diff", *files).fine()
    rows = {row["what"]: (row["documents"], row["judged"], row["reason"]) for row in answer.json()["summary"]}
    assert rows == {
        "only in A": (5, None, "no-collection"),
        "only in B": (1, None, "no-collection"),
        "in both": (1, None, "no-collection"),
    }
    assert "the state of the documents is not known" in answer.err
    piped = cli("pool", "diff", "deep.txt", "-", "--format", "json", stdin=b"1 a\n9 q\n").fine()
    assert [row["documents"] for row in piped.json()["summary"]] == [5, 1, 1]
    assert [row["not_pooled"] for row in piped.json()["summary"]] == [0, 1, 0]


def test_what_a_replaced_run_brought_is_not_known(cli: Cli, two_pools: Path) -> None:
    """A run of another file than the pool's says nothing; the others do."""
    write(two_pools / "late.run", "1 Q0 zz 1 2 late")
    cli("import", "runs", "late.run", "--replace").fine()
    answer = cli("pool", "diff", "main", "deep", "--format", "json").fine()
    assert "what `late` brought is not known" in answer.err
    assert [row["run"] for row in answer.json()["runs"]] == ["x", "y"]


def test_words_that_name_nothing_or_two_things_are_refused(cli: Cli, two_pools: Path) -> None:
    """An unknown pool names the known; a pool and a file of one name must be told apart."""
    answer = cli("pool", "diff", "main", "dep").failed(1)
    assert "unknown pool `dep`; known: `deep`, `main`" in answer.err
    write(two_pools / "deep", "1 a")
    answer = cli("pool", "diff", "main", "deep").failed(1)
    assert "`deep` is a pool of the collection, and a file here" in answer.err
    cli("pool", "diff", "main", "./deep").fine()
    assert "must not be `-` too" in cli("pool", "diff", "-", "-").failed(1).err
    assert "none.db" in cli("pool", "diff", "main", "deep", "--collection", "none.db").failed(3).err
    cli("pool", "diff", "main").failed(2)
    alone = cli("pool", "diff", "./deep", "main", "--collection", "none.db").failed(3)
    assert "main: there is no such file, and no none.db whose pool it could be" in alone.err


def test_the_word_diff_is_a_command_and_a_file_as_a_path(cli: Cli, two_pools: Path) -> None:
    """A run of that name is ./diff, or stands behind an option."""
    (two_pools / "diff").write_bytes((two_pools / "x.run").read_bytes())
    assert cli("pool", "./diff", "--depth", "1").fine().out == "1 a\n2 e\n"
    assert cli("pool", "--depth", "1", "diff").fine().out == "1 a\n2 e\n"


def test_pools_in_memory_and_files_are_compared_alike(tmp_path: Path) -> None:
    """A pool, the file it is written to, and the pairs in it are one and the same."""
    found = pool({"x": {"1": {"a": 3.0, "b": 2.0}}, "y": {"1": {"a": 1.0}, "10": {"c": 1.0}}}, depth=2)
    found.write(tmp_path / "pool.txt")
    for same in (found.pool, tmp_path / "pool.txt", {("1", "a"), ("1", "b"), ("10", "c")}):
        compared = pool_diff(same, {("1", "b"), ("2", "d")})
        assert (compared.only_a, compared.only_b) == ([("1", "a"), ("10", "c")], [("2", "d")])
        assert compared.both == [("1", "b")]
    assert compared.names() == ("summary", "topics", "documents")
    assert compared.table("summary").to_dict()["reason"] == ["no-collection"] * 3
    assert "judged" not in compared.views("summary")[0].columns
    assert compared.table("topics").notes == ["3 topics of 3 differ."]
