"""What is told of copies that cannot come together."""

from __future__ import annotations

import pytest
from sqlmodel import Session

from store.db.keys import document_keys, topic_keys
from store.errors import ConflictError
from store.keeping.merge.copies import Here


@pytest.mark.parametrize(("n_differences", "rest"), [(25, []), (26, ["and 1 more differences like these"])])
def test_first_25_differences_are_told_and_the_others_counted(n_differences: int, rest: list[str]) -> None:
    """Each of 25 differences has its line; of 26, the last one is a number."""
    told = [f"other.db: difference {number}" for number in range(n_differences)]
    with Session() as session:
        here = Here(session, topic_keys(), document_keys(), told)
        with pytest.raises(ConflictError) as caught:
            here.refuse_if_any()
    first = [f"other.db: difference {number}" for number in range(25)]
    assert caught.value.message.splitlines() == [*first, *rest]
