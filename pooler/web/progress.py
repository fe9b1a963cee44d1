"""The organiser's page: how far the people who judge have come, to read only."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING

from store.analysis.pools.pace import RECENT_DECISIONS, duration_words, forecast
from store.records import JudgeKind
from store.text import sanitise_line

if TYPE_CHECKING:
    from store.collection import Collection


def progress_body(opened: Collection) -> str:
    """Write the body of the page: a row a judge, with what is left and how long that takes at their pace."""
    progress = opened.progress.counts()
    counts = progress.by_judge()
    times = opened.progress.recent_times(limit=RECENT_DECISIONS)
    kinds = {one.name: one.kind for one in opened.judges.all()}
    rows = []
    for place, number in enumerate(counts.judges):
        judge = progress.judges[number]
        if kinds.get(judge) is JudgeKind.MODEL:
            continue
        done = int(counts.judged[place] + counts.cannot[place])
        left, skipped = int(counts.unjudged[place]), int(counts.skipped[place])
        rest = forecast(times.get(judge, []), left).seconds if left else None
        total = done + left + skipped
        words = f"{done} of {total} decided"
        bar = f'<progress max="{max(total, 1)}" value="{done}" aria-label="{words}"></progress>'
        cells = [f"{bar} {words}", str(skipped), str(left), "" if rest is None else duration_words(rest)]
        if kinds.get(judge) is JudgeKind.ADJUDICATOR:  # before whom only what judges disagree on lies
            cells = [f"{done} decided", str(skipped), "", ""]
        row = "".join(f"<td>{one}</td>" for one in cells)
        rows.append(f'<tr><th scope="row">{escape(sanitise_line(judge))}</th>{row}</tr>')
    names = ("judge", "decided", "skipped", "left", "at this pace")
    heads = "".join(f'<th scope="col">{one}</th>' for one in names)
    name = escape(sanitise_line(opened.name))
    return (
        f"<body>\n<main>\n<h1>{name}: progress</h1>\n"
        f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>\n"
        f'<p>As of {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC. <a href="/progress">Read again</a></p>\n'
        '<form method="post" action="/leave"><button>leave</button></form>\n</main>\n</body>'
    )
