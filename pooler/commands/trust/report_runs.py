"""A page a run, for its submitter: its scores beside the others', its place, what it alone brought."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from pooler.command import Cutoff, Measured, Option, PoolDepth, command
from pooler.commands.measure.evaluate import Evaluation, evaluate
from pooler.commands.trust.diagnose import Diagnosis, diagnose
from pooler.commands.trust.sensitivity import SensitivityResult, ranks_below, sensitivity
from pooler.files import check_place, write_whole
from pooler.judge_kinds import models_sentence, voters_sentence
from pooler.messages import Listener, listening, progress, say, warn
from pooler.pages.page import Figure, ReportPage, Section, Verdict
from pooler.pages.report import Report, check_replaceable, figure, page_table, written_by
from pooler.result import Later, Result
from pooler.sources.command_lines import CommandLines
from pooler.sources.source import Source, opened_collection
from pooler.tables import REASON, RUN, TOPIC, Column, Plot, Show, Table, hidden, listed, tsv_lines
from store.analysis.agreement.intervals import FEW_TOPICS, RESAMPLES
from store.analysis.measures.names import MeasureName
from store.analysis.pools.contributions import NO_DOCUMENT, only_contributor, within_depth
from store.analysis.rankings import NOT_RELEVANT, RELEVANT, UNJUDGED
from store.analysis.run_order import TIED_MAP
from store.analysis.significance.places import Placed, best_median_worst, place_runs, places
from store.errors import ArgumentError, UnknownNameError
from store.text import counted

SEED = 1
"""Of the bootstrap."""
OUTCOMES = "relevant", "not relevant", "unjudged", "skipped", "cannot be judged", "undecided", "not pooled"
"""What judging found in a document."""
TIES = {
    "trec": "by docno, descending",
    "trec9": "by docno, descending, and scores have 32 bits, as in trec_eval 9.0.4",
    "docno-asc": "by docno, ascending",
    "rank": "by the rank in the file",
    "file": "by the lines of the file",
}
"""How equal scores are ordered, by `Order`."""
_BROUGHT = "run", "topic", "docno", "rank", "outcome", "grade"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 100
"""Characters of a file name, without its end."""


@command
def report_runs(
    source: Measured,
    path: Annotated[
        str | Path | None, Option("DIR", "A folder; pages that are there are replaced.", required=True)
    ] = None,
    *,
    only: Annotated[Sequence[str], Option("--for RUN", repeated=True, default="all")] = (),
    names: bool = False,
    measures: Annotated[Sequence[str | MeasureName], Option("--measure -m MEASURE", default="AP")] = ("AP",),
    depth: PoolDepth = None,
    cutoff: Cutoff = None,
) -> RunPages:
    """Write a page a run, to hand out to its submitter.

    A page has the run's score on each topic beside the best, the median and the worst of all runs, its place
    among them with an interval, the documents that no other run brought to the pool and what judging found in
    them, and how far unjudged documents could move it. Other runs, and what they alone retrieved, are not
    named. For the organiser a row a run, with the names of all, is in DIR-summary.tsv, beside the folder.

    Example: pooler report runs pages --qrels judgements/strict.qrels --runs runs.tsv --depth 5

    Example: pooler report runs pages --for bm25-words --qrels alice -m AP -m P@10

    only : Write the page of this run alone; may be repeated. It is compared with all runs all the same.
    names : Name the runs that are best on a topic.
    measures : A mean over topics, named as in `show measures`; may be repeated.

    Raises
    ------
    ArgumentError
        If a measure is no mean over topics, or something else is where a page is to be.
    UnknownNameError
        If a run or a measure is not known.

    Notes
    -----
    Without a path nothing is written. Intervals are those of `place_runs`; the median of an even number of
    runs is the upper of the two in the middle; all else is as of `evaluate`, `diagnose` and `sensitivity`.

    Examples
    --------
    >>> from pooler import report_runs
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "z": 1.0}}}
    >>> found = report_runs((runs, {"1": {"x": 1, "y": 0}}), depth=1)
    >>> found.table("topics").to_dict()["median"], found.table("summary").to_dict()["AP_place"]
    ([1.0, 1.0], [1, 2])
    """
    if path is not None:
        check_place(Path(path, "PAGE") if Path(path).exists() else path)
        check_place(summary_file(path))
    judged = source.judged  # read once, with docnos
    scored = evaluate(source, measures, cutoff=cutoff)
    for one in scored.scores:
        totals = np.nan_to_num(one.overall) * np.count_nonzero(~np.isnan(one.values), axis=1)
        if one.is_sum or not np.allclose(np.nansum(one.values, axis=1), totals):
            raise ArgumentError("measures", "must be a mean over topics", str(one.measure))
    if unknown := next((tag for tag in only if tag not in scored.runs), None):
        raise UnknownNameError("run", unknown, scored.runs)
    with listening(Listener()):  # what there is to say was said, or stands on the page
        diagnosis = diagnose(source, depth=depth, cutoff=cutoff)
        pool = diagnosis.found.pool
        depth = depth or (None if judged.pools or pool is None else pool.depth)
        flips = sensitivity(source, depth=depth, cutoff=cutoff) if depth or judged.pools else None
    name, titles = "", {}
    if not source.is_of_files:
        with opened_collection(source.collection) as opened:
            name, titles = opened.name, {one.topic: one.title for one in opened.topics.all()}
    for warning in diagnosis.warnings:
        warn(warning)
    found = RunPages(
        evaluation=scored,
        diagnosis=diagnosis,
        flips=flips,
        placed=tuple(place_runs(one.values, seed=SEED) for one in scored.scores),
        brought=_brought(source, diagnosis, depth),
        titles=titles,
        chosen=tuple(dict.fromkeys(only)) or scored.runs,
        settings=scored.settings,
    )
    about = _about(source, diagnosis, name)
    options = [word for one in scored.measures for word in ("-m", one)]
    line = CommandLines(source, judged.files, cutoff).of_files("evaluate", "--by-topic", *options)
    with progress("pages", len(found.chosen)) as advance:
        for tag in found.chosen:
            found.pages[tag] = Report(_page(found, tag, about, line, names=names))
            advance(1)
        if path is not None:
            found.write(path)
    return found


def summary_file(folder: str | Path) -> Path:
    """Return the file beside a folder of pages that names all runs: the folder may be handed out whole."""
    folder = Path(folder)
    return Path(f"{folder if folder.name else folder.absolute()}-summary.tsv")


def file_names(tags: Sequence[str]) -> list[str]:
    """Return a file name for the page of each run: plain characters, no two alike whatever their case.

    >>> file_names(["BM25", "bm25", "../a b", "語"])
    ['BM25.html', 'bm25-2.html', 'a_b.html', 'run.html']
    """
    found: dict[str, str] = {}
    for tag in tags:
        name = plain = _UNSAFE.sub("_", tag).strip("._-")[:_LONGEST] or "run"
        number = 1
        while name.lower() in found:
            number += 1
            name = f"{plain}-{number}"
        found[name.lower()] = f"{name}.html"
    return [*found.values()]


def _about(source: Source, diagnosis: Diagnosis, name: str) -> tuple[str, str]:
    """Say what the runs are measured with: for titles, and in a few sentences."""
    found, pool, qrels = diagnosis.found, diagnosis.found.pool, Path(source.qrels_name).name
    text = (
        f"Collection: {name}. " * bool(name)
        + f"Qrels: {qrels}, {counted(int(found.topics.judged.sum()), 'judgement')}; relevant = grade"
    )
    text += f" {diagnosis.judged.level} or more. Equal scores are ordered {TIES[source.order]}"
    text += f" (`--order {source.order}`)."
    if pool is not None:
        text += f" Depth of the pool: {pool.span}, of {counted(int(pool.contributing.sum()), 'run')}"
        text += f", equal scores {TIES[source.as_pooled.order]}" * (source.as_pooled is not source)
        text += f"{', as the judgements look' * (pool.source == 'inferred')}."
    return f"in {name}" if name else f"measured by {qrels}", text


def _brought(source: Source, diagnosis: Diagnosis, depth: int | None) -> Table | None:
    """List what one run alone brought to the pool, and its outcome; ``None``: the pool is not known."""
    found, judged = diagnosis.found, source.judged
    if found.pool is None:
        return None
    arrays, owners = found.pooling, np.arange(len(found.rankings.tags))
    pooled = within_depth(arrays, judged.depths(depth, arrays), found.pool.contributing)
    rows = []
    for column, topic in enumerate(arrays.topics):
        documents = np.where(pooled[:, column], arrays.documents[:, column], NO_DOCUMENT)
        states, ungraded = arrays.states[column], judged.pooled.get(topic, ())
        owner_of = np.append(only_contributor(documents, states.size, owners), -1)  # of no document
        for run, at in np.argwhere(owner_of[documents] == owners[:, np.newaxis]).tolist():
            tag, code = arrays.tags[run], documents[run, at]
            state, place = states[code], int(np.argmax(found.rankings.documents[run, column] == code))
            number = int(judged.ranked.rankings[tag, topic][place])
            docno, grade = judged.ranked.docnos[number], int(found.graded.grades[run, column, place])
            outcome = "relevant" if state == RELEVANT else "not relevant"
            if state == UNJUDGED:
                why = judged.left_out.get((topic, docno), "unjudged" if number in ungraded else "not pooled")
                outcome = why.replace("cannot", "cannot be judged")
            cells = (tag, topic, docno, at + 1, outcome, grade if state >= NOT_RELEVANT else None)
            rows.append(dict(zip(_BROUGHT, cells, strict=True)))
    columns = [Column(one, "int" if one in ("rank", "grade") else "text") for one in _BROUGHT]
    return Table.of_rows("brought_alone", columns, rows)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class RunPages(Result):
    """Pages of runs, and what stands on them.

    Tables: `summary`, a row a run; `topics`, a row a run that has a page, topic and measure; `brought_alone`,
    a row a document of the pool that one run alone brought, where a depth pool is known.
    """

    evaluation: Evaluation
    diagnosis: Diagnosis
    flips: SensitivityResult | None
    """``None``: the depth of the pool is not known."""
    placed: tuple[Placed, ...]
    """By measure, over runs."""
    brought: Table | None
    titles: Mapping[str, str]
    """Of topics, where a collection has them."""
    chosen: tuple[str, ...]
    """Runs that have a page."""
    pages: dict[str, Report] = field(default_factory=dict)
    """By run."""

    HAS_TOPICS = True

    @property
    def runs(self) -> tuple[str, ...]:
        """Axis of runs: of all that are compared."""
        return self.evaluation.runs

    def write(self, path: str | Path) -> None:
        """Write pages into a folder, which is made where there is none, and the summary beside it."""
        files = dict(zip(self.runs, (Path(path, name) for name in file_names(self.runs)), strict=True))
        summary = summary_file(path)
        for tag in self.pages:
            check_replaceable(files[tag])
        if summary.exists() and not summary.read_bytes().startswith(b"run\tpage\t"):
            raise ArgumentError("path", f"must have no other {summary.name} beside it", str(path))
        Path(path).mkdir(exist_ok=True)
        for tag, page in self.pages.items():
            write_whole(files[tag], [page.html.removesuffix("\n")])
        write_whole(summary, tsv_lines(self.table("summary")))
        say(f"{path}: {counted(len(self.pages), 'page')} to hand out")
        say(f"{summary}: {counted(len(self.runs), 'run')} by name, for you")

    def _tables(self) -> Iterator[Table | Later]:
        yield self._summary()
        yield Later(self._topics)
        if self.brought is not None:
            yield self.brought

    def _summary(self) -> Table:
        columns: dict[Column, Any] = {RUN: self.runs, hidden("page", "text"): file_names(self.runs)}
        limits = self.evaluation.interval.transpose(1, 0, 2)
        about = "the mean, as of every measure; json and tsv have intervals, too"
        for name, one, (low, high) in zip(self.evaluation.measures, self.placed, limits, strict=True):
            columns[Column(name, "float", about=about)], about = one.mean, ""
            columns |= {hidden(f"{name}_low"): low, hidden(f"{name}_high"): high}
            for end in ("place", "place_low", "place_high"):
                show: Show = "always" if end == "place" else "never"
                cells = [None if np.isnan(place) else int(place) for place in getattr(one, end)]
                columns[Column(f"{name}_{end}", "int", "place", "1 = the best", show=show)] = cells
        outcomes = [self.outcomes(tag) for tag in self.runs]
        about = "documents of the pool that no other run that fed it brought; -: the run fed none"
        totals = [None if one is None else one.total() for one in outcomes]
        columns[Column("unique", "int", about=about)] = totals
        for name in OUTCOMES:
            show = "always" if name == "relevant" else "never"
            column = Column(f"unique_{name.replace(' ', '_')}", "int", name, show=show)
            columns[column] = [None if one is None else one[name] for one in outcomes]
        table = Table.of_columns("summary", columns)
        return table.seen_as(rows=table.order(self.evaluation.measures[0], descending=True))

    def outcomes(self, tag: str) -> Counter[str] | None:
        """Count by outcome what a run alone brought; ``None``: it fed no pool, or none is known."""
        pool = self.diagnosis.found.pool
        if self.brought is None or pool is None or not pool.contributing[self.diagnosis.runs.index(tag)]:
            return None
        return Counter(map(str, _of(self.brought, run=tag).cells("outcome")))

    def _topics(self) -> Table:
        rows: list[tuple[Any, ...]] = []
        for scores in self.evaluation.scores:
            best, median, worst = best_median_worst(scores.values)
            is_best = (scores.values >= best - TIED_MAP).T
            best_runs = [listed([*np.array(self.runs)[are]], 3) for are in is_best]
            for tag in self.chosen:
                run, measure = self.runs.index(tag), str(scores.measure)
                for at, own in enumerate(scores.values[run].tolist()):
                    those = own, best[at], median[at], worst[at], own - median[at]
                    reason = scores.reason(run, at)
                    rows.append((tag, measure, self.evaluation.topics[at], *those, best_runs[at], reason))
        floats = [Column(name, "float") for name in ("score", "best", "median", "worst")]
        floats += [Column("difference", "float", "from median")]
        columns = [RUN, Column("measure"), TOPIC, *floats, Column("best_runs"), REASON]
        return Table.of_columns("topics", dict(zip(columns, zip(*rows, strict=True), strict=True)))


def _of(table: Table, **cells: str) -> Table:
    """Return the rows that have these cells."""
    for name, cell in cells.items():
        table = table.where([one == cell for one in table.data[name]])
    return replace(table, notes=())


def _page(found: RunPages, tag: str, about: tuple[str, str], command: str, *, names: bool) -> ReportPage:
    """Make the page of a run, whose scores a command prints."""
    n_topics, (of, what) = len(found.evaluation.topics), about
    parts = [_measured(found, place, tag, names=names) for place in range(len(found.placed))]
    parts += [_flipped(found, tag), _alone(found, tag)]
    runs, topics = counted(len(found.runs), "run"), counted(n_topics, "topic")
    voters = found.diagnosis.judged.voters
    sentences = [
        what,
        f"This run stands beside all {runs}, itself among them, on {topics} with judgements.",
        *voters_sentence(voters),
        *models_sentence(voters.models if voters.is_named else ()),
        "Intervals (95%) say what other topics like these could change: of a mean by Student's t, of a place"
        f" by {RESAMPLES:,} draws of as many topics with replacement (bootstrap, seed {SEED}).",
        *[f"With fewer than {FEW_TOPICS} topics they are too narrow."] * (n_topics < FEW_TOPICS),
        f"The run's own scores, of its file and the qrels: `{command}`.",
    ]
    verdicts, sections = zip(*parts, strict=True)
    return ReportPage(f"Run {tag} {of}", " ".join(sentences), sections, written_by(), verdicts)


def _measured(found: RunPages, place: int, tag: str, *, names: bool) -> tuple[Verdict, Section]:
    """Show a measure: the run's place, and its scores beside those of all."""
    run, measure, one = found.runs.index(tag), found.evaluation.measures[place], found.placed[place]
    table = _of(found.table("topics"), run=tag, measure=measure)
    n = f"{counted(len(found.runs), 'run')}, {counted(int(found.evaluation.n_topics[place, run]), 'topic')}"
    answer, text = "no score", f"{measure} is undefined on every topic."
    if not np.isnan(one.mean[run]):
        answer = f"place {one.place[run]:.0f} of {len(found.runs)}"
        best, median, worst = (f"{mean:.4f}" for mean in best_median_worst(one.mean[:, np.newaxis])[:, 0])
        text = f"Mean {one.mean[run]:.4f}; the best run has {best}, the median {median}, the worst {worst}."
    low, high = found.evaluation.interval[:, place, run]
    if not np.isnan(low):
        ends = _span(one.place_low[run], one.place_high[run])
        text += f" Other topics like these could give it {low:.4f} to {high:.4f}, and place {ends} (95%)."
    signs = np.sign(np.round(np.array(table.data["difference"]), 12))
    better, worse, same = (int((signs == sign).sum()) for sign in (1, -1, 0))
    how = f"Better than the median on {counted(better, 'topic')}, worse on {worse:,}, the same on {same:,}."
    how += " Of an even number of runs, the median is the upper of the two in the middle."
    by, axis = "difference", f"{measure} less the median"
    plot = Plot(
        table=table, kind="bars", label="topic", value=by, by=by, axis=axis, title=f"{axis} of all runs"
    )
    columns = ["topic", "score", "best", "median", "worst", by, *["best_runs"] * names, "reason"]
    called = [f"{topic} {found.titles.get(str(topic), '')}".strip() for topic in table.data["topic"]]
    titled = replace(table, data={**table.data, "topic": called})
    drawn = figure(plot, how, "", titled, columns, caption="best, median, worst: of all runs.", n=n)
    shown = replace(drawn, is_short=True) if isinstance(drawn, Figure) else drawn
    return Verdict(measure, answer, text, n=n), Section(f"{measure}, topic by topic", (shown,))


def _flipped(found: RunPages, tag: str) -> tuple[Verdict, Section]:
    """Show what unjudged documents could change."""
    title, flips, run = "Unjudged documents", found.flips, found.runs.index(tag)
    low, score, high = (one[run] for one in found.diagnosis.found.scores.bounds.means())
    if flips is None or np.isnan(score):
        why = "The depth of the pool is not known." if flips is None else "The run has no AP."
        return Verdict(title, "not tried", why), Section(title, (why,))
    below, n_open = ranks_below(flips.settings["depth"]), int((flips.status[run] == UNJUDGED).sum())
    before, after = places(flips.map_before)[run], places(flips.map_after)[:, run]
    text = f"At {below}, the run has an unjudged document on {counted(n_open, 'topic')}."
    if n_open:
        moved = f"be {after[run]:.0f} instead of" if after[run] != before else "stay"
        text += f" Were they relevant, its MAP would be {flips.map_after[run, run]:.4f} instead of"
        text += f" {score:.4f}, and its place would {moved} {before:.0f}."
    if (others := np.delete(after, run)).size:
        ends = _span(others.min(), others.max())
        text += f" Were those of one other run relevant instead, its place would be {ends}."
    limits = f"Whatever all unjudged documents of its list are, its MAP is from {low:.4f} to {high:.4f}."
    names = ["topic", "docno", "status", "ap_before", "change", "reason"]
    caption = f"The document at {below}, and by how much AP would change if it is unjudged and were relevant"
    rows = _of(flips.table("topics"), run=tag)
    own = page_table(rows, names, caption=f"{caption} (eq. 19 of Kishida 2001).")
    answer = f"place {after[run]:.0f} if those at {below} were relevant" if n_open else f"none at {below}"
    return Verdict(title, answer, text), Section(title, (text, limits, own))


def _span(low: float, high: float) -> str:
    return " to ".join(dict.fromkeys((f"{low:.0f}", f"{high:.0f}")))


def _alone(found: RunPages, tag: str) -> tuple[Verdict, Section]:
    """Show the documents that the run alone brought to the pool."""
    title, outcomes = "Documents that no other run brought to the pool", found.outcomes(tag)
    pool = found.diagnosis.found.pool
    if outcomes is None or found.brought is None or pool is None:
        answer, why = ("not counted", "This run fed no pool.") if pool else ("unknown", "No pool is known.")
        return Verdict(title, answer, why), Section(title, (why,))
    parts = [f"{outcomes[name]:,} {name}" for name in OUTCOMES if outcomes[name]]
    n = counted(outcomes.total(), "document")
    text = f"Within depth {pool.span} of the runs that fed the pool, this run alone has {n}"
    text += f": {', '.join(parts)}." if parts else "."
    own = page_table(_of(found.brought, run=tag), _BROUGHT[1:], caption="Each, and what judging found in it.")
    return Verdict(title, f"{outcomes.total():,}", text), Section(title, (text, *[own] * bool(parts)))
