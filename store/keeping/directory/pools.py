"""Pools: the entries of each in a table, its plan beside it, and a list of all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Row, select

from store.db.tables import POOL, POOL_ENTRY, POOL_RUN, POOL_TOPIC, RUN
from store.formats.syntax.json_lines import once
from store.keeping.directory.tables import (
    DOCUMENT_OF,
    FLOAT,
    MOST,
    TIME,
    TOPIC_OF,
    YES_NO,
    FileColumn,
    FileTable,
    Incoming,
    Outgoing,
    file_stems,
    or_none,
    whole,
)
from store.text import natural_key, sanitise_line

POOLS = FileTable(
    "pools.tsv",
    "pools, the oldest first",
    (
        FileColumn("name"),
        FileColumn("round"),
        FileColumn("withdrawn", YES_NO, " (yes = no longer in use), "),
        FileColumn("display_order"),
        FileColumn("entries", about=" and "),
        FileColumn("plan", about=" (files), "),
        FileColumn("created_at", TIME),
    ),
    into="pool",
    counts="pools",
    key=("name",),
    again="expected each pool once, got `{name}` again",
    numbers="pools",
)
ENTRIES = FileTable(
    "pools/",
    "entries",
    (
        TOPIC_OF,
        DOCUMENT_OF,
        FileColumn("position", whole()),
        FileColumn("priority", or_none(FLOAT)),
        FileColumn("stratum", or_none(whole())),
        FileColumn("inclusion_probability", or_none(FLOAT)),
        FileColumn("sampled", YES_NO, " (no = not to be judged)"),
    ),
    into="pool_entry",
    counts="pool_entries",
    key=("topic_id", "document_id"),
    again="expected each document once a topic, got it again",
    is_needed=True,
)
_RUN_KEYS = {"runs", "unpooled"}
"""Keys of a plan whose lists name runs."""
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
    POOLS.write(out, rows)
    for pool in pools:
        stem = stems[names[pool.id]]
        n_entries = ENTRIES.write(out, _entries(out, pool), f"pools/{stem}.tsv")
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


def _plan(out: Outgoing, pool: Row[Any]) -> str:
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
    return json.dumps(plan, indent=1, sort_keys=True) + "\n"


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
    files: list[tuple[int, str, dict[str, Any]]] = []

    def take(row: dict[str, Any]) -> str | None:
        entries, file = row.pop("entries"), row.pop("plan")
        absent = [one for one in (entries, file) if one not in coming.files]
        if absent:
            return f"expected a file of the manifest, got {absent[0]!r}"
        plan = _load_plan(coming, file)
        files.append((row["id"], entries, {**plan, "file": file}))
        row["manifest"] = json.dumps(plan["manifest"], sort_keys=True)
        return None

    POOLS.fill(coming, take)
    for pool_id, entries, plan in files:
        own = {"pool_id": pool_id}
        ENTRIES.fill(coming, file=entries, pool_id=pool_id)
        if not len(coming.faults):
            coming.insert(POOL_RUN, [{**own, "run_id": run} for run in _runs(coming, plan)])
            budgets = _budgets(coming, plan)
            coming.insert(
                POOL_TOPIC, [{**own, "topic_id": topic, "budget": n} for topic, n in budgets.items()]
            )


def _load_plan(coming: Incoming, file: str) -> dict[str, Any]:
    """Read a plan; of what is none, the fault is told."""
    empty: dict[str, Any] = {"budgets": {}, "manifest": {}, "runs": []}
    try:
        with open(coming.path(file), "rb") as stream:  # noqa: PTH123 - a path in text
            plan = json.loads(stream.read(), object_pairs_hook=once)
            json.dumps(plan, allow_nan=False)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        coming.tell(file, line, f"expected JSON, got: {error}")
        return empty
    if isinstance(plan, dict) and {key: type(plan[key]) for key in plan} == {
        key: type(value) for key, value in empty.items()
    }:
        return plan
    coming.tell(file, None, "expected an object of `budgets`, `manifest` and `runs`")
    return empty


def _runs(coming: Incoming, plan: Mapping[str, Any]) -> list[int]:
    """Return the row ids of the runs that fed a pool."""
    runs: list[int] = []
    for tag in plan["runs"]:
        run = coming.runs.get(tag) if isinstance(tag, str) else None
        if run is None or run in runs:
            coming.tell(plan["file"], None, f"expected tags of runs, each once, got {tag!r}")
        else:
            runs.append(run)
    return runs


def _budgets(coming: Incoming, plan: Mapping[str, Any]) -> dict[int, int]:
    """Return the budgets of a pool, by row ids of topics."""
    budgets = {}
    for topic, budget in plan["budgets"].items():
        if topic not in coming.topics or type(budget) is not int or not 0 <= budget <= MOST:
            message = f"expected a budget of a topic, got {topic!r}: {budget!r}"
            coming.tell(plan["file"], None, message)
        else:
            budgets[coming.topics[topic]] = budget
    return budgets
