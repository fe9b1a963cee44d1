"""`pooler status --plot`: what the table counts, as bars."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from store.collection import Collection
from store.records import Action, Decision
from tests.helpers.run import JUDGES, Cli, write


def plotted(cli: Cli, *options: str) -> list[str]:
    """Return the lines of the plot below what the command says without."""
    plain = cli("status", *options).fine().out
    drawn = cli("status", *options, "--plot").fine().out
    assert drawn.startswith(plain)
    assert not drawn.removeprefix(plain) or drawn.removeprefix(plain).startswith("\n")
    return drawn.removeprefix(plain).splitlines()[1:]


def test_bars_of_judges_are_the_counts_of_the_table(cli: Cli, judged: Path) -> None:
    """84 documents are 42 characters of two, as 84 of one do not fit beside label and notes."""
    lines = plotted(cli)
    assert lines[0] == "State of the documents"
    assert lines[1].split() == ["judge", "judged", "pooled"]
    rows = cli("status", "--format", "json").fine().json()
    for line, judge, row in zip(lines[2:5], JUDGES, rows, strict=True):
        label, bar, *notes = line.replace("|", " ").split()
        assert (label, notes) == (judge, ["84", "84"])
        ends = [row["grade_0"], row["grade_0"] + row["grade_1"], 84]
        assert [bar.index("1"), bar.index("2"), len(bar)] == [(end + 1) // 2 for end in ends]
    assert lines[5:] == [
        "A character is 2 documents; every part has at least one.",
        "0 not relevant  1 partially relevant  2 relevant  / skipped  ! cannot be judged",
        ". unjudged",
    ]
    assert all(line.isascii() and len(line) <= 80 for line in lines)


def test_bars_of_topics_stand_together_by_judge(cli: Cli, judged: Path) -> None:
    """A character a document: every bar has as many of each fill as the table says."""
    lines = plotted(cli, "--by-topic")
    assert lines[1].split() == ["topic", "judged", "pooled"]
    rows = cli("status", "--by-topic", "--format", "json").fine().json()
    found: dict[tuple[str, str], str] = {}
    judge = ""
    for line in lines[2:-3]:
        if "|" in line:
            found[line.split()[0], judge] = line.partition("|")[2].split()[0]
        else:
            judge = line
    assert list(found) == [(f"G0{topic}", judge) for judge in JUDGES for topic in range(1, 9)]
    for row in rows:
        bar = "".join(str(grade) * row[f"grade_{grade}"] for grade in range(3))
        assert found[row["topic"], row["judge"]] == bar
    assert lines[-3] == "A character is 1 document."


def test_every_state_has_a_fill_of_its_own(cli: Cli, here: Path, collection_of: Callable[..., None]) -> None:
    """Grades have the letters of their columns; what is no letter of ASCII gets one.

    An adjudicator owes nothing, which is a dash and no bar of unjudged documents; what was judged
    outside of the pool is counted among the grades, and said so.
    """
    write(
        here / "scale.toml",
        '[[grade]]\nvalue = -1\nlabel = "迷惑文書"\nkey = "j"',
        '[[grade]]\nvalue = 0\nlabel = "not relevant"\nkey = "n"',
        '[[grade]]\nvalue = 10\nlabel = "relevant"\nkey = "漬"',
    )
    collection_of("scale.toml")
    write(here / "x.run", *[f"1 Q0 {docno} 1 1 x" for docno in "abcdefg"])
    cli("import", "runs", "x.run").fine()
    cli("pool", "--depth", "7").fine()
    cli("judges", "add", "山田花子").fine()
    cli("judges", "add", "ruler", "--kind", "adjudicator").fine()
    with Collection("collection.db") as opened:
        desk = opened.desk("山田花子")
        desk.queue("1")
        for docno, grade in (("a", -1), ("b", 10), ("c", 10)):
            desk.record(Decision("1", docno, Action.JUDGE, grade=grade))
        desk.record(Decision("1", "d", Action.SKIP))
        desk.record(Decision("1", "e", Action.CANNOT, reason="not in my language"))
        desk.leave()
    legend = "J 迷惑文書  N not relevant  a 漬 relevant  / skipped  ! cannot be judged"
    assert plotted(cli) == [
        "State of the documents",
        f"{'judge':66}judged  pooled",
        f"{'ruler    |':70} 0       -",
        f"{'山田花子 |Jaa/!..':66} 3       7",
        "A character is 1 document.",
        legend,
        ". unjudged",
    ]
    write(here / "q", "3 0 z 0")
    cli("import", "judgements", "q", "--judge", "山田花子", "--kind", "human").fine()
    outside = plotted(cli)
    assert outside[0] == "State of the documents, including those judged outside"
    assert outside[3].startswith("山田花子 |JNaa/!..  ")


def test_scales_of_many_grades_have_one_fill(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """More than a dozen grades could not be told apart."""
    write(here / "x.run", "1 Q0 a 1 2 x", "1 Q0 b 2 1 x", "1 Q0 c 3 0 x")
    collection_of("0-20", anna=["1 0 a 3", "1 0 b 17"])
    cli("import", "runs", "x.run").fine()
    cli("pool", "--depth", "3").fine()
    lines = plotted(cli)
    assert lines[2].startswith("anna  |##.  ")
    assert lines[-1] == "# judged  / skipped  ! cannot be judged  . unjudged"


def test_plot_needs_people_and_judges(cli: Cli, here: Path, collection_of: Callable[..., None]) -> None:
    """Programs are refused as by `replay`; without a judge there is nothing to draw."""
    collection_of()
    assert plotted(cli) == []
    refused = cli("status", "--plot", "--format", "json").failed(1)
    assert "`--plot` needs --format table, but got 'json'" in refused.err
