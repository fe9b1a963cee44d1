"""What a change of pools does to documents and judges: against sets, and as `--dry-run` says."""

from __future__ import annotations

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

from pooler.pools.change import ChangeCount, PooledWhen, StatesInPool, n_judgements
from store.judging.states import IfPooled, PairState
from store.records import Assignable, State
from tests.helpers.run import Cli, run_inside, write, write_run

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
