"""`pooler.processes`: work shared between processes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from functools import partial

import pytest

from pooler.processes import share
from store.errors import (
    SHOWN_FAULTS,
    ArgumentError,
    ConflictError,
    Fault,
    FormatError,
    PoolerError,
    UnknownNameError,
)

ERRORS = [
    PoolerError("gone", hint="look"),
    FormatError("a.run", [Fault(3, "bad", "score")] * SHOWN_FAULTS, n_faults=40, hint="mend"),
    ArgumentError("depth", "must be an integer", "x"),
    UnknownNameError("run", "alcie", ["bob", "alice"]),
    ConflictError("locked"),
]


def ignore(_n_done: int) -> None:
    """Take no notice of progress."""


def fail(number: int) -> int:
    """Raise one of `ERRORS`."""
    raise ERRORS[number]


def die_elsewhere(number: int, *, home: int) -> int:
    """End the process, unless it is `home`."""
    if os.getpid() != home:
        os._exit(1)
    return number * 2


def is_elsewhere(_number: int) -> bool:
    """Say whether this is a worker."""
    return multiprocessing.parent_process() is not None


@pytest.mark.parametrize("workers", [1, 2])
def test_share_errors_keep_all_their_facts(workers: int) -> None:
    """An error comes back as a value with its type, message, hint and every attribute."""
    outcomes = share(fail, range(len(ERRORS)), workers=workers, progress=ignore)
    for outcome, error in zip(outcomes, ERRORS, strict=True):
        assert type(outcome) is type(error)
        assert isinstance(outcome, PoolerError)
        assert str(outcome) == str(error)
        assert vars(outcome) == vars(error)


def test_share_dead_workers_leave_the_work_to_this_process() -> None:
    """When a worker dies, all results are there nevertheless."""
    task = partial(die_elsewhere, home=os.getpid())
    assert share(task, range(6), workers=2, progress=ignore) == [0, 2, 4, 6, 8, 10]


def test_share_other_processes_take_part() -> None:
    """Workers do some of the work: those items at the end of the list."""
    told: list[int] = []
    elsewhere = share(is_elsewhere, range(2), workers=3, progress=told.append)
    assert elsewhere[-1] is True
    assert sum(told) == 2


def test_share_a_bug_is_not_hidden() -> None:
    """An exception that is no user's error is raised as it is."""
    with pytest.raises(TypeError):
        share(len, [1], workers=1, progress=ignore)


def test_reading_and_pooling_load_nothing_heavy() -> None:
    """What a file-to-file pool imports holds no database, screen, scipy or process pool."""
    code = (
        "import sys, pooler.annotated, pooler.check, pooler.plan, pooler.run_list, pooler.top\n"
        "heavy = {'sqlmodel', 'sqlalchemy', 'pydantic', 'textual', 'rich', 'typer', 'scipy',"
        " 'pandas', 'concurrent.futures', 'multiprocessing'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
