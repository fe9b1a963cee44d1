"""Pools: the entries of each in a table, its plan beside it, and a list of all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Row, select

from store.db.tables import POOL, POOL_ENTRY, POOL_RUN, POOL_TOPIC, RUN
from store.formats.json_lines import once
from store.keeping.directory.tables import (
    DOCUMENT_OF,
    TOPIC_OF,
    FileTable,
    Incoming,
    Outgoing,
    file_stems,
    float_column,
    integer_column,
    moment_column,
    or_none,
    text_column,
    yes_no_column,
)
from store.text import natural_key, sanitise_line

POOLS = "pools.tsv"
_POOLS = FileTable(
    (
        text_column("name"),
        text_column("round"),
        yes_no_column("withdrawn"),
        text_column("display_order"),
        text_column("entries"),
        text_column("plan"),
        moment_column("created_at"),
    )
)
_ENTRIES = FileTable(
    (
        TOPIC_OF,
        DOCUMENT_OF,
        integer_column("position"),
        or_none(float_column("priority")),
        or_none(integer_column("stratum")),
        or_none(float_column("inclusion_probability")),
        yes_no_column("sampled"),
    )
)
_PLAN_KEYS = {"budgets", "manifest", "runs"}
_RUN_KEYS = {"runs", "unpooled"}
"""Keys of a plan whose lists name runs."""
_MOST = 2**31 - 1
_AGE = (POOL.c.created_at, POOL.c.name)
"""The order of pools; no row id shows."""


def pool_names(out: Outgoing) -> dict[int, str]:
    """Return the names of pools by row id; where judges have new names, so have their pools."""
    names: dict[int, str] = {}
    for row_id, name in out.session.execute(select(POOL.c.id, POOL.c.name).order_by(*_AGE)):
        wanted = new = out.disguise.within(name)
        number = 1
        while new in names.values():
            number += 1
            new = f"{wanted}-{number}"
        names[row_id] = new
    return names


def write_pools(out: Outgoing) -> None:
    """Write every pool, the oldest first, those withdrawn too."""
    pools = list(out.session.execute(select(POOL).order_by(*_AGE)))
    out.counts.update(pools=len(pools), pool_entries=0)
    if not pools:
        return
    names = pool_names(out)
    stems = file_stems(names.values())
    rows = (
        {
            **pool._mapping,
            "name": (name := names[pool.id]),
            "round": out.disguise.iteration(pool.round),
            "entries": f"pools/{stems[name]}.tsv",
            "plan": f"pools/{stems[name]}.json",
        }
        for pool in pools
    )
    _POOLS.write(out, POOLS, rows)
    for pool in pools:
        stem = stems[names[pool.id]]
        n_entries = _ENTRIES.write(out, f"pools/{stem}.tsv", _entries(out, pool))
        out.counts["pool_entries"] += n_entries
        out.writer.write(f"pools/{stem}.json", _plan(out, pool))
        out.how.append(_words(stem, n_entries, pool))


def _words(stem: str, n_entries: int, pool: Row[Any]) -> str:
    """Say in a sentence how a pool came about."""
    manifest = json.loads(pool.manifest)
    strategy = sanitise_line(str(manifest.get("strategy", "not known"))).replace("`", "'")
    parameters = manifest.get("parameters")
    if isinstance(parameters, dict):
        known = (f"{key} {value}" for key, value in sorted(parameters.items()))
        strategy += sanitise_line("".join(f", {one}" for one in known)).replace("`", "'")
    end = "; withdrawn." if pool.withdrawn else "."
    return f"Pool `{stem}`: {n_entries:,} entries by strategy `{strategy}`{end}"


def _entries(out: Outgoing, pool: Row[Any]) -> Iterator[Mapping[Any, Any]]:
    """Yield the entries of a pool: topics in natural order, then by position."""
    of_pool = POOL_ENTRY.c.pool_id == pool.id
    topics = set(out.session.scalars(select(POOL_ENTRY.c.topic_id).where(of_pool).distinct()))
    for topic_id in sorted(topics, key=lambda one: natural_key(out.topics[one])):
        query = select(POOL_ENTRY).where(of_pool, POOL_ENTRY.c.topic_id == topic_id)
        rows = out.session.execute(query).mappings()
        yield from sorted(rows, key=lambda row: (row["position"], out.documents[row["document_id"]]))


def _plan(out: Outgoing, pool: Row[Any]) -> bytes:
    """Write how a pool was chosen: its manifest, the runs that fed it, and its budgets."""
    budgets = out.session.execute(
        select(POOL_TOPIC.c.topic_id, POOL_TOPIC.c.budget).where(POOL_TOPIC.c.pool_id == pool.id)
    )
    runs = out.session.scalars(
        select(RUN.c.tag)
        .join(POOL_RUN, POOL_RUN.c.run_id == RUN.c.id)
        .where(POOL_RUN.c.pool_id == pool.id)
        .order_by(RUN.c.tag)
    )
    plan = {
        "budgets": {out.topics[topic]: budget for topic, budget in budgets},
        "manifest": _plan_manifest(out, json.loads(pool.manifest)),
        "runs": list(runs) if out.export_choice.runs else [],
    }
    return (json.dumps(plan, indent=1, sort_keys=True) + "\n").encode()


def _plan_manifest(out: Outgoing, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a pool as it is written: judges as named; without runs, none named."""
    written = out.disguise.manifest(manifest)
    if not out.export_choice.runs:
        # Readers of a plan look for its runs: an empty list, and how many there were.
        for key in _RUN_KEYS & written.keys():
            count = f"{key}_left_out"
            written[count] = written.get(count, 0) + len(written[key])
            written[key] = []
    return written


def read_pools(coming: Incoming) -> None:
    """Read what `write_pools` wrote."""
    if POOLS not in coming.files:
        return
    faults = coming.faults.of(POOLS)
    names: dict[str, int] = {}
    files: list[tuple[int, str, str]] = []

    def rows() -> Iterator[dict[str, Any]]:
        for line, row in _POOLS.read(coming, POOLS):
            name, entries, plan = row["name"], row.pop("entries"), row.pop("plan")
            absent = [file for file in (entries, plan) if file not in coming.files]
            if name in names:
                faults.add(line, f"expected each pool once, got `{name}` again", "duplicate")
            elif absent:
                message = f"expected a file of the manifest, got {absent[0]!r}"
                faults.add(line, message, "unknown")
            else:
                names[name] = len(names) + 1
                files.append((names[name], entries, plan))
                yield {"id": names[name], **row, "manifest": _manifest(coming, plan)}

    coming.insert(POOL, rows())
    for pool_id, entries, plan in files:
        coming.insert(POOL_ENTRY, _entry_rows(coming, pool_id, entries))
        _read_plan(coming, pool_id, plan)


def _entry_rows(coming: Incoming, pool_id: int, file: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a pool's entries."""
    faults = coming.faults.of(file)
    seen: set[tuple[int, int]] = set()
    for line, row in _ENTRIES.read(coming, file):
        pair = row["topic_id"], row["document_id"]
        if 0 in pair:
            continue
        if pair in seen:
            faults.add(line, "expected each document once a topic, got it again", "duplicate")
            continue
        seen.add(pair)
        yield {"pool_id": pool_id, **row}


def _load_plan(coming: Incoming, file: str) -> dict[str, Any] | None:
    """Read a plan; ``None`` = it is none, and the fault is told."""
    try:
        with open(coming.path(file), "rb") as stream:  # noqa: PTH123 - a path in text
            plan = json.loads(stream.read(), object_pairs_hook=once)
            json.dumps(plan, allow_nan=False)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        coming.faults.of(file).add(line, f"expected JSON, got: {error}", "json")
        return None
    if (
        not isinstance(plan, dict)
        or plan.keys() != _PLAN_KEYS
        or not isinstance(plan["manifest"], dict)
        or not isinstance(plan["budgets"], dict)
        or not isinstance(plan["runs"], list)
    ):
        message = "expected an object of `budgets`, `manifest` and `runs`"
        coming.faults.of(file).add(None, message, "fields")
        return None
    return plan


def _manifest(coming: Incoming, file: str) -> str:
    """Return the manifest of a pool as the store keeps it."""
    plan = _load_plan(coming, file)
    return "{}" if plan is None else json.dumps(plan["manifest"], sort_keys=True)


def _read_plan(coming: Incoming, pool_id: int, file: str) -> None:
    """Read the runs and budgets of a pool."""
    plan = None if len(coming.faults) else _load_plan(coming, file)
    if plan is None:
        return
    faults = coming.faults.of(file)
    runs = []
    for tag in plan["runs"]:
        if not isinstance(tag, str) or tag not in coming.runs or coming.runs[tag] in runs:
            faults.add(None, f"expected tags of runs, each once, got {tag!r}", "unknown")
        else:
            runs.append(coming.runs[tag])
    budgets = {}
    for topic, budget in plan["budgets"].items():
        if topic not in coming.topics or type(budget) is not int or not 0 <= budget <= _MOST:
            faults.add(None, f"expected a budget of a topic, got {topic!r}: {budget!r}", "budget")
        else:
            budgets[coming.topics[topic]] = budget
    coming.insert(POOL_RUN, ({"pool_id": pool_id, "run_id": run} for run in runs))
    coming.insert(
        POOL_TOPIC, ({"pool_id": pool_id, "topic_id": topic, "budget": n} for topic, n in budgets.items())
    )
