"""The part of a report on other topics: how far the order of the runs would be the same with them."""

from __future__ import annotations

from pooler.reporting.figures import figure, page_table
from pooler.reporting.material import Material
from pooler.reporting.on_scores import SectionPart
from pooler.reporting.page import Section
from pooler.results.measures.reliability import TARGETS, in_short, reliability
from pooler.results.pool.conclusions import Alarm
from pooler.telling import Listener, listening
from store.errors import PoolerError
from store.text import counted

_TITLE = "What other topics would change"


def other_topics(material: Material) -> SectionPart | None:
    """Show how reliable the order of the runs is, and the order to expect with a new set of topics."""
    if len(material.diagnosis.runs) < 2:
        return None
    try:
        with listening(Listener()):  # what there is to say is on the page
            found = reliability(material.source, cutoff=material.commands.cutoff)
    except PoolerError as error:
        return SectionPart(Section(_TITLE, (f"Nothing can be said about it: {error.message}.",)))
    if found.found.reason is not None:
        return SectionPart(Section(_TITLE, (in_short(found),)))
    command = material.commands.of_runs("design", "--reliability")
    table = found.table("reliability")
    n = material.counted(counted(len(found.runs), "run"))
    orders, needed = found.table("orders"), found.table("needed")
    blocks = (
        figure(
            found.plots()[0],
            "The dot is the share of the variance of mean scores that the runs themselves make: 1 = the same"
            " order with any such set of topics. The line is its 95% interval.",
            command,
            table,
            ("topics", "order", "order_low", "order_high", "level", "level_low", "level_high"),
            n=n,
        ),
        in_short(found),
        page_table(
            needed, caption=f"{needed.title}: for the order (E rho2), for scores (Phi)", command=command
        ),
        page_table(orders, caption=f"{orders.title}. {' '.join(orders.notes)}", command=command),
    )
    n_topics = found.scores.shape[1]
    weight = Alarm if found.found.order().at(n_topics)[0] < min(TARGETS) else str
    return SectionPart(Section(_TITLE, blocks), [weight(in_short(found))])
