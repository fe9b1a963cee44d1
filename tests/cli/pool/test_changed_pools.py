"""Pools of TREC-COVID round 1 that change after judging began, against plain sets over run lines.

What is expected is counted here with dictionaries and sets alone. Judgements must survive every
change, and the states of documents stay apart after each.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from tests.cli.pool.dry_run import planned
from tests.helpers.run import Cli, read_lines, write
from tests.trec_covid import data_path, leaderboard

Pair = tuple[str, str]
LATE = "savantx_nist_run_3"
STATES = ("pooled", "judged", "cannot", "skipped", "unjudged", "outside")


@dataclass
class Expected:
    """The collection as sets."""

    runs: dict[str, Path]
    pools: dict[str, set[Pair]] = field(default_factory=dict)
    """Those in use, by name."""
    judged: set[Pair] = field(default_factory=set)
    skipped: set[Pair] = field(default_factory=set)
    cannot: set[Pair] = field(default_factory=set)

    def top(self, tag: str, depth: int) -> set[Pair]:
        """Return the first documents of a run: by score, ties by docno ascending."""
        ranked = sorted_lines(self.runs[tag])
        return {(topic, docno) for topic, found in ranked.items() for _, docno in found[:depth]}

    def union(self, tags: list[str], depth: int) -> set[Pair]:
        """Return the depth pool of some runs."""
        return set().union(*(self.top(tag, depth) for tag in tags))

    @property
    def pooled(self) -> set[Pair]:
        """What is in any pool."""
        return set().union(*self.pools.values())

    def states(self, pairs: set[Pair]) -> dict[str, int]:
        """Count documents by state: the judged first, then cannot, then skipped."""
        judged = pairs & self.judged
        cannot = (pairs & self.cannot) - judged
        skipped = (pairs & self.skipped) - judged - cannot
        rest = len(pairs) - len(judged) - len(cannot) - len(skipped)
        return {"documents": len(pairs), "judged": len(judged), "cannot": len(cannot),
                "skipped": len(skipped), "unjudged": rest}  # fmt: skip

    def row(self) -> dict[str, int]:
        """Return what `show topics` adds up to."""
        counts = self.states(self.pooled)
        counts["pooled"] = counts.pop("documents")
        return counts | {"outside": len(self.judged - self.pooled)}


@cache
def sorted_lines(path: Path) -> dict[str, list[tuple[float, str]]]:
    """Return the lines of a run by topic, the best score first, ties by docno ascending."""
    topics: dict[str, list[tuple[float, str]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            topic, _, docno, _, score, _ = line.split()
            topics.setdefault(topic, []).append((-float(score), docno))
    return {topic: sorted(found) for topic, found in topics.items()}


def pairs_in(path: Path) -> set[Pair]:
    """Read a pool file."""
    return {(topic, docno) for topic, docno in (line.split() for line in read_lines(path))}


def check_dry_run(
    cli: Cli, now: Expected, after: set[Pair], *command: str, replaced: str | None = None
) -> None:
    """Check what `--dry-run` says, and that it changes nothing."""
    before = now.pooled
    exported = cli("export", "pool", "--name", replaced or next(iter(now.pools))).fine().out
    parts = {"new": after - before, "leaving": before - after, "staying": before & after}
    expected = {what: tuple(now.states(pairs).values()) for what, pairs in parts.items()}
    outside = (len(now.judged - before), len(now.judged - after))
    found = planned(cli(*command, "--dry-run").fine().err)
    # Nothing is assigned: ann is to judge all that is new, but for what she has decided on.
    cost = len((after - before) - now.cannot) if after - before else 0
    assert found == expected | {"outside": outside, "cost": (cost,)}
    check_states(cli, now)
    assert cli("export", "pool", "--name", replaced or next(iter(now.pools))).out == exported


def check_states(cli: Cli, expected: Expected) -> None:
    """Check how all documents stand."""
    rows = cli("show", "topics", "--format", "json").fine().json()
    counts = Counter({name: sum(row[name] for row in rows) for name in STATES})
    assert counts == Counter(expected.row())


def check_state(cli: Cli, expected: Expected) -> None:
    """Check how all documents stand, and that every judgement is there."""
    check_states(cli, expected)
    lines = cli("export", "qrels", "nist").fine().out.splitlines()
    assert {(line.split()[0], line.split()[2]) for line in lines} == expected.judged


@pytest.mark.vector("TREC-COVID round 1: castorini/TREC-COVID, commit be3ed3f")
@pytest.mark.parametrize(
    ("n_runs", "depth", "deeper", "last_topic"),
    [(4, 5, 8, 8), pytest.param(16, 7, 20, 30, marks=pytest.mark.slow)],
)
def test_pools_change_and_judgements_stay(
    cli: Cli, here: Path, n_runs: int, depth: int, deeper: int, last_topic: int
) -> None:
    """Late run, deeper, shallower, a run replaced, one withdrawn: set differences all along."""
    names = sorted(n for n, row in leaderboard().items() if row["contributed judgments"] == "yes")
    paths = {name: data_path(f"runs-top120/{name}.gz") for name in [*names[:n_runs], LATE]}
    first, everyone = names[:n_runs], [*names[:n_runs], LATE]
    now = Expected(paths)
    common = ("--depth", str(depth), "--order", "docno-asc", "--round", "1", "--name", "first")
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", *[paths[name] for name in first]).fine()
    cli("pool", *common).fine()
    now.pools["first"] = now.union(first, depth)

    # Every other line of the qrels of some topics is judged; ann skips three and gives up on three.
    with gzip.open(data_path("qrels-rnd1.txt.gz"), "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if int(line.split()[0]) <= last_topic][::2]
    write(here / "half.qrels", *lines)
    cli("import", "judgements", "half.qrels", "--judge", "nist").fine()
    now.judged = {(line.split()[0], line.split()[2]) for line in lines}
    cli("judges", "add", "ann").fine()
    typed = b"s\n" * 3 + b"c 1\n" * 3 + b"q\n"
    options = ("--plain", "--min-dwell", "0", "--topic", "1")
    cli("judge", "--judge", "ann", *options, stdin=typed).fine()
    seen = sorted(docno for topic, docno in now.pools["first"] if topic == "1")
    now.skipped = {("1", docno) for docno in seen[:3]}
    now.cannot = {("1", docno) for docno in seen[3:6]}
    check_state(cli, now)
    counts = now.row()
    assert all(counts[name] for name in STATES if name not in ("skipped", "cannot"))

    # A late run.
    cli("import", "runs", paths[LATE]).fine()
    after = now.union(everyone, depth)
    assert after - now.pooled
    check_dry_run(cli, now, after, "pool", "--add")
    cli("pool", "--add", "--name", "late", "--out", "late.txt").fine()
    assert pairs_in(here / "late.txt") == after - now.pooled
    now.pools["late"] = after - now.pooled
    check_state(cli, now)
    found = cli("pool", "diff", "first", "late", "--format", "json").fine().json()
    assert {(row["topic"], row["docno"]) for row in found["documents"] if row["runs"] == [LATE]} == (
        now.top(LATE, depth) - now.union(first, depth)
    )

    # Deeper, under another name and round.
    deep = now.union(everyone, deeper)
    options = ("pool", "--depth", str(deeper), "--order", "docno-asc", "--name", "deep")
    check_dry_run(cli, now, now.pooled | deep, *options)
    answer = cli(*options, "--round", "3").fine()
    new = deep - now.pooled
    assert f"{len(new):,} documents new to the pools" in answer.err
    before = now.pooled
    now.pools["deep"] = deep
    check_state(cli, now)
    found = cli("pool", "diff", "first", "deep", "--format", "json").fine().json()
    listed = {(r["topic"], r["docno"]) for r in found["documents"] if r["what"] == "only in B"}
    assert listed == deep - now.pools["first"]
    (row,) = (row for row in found["summary"] if row["what"] == "only in B")
    assert {name: row[name] for name in ("judged", "cannot", "skipped", "unjudged")} == {
        name: n for name, n in now.states(listed).items() if name != "documents"
    }
    assert before < now.pooled

    # Shallower: the deep pool is replaced, and stays visible as withdrawn.
    shallow = now.union(everyone, depth + 1)
    kept = now.pools["first"] | now.pools["late"] | shallow
    options = ("pool", "--name", "deep", "--replace", "--depth", str(depth + 1))
    check_dry_run(cli, now, kept, *options, replaced="deep")
    cli(*options).fine()
    now.pools["deep"] = shallow
    check_state(cli, now)
    pools = {row["pool"]: row for row in cli("show", "pools", "--format", "json").fine().json()}
    assert (pools["deep.replaced-1"]["withdrawn"], pools["deep"]["round"]) == (True, "3")
    assert pools["deep.replaced-1"]["documents"] == len(deep)

    # A run is replaced by another file, and the pool it fed is made anew.
    with gzip.open(data_path(f"runs-top120/{names[-1]}.gz"), "rt", encoding="utf-8") as file:
        rows = [" ".join((*line.split()[:5], first[0])) for line in file]
    (here / "new.gz").write_bytes(gzip.compress("".join(f"{row}\n" for row in rows).encode()))
    cli("import", "runs", "new.gz", "--replace").fine()
    check_state(cli, now)
    now.runs = {**paths, first[0]: here / "new.gz"}
    anew = now.union(everyone, depth)
    options = ("pool", "--name", "first", "--replace")
    check_dry_run(cli, now, anew | now.pools["late"] | now.pools["deep"], *options)
    cli(*options).fine()
    now.pools["first"] = anew
    check_state(cli, now)

    # A run is withdrawn, from every pool that it fed and that can be told from the others.
    cli("pool", "--name", "deep", "--replace", "--round", "4").fine()
    now.pools["deep"] = now.union(everyone, depth + 1)
    cli("pool", "drop", "--pool", "late").fine()
    del now.pools["late"]
    check_state(cli, now)
    others = [tag for tag in everyone if tag != first[1]]
    left = {"first": now.union(others, depth), "deep": now.union(others, depth + 1)}
    check_dry_run(cli, now, set().union(*left.values()), "pool", "drop", first[1])
    cli("pool", "drop", first[1]).fine()
    now.pools = left
    check_state(cli, now)
    cli("verify").fine()
    manifests = json.dumps(cli("show", "pools", "first", "--format", "json").fine().known())
    assert first[1] not in manifests
