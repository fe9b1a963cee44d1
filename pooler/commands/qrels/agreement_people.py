"""What people see of agreement: pairs, judges, definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pooler.commands.qrels.agreement_settings import ALL_LABELS, AgreementOptions
from pooler.judge_kinds import kinds_words
from pooler.tables import REASON, TOPIC, Column, Table, View
from store.text import counted

if TYPE_CHECKING:
    from store.analysis.agreement.votes import PopulationVotes

Row = Mapping[str, Any]

SKEWED = 0.8
"""Share of one grade above which kappa falls for its sake, and AC1 stands beside it."""

KINDS = {
    "topic": "other topics (topic bootstrap, {resamples} resamples, seed {seed})",
    "item": "other documents, assuming independence (item bootstrap, {resamples} resamples, seed {seed})",
    "asymptotic": "other documents, assuming independence (from the standard error)",
}
FIRST, SECOND = Column("first"), Column("second")
PART = Column("part", about="who is measured: people, models, or each person with each model")
N_ABOUT = "documents both graded"
SAME = Column("raw", "float", "same", "share with the same grade", digits=3)
KAPPA = Column(
    "kappa",
    "float",
    about="agreement beyond chance, 1 = always, 0 = as by chance, below 0 = less often than by chance",
    digits=3,
)
QUADRATIC = Column(
    "quadratic", "float", about="kappa in which a near miss counts less than a far one", digits=3
)
AUTHORS = {"landis-koch": "Landis-Koch", "ir-book": "IR book", "krippendorff": "Krippendorff"}


def pair_columns(*, by_topic: bool, in_parts: bool = False) -> list[Column]:
    """Name the columns of pairs."""
    names = ["raw", "kappa", "kappa_low", "kappa_high", "kappa_se", "band", "linear"]
    names += ["quadratic", "quadratic_low", "quadratic_high", "quadratic_se", "pi", "s"]
    names += ["ac1", "ac2", "alpha_ordinal", "alpha_nominal", "alpha_interval"]
    names += ["positive", "overlap", "macro_overlap", "macro_overlap_low", "macro_overlap_high"]
    return [
        *([PART] if in_parts else []),
        FIRST,
        SECOND,
        *([TOPIC] if by_topic else []),
        Column("level", "int"),
        Column("n", "int"),
        *(Column(name, "text" if name == "band" else "float", digits=3) for name in names),
        Column("macro_topics", "int"),
        Column("first_marginals", "ints"),
        Column("second_marginals", "ints"),
        Column("reason"),
        Column("interval_reason"),
    ]


def population_line(population: PopulationVotes) -> str:
    """Say over how many documents agreement is measured, and which."""
    size = f"{counted(population.n_documents, 'document')} of"
    size += f" {counted(population.n_topics, 'topic')}"
    return f"Measured over {size}: those that at least two judges graded."


def ac1_column(*, binary: bool) -> Column:
    """Name AC1, and say why it stands there."""
    what = "relevant or not relevant" if binary else "one grade"
    about = (
        f"shown next to kappa where {what} makes up more than {100 * SKEWED:.0f} % of what some pair gave;"
        " that alone can make kappa low"
    )
    return Column("ac1", "float", "AC1", about, digits=3)


def bands_line(options: AgreementOptions) -> str:
    """Say whose words for a kappa are shown; empty when none are."""
    if options.bands is None:
        return ""
    return f"{AUTHORS[options.bands]}: these authors' words for kappa or alpha; others use different ones."


def band_column(options: AgreementOptions) -> list[Column]:
    """Name the column of words after their author."""
    return [] if options.bands is None else [Column("band", heading=AUTHORS[options.bands])]


def interval_line(options: AgreementOptions) -> str:
    """Say what the intervals are."""
    kind = KINDS[options.kind].format(resamples=f"{options.resamples:,}", seed=options.seed)
    return f"95 %: the interval in which the number may lie with {kind}."


def interval_column(name: str, of: str) -> Column:
    """Name a column of intervals."""
    low, high = (f"{of}_low", f"{of}_high") if of else ("low", "high")
    return Column(name, heading="95 %", interval=(low, high), digits=2)


def shows_intervals(view: View) -> bool:
    """Return whether some row of a view shows an interval, not only a reason for none."""
    limits = [one.interval for one in view.columns if isinstance(one, Column) and one.interval]
    return any(cell is not None for low, _ in limits for cell in view.table.cells(low))


MOST_PAIRS = 66
"""Pairs that people are shown: those of 12 judges."""
SHOWN_ENDS = 10
"""Of more pairs, the lowest and the highest."""
MOST_APART = 10
"""Of more pairs, those without a common document are counted only."""
MOST_JUDGES = 20
"""Judges that are listed one by one."""
FEW_DOCUMENTS = 30
"""With fewer common documents the coefficients of a pair say little."""


def judges_view(
    table: Table, population: PopulationVotes, options: AgreementOptions, kinds: Mapping[str, int]
) -> View:
    """Show what each judge did, and say over which documents agreement is measured."""
    title = counted(len(table), "judge") + (f" ({kinds_words(kinds)})" if kinds else "")
    lines = [population_line(population)]
    left_out = [name for name in ("skipped", "cannot") if any(table.cells(name))]
    if left_out:
        lines.append(f"{' and '.join(left_out)}: looked at but given no grade, so not measured.")
    rows: list[int] | None = None if len(table) <= MOST_JUDGES else []
    if rows is None:
        grades = ", ".join(map(str, options.scale.values))
        lines.append(f"{grades}: how often each grade was given, of those measured.")
    columns = table.columns if rows is None else [replace(one, about="") for one in table.columns]
    return View(table, columns, rows, title, lines)


def pair_views(
    rows: Sequence[Row],
    options: AgreementOptions,
    *,
    intervals: bool,
    binary: bool,
    reference: str | None,
    who: str = "Pairs of judges",
    ending: Sequence[str] = (),
) -> list[View]:
    """Show pairs: agreement on grades, then, with `binary`, on relevant or not; `ending` is said at the end.

    `reference`: the second judge of every pair, who is named in the title then.
    """
    graded = [row for row in rows if row["level"] is None]
    levels = [row for row in rows if row["level"] is not None]
    has_intervals = intervals and not options.by_topic
    title = f"{who if reference is None else f'Each judge with {reference}'}: agreement on"
    views: list[View] = []
    if graded and len(options.scale.values) > 2:
        skewed = bool(skewed_levels(graded))
        # Beside AC1 or words there is no room for the second interval.
        second = has_intervals and not skewed and options.bands is None
        columns = [*_first_columns(graded, options, reference), KAPPA]
        columns += [interval_column("interval", "kappa")] * has_intervals
        columns.append(QUADRATIC)
        columns += [interval_column("quadratic_interval", "quadratic")] * second
        lines = ["The interval of quadratic is in json and tsv."] * (has_intervals and not second)
        views.append(_view(graded, columns, f"{title} grades", lines, options, skewed=skewed, binary=False))
    if levels and (binary or not views):
        by_level = levels if options.by_topic else sorted(levels, key=lambda row: _place(row["level"]))
        skewed = bool(skewed_levels(levels))
        columns = _first_columns(levels, options, reference)
        at = Column("at", about="1+ = grades of 1 or more count as relevant")
        columns.insert(1 if reference is not None else 2, at)
        columns.append(KAPPA)
        columns += [interval_column("interval", "kappa")] * has_intervals
        about = "documents relevant to both among those relevant to either, averaged over topics"
        if has_intervals and options.kind == "topic":
            about += "; its interval is in json and tsv"
        columns.append(Column("mean_overlap", "float", "overlap", about, digits=3))
        views.append(
            _view(by_level, columns, f"{title} relevant or not", [], options, skewed=skewed, binary=True)
        )
    if len(views) > 1:
        views[1] = replace(views[1], columns=_without_about(views[1].columns, views[0].columns))
    if views:
        views[-1] = replace(views[-1], notes=[*(views[-1].notes or ()), *(line for line in ending if line)])
    return views


def _without_about(columns: Sequence[str | Column], explained: Sequence[str | Column]) -> list[str | Column]:
    known = {(one.title.strip(), one.about) for one in explained if isinstance(one, Column)}
    return [
        replace(one, about="") if isinstance(one, Column) and (one.title.strip(), one.about) in known else one
        for one in columns
    ]


def _first_columns(rows: Sequence[Row], options: AgreementOptions, reference: str | None) -> list[Column]:
    columns = [Column("first"), Column("second")] if reference is None else [Column("first", heading="judge")]
    columns += [TOPIC] * options.by_topic
    n = Column("n", "int", "N", N_ABOUT)
    if any(map(_has_few, rows)):
        width = max(len(_n_cell(row)) for row in rows)
        few = f"{N_ABOUT}; *: fewer than {FEW_DOCUMENTS}, so the row means little"
        n = Column("n_marked", heading=f"{'N':>{width - 1}}", about=few)
    return [*columns, n, SAME]


def _view(
    rows: Sequence[Row],
    columns: Sequence[Column],
    title: str,
    lines: Sequence[str],
    options: AgreementOptions,
    *,
    skewed: bool,
    binary: bool,
) -> View:
    width = max(len(_n_cell(row)) for row in rows)
    rows = [
        {
            **row,
            "at": f"{row['level']}+",
            "n_marked": _n_cell(row).rjust(width),
            "mean_overlap": row.get("overlap") if row["topic"] != "all" else row.get("macro_overlap"),
        }
        for row in rows
    ]
    columns = [*columns, *[ac1_column(binary=binary)] * skewed, *band_column(options)]
    if all(column.name != "interval" for column in columns):
        columns.append(REASON)
    declared = [*pair_columns(by_topic=True), Column("at"), Column("n_marked")]
    declared.append(Column("mean_overlap", "float"))
    lines = list(lines)
    if any(row["first"] == ALL_LABELS for row in rows):
        lines.append(
            f"{ALL_LABELS}: every label of the others, each compared by itself; its N"
            " counts labels, not documents."
        )
    lines += [bands_line(options)] if options.bands else []
    table = Table.of_rows("pairs", declared, rows)
    return View(table, columns, title=title, notes=lines)


def sharing(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """Leave out the pairs that share no document, and count them."""
    apart = {
        (row["first"], row["second"])
        for row in rows
        if row["n"] == 0 and is_judge(row["first"]) and row.get("topic", "all") == "all"
    }
    return [row for row in rows if (row["first"], row["second"]) not in apart], len(apart)


def apart_line(number: int) -> str:
    """Say how many pairs are left out; empty when none is.

    Examples
    --------
    >>> apart_line(27), apart_line(1), apart_line(0)
    ('27 pairs share no document.', '1 pair shares no document.', '')
    """
    if number == 0:
        return ""
    return f"{counted(number, 'pair')} {'shares' if number == 1 else 'share'} no document."


def ends_of(rows: Sequence[Row]) -> tuple[list[Row], str]:
    """Choose what people are shown of too many pairs, and say what the rest is like.

    Rows on all judges stay first; then come the pairs with the lowest and the highest kappas
    among those that share `FEW_DOCUMENTS`, or, where none does, among all.
    """
    levels = {row["level"] for row in rows}
    level = None if None in levels else min(levels, key=_place)
    whole = of_judges(rows, level)
    measured = [row for row in whole if row["kappa"] is not None]
    enough = [row for row in measured if _number(row["n"]) >= FEW_DOCUMENTS]
    ranked = sorted(enough or measured, key=lambda row: _number(row["kappa"]))
    low, high = ranked[:SHOWN_ENDS], ranked[SHOWN_ENDS:][-SHOWN_ENDS:]
    middle = [_number(row["kappa"]) for row in ranked[len(low) : len(ranked) - len(high)]]
    place_of = {(row["first"], row["second"]): place for place, row in enumerate([*low, *high])}
    kept = [row for row in rows if not is_judge(row["first"])]
    chosen = [row for row in rows if (row["first"], row["second"]) in place_of]
    kept += sorted(chosen, key=lambda row: place_of[row["first"], row["second"]])
    words = f"Of {counted(len(whole), 'pair')}: the {len(low)} lowest and {len(high)} highest kappas"
    words += f" of those with {FEW_DOCUMENTS} documents or more." if enough else "."
    if middle:
        words += f"\nBetween them {counted(len(middle), 'pair')}, {middle[0]:.3f} to"
        words += f" {middle[-1]:.3f}, half of them below {middle[len(middle) // 2]:.3f}."
    if enough and len(measured) > len(enough):
        words += f" Fewer documents: {counted(len(measured) - len(enough), 'pair')}."
    if len(whole) > len(measured):
        words += f" No kappa: {counted(len(whole) - len(measured), 'pair')}."
    return kept, f"{words}\n--all-pairs shows every pair, --level N agreement on relevant or not."


def of_judges(rows: Sequence[Row], level: int | None) -> list[Row]:
    """Return the rows of pairs of judges at a level, over all topics."""
    at_level = [row for row in rows if row["level"] == level and row["topic"] == "all"]
    return [row for row in at_level if is_judge(row["first"])]


def skewed_levels(rows: Sequence[Row]) -> set[int | None]:
    """Return the levels, ``None`` = graded, at which one grade holds most of what a pair gave.

    More than `SKEWED`, by pairs that share `FEW_DOCUMENTS` or more.
    """
    found = set()
    for row in rows:
        if row.get("topic", "all") != "all" or _number(row["n"]) < FEW_DOCUMENTS:
            continue
        sides = (row["first_marginals"], row["second_marginals"])
        given = [one + other for one, other in zip(*sides, strict=True)]
        if max(given) > SKEWED * sum(given):
            found.add(row["level"])
    return found


def is_judge(name: object) -> bool:
    """Tell a judge from all labels or an aggregate, which stand in brackets."""
    return not str(name).startswith("(")


def _has_few(row: Row) -> bool:
    return row["topic"] == "all" and _number(row["n"]) < FEW_DOCUMENTS


def _n_cell(row: Row) -> str:
    return f"{_number(row['n']):,.0f}{'*' if _has_few(row) else ' '}"


def _place(level: object) -> int:
    return level if isinstance(level, int) else -(1 << 30)


def _number(cell: object) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0
