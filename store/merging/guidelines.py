"""Guidelines of several copies."""

from __future__ import annotations

from sqlalchemy import insert, select, update

from store.merging.copies import Copy, Here
from store.models import GUIDELINE


def unite_guidelines(here: Here, copy: Copy) -> None:
    """Take in versions of the guidelines that are not here; one number is one text."""
    own = {row.version: row for row in here.session.execute(select(GUIDELINE))}
    for row in copy.session.execute(select(GUIDELINE).order_by(GUIDELINE.c.version)).all():
        mine = own.get(row.version)
        if mine is None:
            values = {"version": row.version, "text": row.text, "created_at": row.created_at}
            here.session.execute(insert(GUIDELINE).values(values))
            copy.count.new["versions of the guidelines"] += 1
        elif mine.text != row.text:
            what = (
                f"version {row.version} of the guidelines has another text: judgements made under"
                f" it there and here were made under different rules"
            )
            here.differs(copy, what)
        elif row.created_at < mine.created_at:
            here.session.execute(
                update(GUIDELINE)
                .where(GUIDELINE.c.version == row.version)
                .values(created_at=row.created_at)
            )
