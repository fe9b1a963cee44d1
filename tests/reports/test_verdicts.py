"""The three lines at the head of a report: of runs and judgements that are worked out by hand."""

from __future__ import annotations

import re
from typing import Any

import pytest

import pooler as p
from pooler.pages.page import ReportPage, Verdict, render

UNJUDGED = "unjudged documents at rank"


def report(runs: dict[str, str], qrels: dict[str, int], **more: Any) -> p.Report:
    """Report on one topic: each run's documents from the first to the last, a letter each."""
    scored = {tag: {"1": {one: -float(rank) for rank, one in enumerate(run)}} for tag, run in runs.items()}
    return p.report((scored, {"1": qrels}), **more)


def verdict(name: str, runs: dict[str, str], qrels: dict[str, int], **more: Any) -> Verdict:
    """Return one of the three."""
    [found] = [one for one in report(runs, qrels, **more).page.verdicts if one.name == name]
    return found


@pytest.mark.parametrize(
    ("runs", "qrels", "depth", "answer", "numbers"),
    [
        # Both runs brought both documents: nothing is lost.
        ({"a": "xy", "b": "yx"}, {"x": 1, "y": 0}, 2, "fair to runs like these",
         ["tau to the present order is 1.00, ", "no run loses 5 % of its AP or more."]),
        # Without x, which a alone brought, a has AP 0 in place of 1, below b's 1/2.
        ({"a": "xy", "b": "yx"}, {"x": 1, "y": 0}, 1, "not fair to new runs",
         ["tau to the present order is -1.00, ", "1 of 2 runs loses 5 % of AP or more (100 % at most)."]),
        # Without x, a has q at rank 2 of R = 1, so 1/2 in place of 1; b has 0 all the time.
        ({"a": "xq", "b": "yw"}, {"x": 1, "y": 0, "q": 1}, 1, "not fair to every new run",
         ["tau to the present order is 1.00, ", "1 of 2 runs loses 5 % of AP or more (50 % at most)."]),
        ({"a": "xy", "b": "yx"}, {"x": 1}, 2, "fair to runs like these, as far as the pool is judged",
         ["1 document of the pool is not judged."]),
        # All that one run brought, it brought alone.
        ({"a": "xy"}, {"x": 1, "y": 0}, 2, "not fair to new runs",
         ["no tau (an order needs two runs with a score)", "1 of 1 run loses"]),
        ({"a": "xy", "b": "yx"}, {"x": 0, "y": 0}, 2, "unknown", ["No run has an AP, as no topic"]),
        ({"a": "xy", "b": "yx"}, {"x": 1, "y": 0}, None, "unknown",
         ["There is no depth pool to look at: every list is judged to its end."]),
    ],
)  # fmt: skip
def test_reuse(
    runs: dict[str, str], qrels: dict[str, int], depth: int | None, answer: str, numbers: list[str]
) -> None:
    """A new run is scored fairly where none of the pool's would lose without its own documents."""
    found = verdict("Reuse", runs, qrels, depth=depth)
    assert found.answer == answer
    assert all(text in found.text for text in numbers), found.text
    if answer != "unknown":
        assert "tau 0.9 or more is as good as the same order" in found.mark
        assert "(Voorhees 2001); a loss of 5 % is noticeable (Sparck Jones 1974)" in found.mark
        assert found.n == f"{len(runs)} run{'s' * (len(runs) > 1)}, 1 topic"


@pytest.mark.parametrize(
    ("runs", "qrels", "more", "answer", "numbers"),
    [
        # a: 1/3. b: 1/4, and (1/2 + 2/4) / 2 = 1/2 with u, where a has 1/6: the order is reversed.
        ({"a": "nmx", "b": "nuvx"}, {"n": 0, "m": 0, "x": 1}, {"depth": 1}, "changes noticeably",
         [f"-1.00 if the {UNJUDGED} 2 of one run", "Another judging: unknown",
          "0 of 1 pair of runs are sure to keep their order: a limit"]),
        # a: 1, b: 0. With u a has 1/2 and b 1/4.
        ({"a": "xz", "b": "yu"}, {"x": 1, "y": 0}, {"depth": 1},
         f"holds if the {UNJUDGED} 2 of one run, the worst, were relevant; nothing else could be tried",
         [f"1.00 if the {UNJUDGED} 2 of one run"]),
        # With y both have 1: no order.
        ({"a": "xy", "b": "yx"}, {"x": 1}, {"depth": 1}, "unknown",
         ["Unjudged documents: no tau: all are equal, so there is no order."]),
        # Whenever a document is relevant, it is x: always 1 and 1/2.
        ({"a": "xy", "b": "yx"}, {"x": 1, "y": 0}, {"depth": 2, "values": {0: 0, 1: 0.5}},
         "holds on average if judged again; nothing else could be tried",
         ["1.00 on average if judged again", "Unjudged documents: none is at rank 3"]),
        # x, y or both, each as likely: tau 1, -1, and a tie.
        ({"a": "xy", "b": "yx"}, {"x": 1, "y": 0}, {"depth": 2, "values": {0: 0.5, 1: 0.5}},
         "changes noticeably", ["is 0.00 on average if judged again"]),
        ({"a": "xy", "b": "yx"}, {"x": 1, "y": 0}, {}, "unknown",
         ["Unjudged documents: not tried, as the depth of the pool is not known."]),
        ({"a": "xy"}, {"x": 1, "y": 0}, {"depth": 2}, "unknown", ["There is one run only"]),
        ({"a": "xy", "b": "yx"}, {"x": 0, "y": 0}, {"depth": 2}, "unknown", ["No run has an AP"]),
    ],
)  # fmt: skip
def test_order(
    runs: dict[str, str], qrels: dict[str, int], more: dict[str, Any], answer: str, numbers: list[str]
) -> None:
    """The lowest tau of both trials is the answer; one that could not be made is said."""
    found = verdict("Order of the runs", runs, qrels, **more)
    assert found.answer == answer
    assert all(text in found.text for text in numbers), found.text
    assert ("(Voorhees 2001)" in found.mark) == (answer != "unknown")


def test_what_alarms_comes_first() -> None:
    """Below the decision, of the lines, of the sentences, and of the sections; an unknown is no alarm."""
    moved = report({"a": "nmx", "b": "nuvx"}, {"n": 0, "m": 0, "x": 1}, depth=1)
    assert [one.name for one in moved.page.verdicts] == [
        "Decision",
        "Order of the runs",
        "Reuse",
        "Agreement",
    ]
    titles = [one.title for one in moved.sections]
    assert titles.index("What unjudged documents could change") < titles.index("The pool")
    made = report({"a": "xy", "b": "yx"}, {"x": 1, "y": 0}, depth=1)
    assert [one.name for one in made.page.verdicts] == ["Decision", "Reuse", "Order of the runs", "Agreement"]
    titles = [one.title for one in made.sections]
    assert titles.index("What unjudged documents could change") > titles.index("The pool")
    headings = [one for one in made.sections[0].blocks if isinstance(one, str)]
    assert headings == ["What alarms:", "What else is known:", "What reassures:"]
    lines = made.html.split("</li>", 1)[1]
    assert lines.index('class="alarm"') < lines.index('class="calm"') < lines.index("<nav")


def test_a_chart_shows_some_runs_and_its_table_all() -> None:
    """Those that lose the most of 30; how to get the others is said."""
    runs = {f"r{n:02}": {"1": {f"d{n}": 2.0, "x": 1.0}} for n in range(30)}
    qrels = {"1": {f"d{n}": int(n < 3) for n in range(30)} | {"x": 1}}
    for limit, words in ((20, "N: 20 of 30 runs (those that lose the most; --limit 30 draws all)"),
                         (30, "N: 30 runs, 1 topic, 31 judged documents.")):  # fmt: skip
        html = p.report((runs, qrels), depth=1, limit=limit).html
        figure = html.split("Change of MAP had the run been submitted late</h3>")[1].split("</figure>")[0]
        assert words in re.sub("<[^>]+>", "", figure)
        drawing = figure.split("<svg")[1].split("</svg>")[0]
        assert [f"r{n:02}" in drawing for n in (0, 1, 2, 29)] == [True, True, True, limit == 30]
        assert figure.split("<table")[1].count("<tr>") == 31
    with pytest.raises(p.ArgumentError, match="must be an integer >= 1"):
        p.report((runs, qrels), depth=1, limit=0)


def test_a_verdict_is_text() -> None:
    """What a name brings is shown and does nothing."""
    html = render(ReportPage("t", "", (), verdicts=(Verdict("<i>", "<b>", "<u>", "<s>", "<q>", 2),)))
    item = html.split("<li")[1].split("</li>")[0]
    assert re.findall(r"<(\w+)", item) == ["strong", "span"]
    assert all(f"&lt;{one}&gt;" in item for one in "ibusq")
