"""Collections with roles, made once a module: what a test does there is taken back, or is more judging."""

from __future__ import annotations

import pytest

from tests.roles.served import Served, empty_database, fill, judge_some, let_in


@pytest.fixture(scope="module")
def served(postgres_server: str) -> Served:
    """Give a collection whose documents are claimed; alice and bob have judged some of one topic."""
    made = empty_database(postgres_server)
    fill(made, assigned=True)
    let_in(made)
    judge_some(made.url("alice"), "alice", 3)
    judge_some(made.url("bob"), "bob", 2, grade=2)
    return made


@pytest.fixture(scope="module")
def drawn(postgres_server: str) -> Served:
    """Give one whose only pool is adaptive, and from which nothing is drawn yet."""
    made = empty_database(postgres_server)
    fill(made, assigned=False)
    let_in(made)
    return made
