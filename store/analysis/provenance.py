"""What each run brought to a pool of one topic, at every depth at once.

A document enters the depth-k pool at its best rank in any run, so one pass over the rankings
answers for every depth up to theirs. A document is unique to a group of runs at depth k when every
run that has it within its first k documents belongs to the group; a run is a group of its own.

All functions take `documents`: an array of integers of shape (n_runs, depth) that holds documents,
numbered from 0, in rank order, and -1 where a ranking has ended; no run has a document twice. Their
cost is O(n_runs * depth + n_documents).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError

NO_DOCUMENT = -1
"""Stands where a ranking has ended."""


def best_ranks(documents: NDArray[np.integer], n_documents: int) -> NDArray[np.int64]:
    """Return the least depth at which each document is in the pool.

    Parameters
    ----------
    documents : ndarray of integers, shape (n_runs, depth)
        See the module.
    n_documents : int
        Documents are numbered below it.

    Returns
    -------
    ndarray of int64, shape (n_documents,)
        Best rank in any run, from 1; 0 for a document that no run has.

    Raises
    ------
    ArgumentError
        If a number is not below `n_documents`.

    Examples
    --------
    >>> best_ranks(np.array([[0, 1, 2], [2, 0, -1]]), 4).tolist()
    [1, 2, 1, 0]
    """
    numbers, ranks, _ = _by_rank(documents)
    _check_numbers(numbers, n_documents)
    best = np.zeros(n_documents, np.int64)
    best[numbers[::-1]] = ranks[::-1]  # of several values for one place the last one stays
    return best


def unique_contributions(
    documents: NDArray[np.integer], groups: NDArray[np.integer] | None = None
) -> NDArray[np.int64]:
    """Count the documents that the depth-k pool has through one group of runs alone, for every k.

    Parameters
    ----------
    documents : ndarray of integers, shape (n_runs, depth)
        See the module.
    groups : ndarray of integers, shape (n_runs,), optional
        Code of each run's group, from 0; default: each run is its own group.

    Returns
    -------
    ndarray of int64, shape (n_groups, depth)
        At row `g` and column ``k - 1`` the documents within the first `k` of a run of group `g`
        and of no other run; `n_groups` is the highest code + 1, or `n_runs` without codes.

    Raises
    ------
    ArgumentError
        If `groups` has another length, or a negative code.

    Notes
    -----
    A document is unique from its best rank on, to the group of the run that has it there, up to
    the best rank that a run of another group gives it: deeper than that it is unique no more. So
    the count may fall with k.

    Examples
    --------
    >>> unique_contributions(np.array([[0, 1, 2], [2, 0, -1]])).tolist()
    [[1, 1, 1], [1, 1, 0]]
    >>> unique_contributions(np.array([[0, 1, 2], [2, 0, -1]]), np.array([0, 0])).tolist()
    [[2, 3, 3]]
    """
    n_runs, depth = documents.shape
    codes = np.arange(n_runs) if groups is None else _checked_groups(groups, n_runs)
    numbers, ranks, runs = _by_rank(documents)
    owners = codes[runs]
    n_documents = int(numbers.max(initial=NO_DOCUMENT)) + 1
    first = np.zeros(n_documents, np.int64)
    owner = np.zeros(n_documents, np.int64)
    first[numbers[::-1]] = ranks[::-1]
    owner[numbers[::-1]] = owners[::-1]
    # Depth + 1, the column cut off below, stands for never.
    lost = np.full(n_documents, depth + 1, np.int64)
    is_other = owners != owner[numbers]
    lost[numbers[is_other][::-1]] = ranks[is_other][::-1]
    returned = np.flatnonzero(first)
    n_groups = int(codes.max(initial=-1)) + 1
    shape = (n_groups, depth + 1)
    cells = n_groups * (depth + 1)
    row = owner[returned] * (depth + 1)
    gained = np.bincount(row + first[returned] - 1, minlength=cells).reshape(shape)
    given_up = np.bincount(row + lost[returned] - 1, minlength=cells).reshape(shape)
    return np.cumsum(gained - given_up, axis=1)[:, :depth]


def n_contributing(
    documents: NDArray[np.integer],
    n_documents: int,
    groups: NDArray[np.integer] | None = None,
) -> NDArray[np.int64]:
    """Count the runs, or the groups of runs, that have each document.

    Parameters
    ----------
    documents : ndarray of integers, shape (n_runs, depth)
        See the module; its first `k` columns tell of the depth-k pool.
    n_documents : int
        Documents are numbered below it.
    groups : ndarray of integers, shape (n_runs,), optional
        Code of each run's group, from 0; default: each run is its own group.

    Returns
    -------
    ndarray of int64, shape (n_documents,)
        Runs or groups; 0 for a document that none has.

    Raises
    ------
    ArgumentError
        If a number is not below `n_documents`, or `groups` has another length or a negative code.

    Notes
    -----
    With groups O(n log n) for n places taken.

    Examples
    --------
    >>> n_contributing(np.array([[0, 1, 2], [2, 0, -1]]), 4).tolist()
    [2, 1, 2, 0]
    >>> n_contributing(np.array([[0, 1, 2], [2, 0, -1]]), 4, np.array([0, 0])).tolist()
    [1, 1, 1, 0]
    """
    is_taken = documents != NO_DOCUMENT
    numbers = documents[is_taken]
    _check_numbers(numbers, n_documents)
    if groups is not None:
        codes = _checked_groups(groups, documents.shape[0]).astype(np.int64)
        owners = np.broadcast_to(codes[:, None], documents.shape)[is_taken]
        numbers = np.unique(owners * n_documents + numbers) % max(n_documents, 1)
    return np.bincount(numbers, minlength=n_documents)


def only_contributor(
    documents: NDArray[np.integer],
    n_documents: int,
    groups: NDArray[np.integer] | None = None,
) -> NDArray[np.int64]:
    """Name the run or group that each document is unique to.

    Parameters
    ----------
    documents : ndarray of integers, shape (n_runs, depth)
        See the module; its first `k` columns tell of the depth-k pool. No order is needed.
    n_documents : int
        Documents are numbered below it.
    groups : ndarray of integers, shape (n_runs,), optional
        Code of each run's group, from 0; default: each run is its own group.

    Returns
    -------
    ndarray of int64, shape (n_documents,)
        Code of the only one that has it; -1 where several have it, or none.

    Raises
    ------
    ArgumentError
        If a number is not below `n_documents`, or `groups` has another length or a negative code.

    Examples
    --------
    >>> only_contributor(np.array([[0, 1, 2], [2, 0, -1]]), 4).tolist()
    [-1, 0, -1, -1]
    >>> only_contributor(np.array([[0, 1, 2], [2, 0, -1]]), 4, np.array([5, 5])).tolist()
    [5, 5, 5, -1]
    """
    n_runs = documents.shape[0]
    codes = np.arange(n_runs) if groups is None else _checked_groups(groups, n_runs)
    rows, columns = np.nonzero(documents != NO_DOCUMENT)
    numbers, owners = documents[rows, columns], codes[rows].astype(np.int64)
    _check_numbers(numbers, n_documents)
    highest = np.full(n_documents, -1, np.int64)
    lowest = np.full(n_documents, np.iinfo(np.int64).max)
    np.maximum.at(highest, numbers, owners)
    np.minimum.at(lowest, numbers, owners)
    return np.where(highest == lowest, highest, -1)


def _by_rank(
    documents: NDArray[np.integer],
) -> tuple[NDArray[np.integer], NDArray[np.int64], NDArray[np.int64]]:
    """Return document, rank and run of every place taken, by rank ascending."""
    columns, runs = np.nonzero(documents.T != NO_DOCUMENT)
    return documents[runs, columns], columns + 1, runs


def _check_numbers(numbers: NDArray[np.integer], n_documents: int) -> None:
    """Raise `ArgumentError` when a document's number is not below `n_documents`."""
    highest = int(numbers.max(initial=NO_DOCUMENT))
    if highest >= n_documents:
        raise ArgumentError("documents", f"must be numbers below {n_documents}", highest)


def _checked_groups(groups: NDArray[np.integer], n_runs: int) -> NDArray[np.integer]:
    """Return the codes of the groups when they can be used, else raise `ArgumentError`."""
    if groups.shape != (n_runs,):
        raise ArgumentError("groups", f"must be one code for each of {n_runs} runs", groups.shape)
    if groups.size and groups.min() < 0:
        raise ArgumentError("groups", "must be codes from 0", int(groups.min()))
    return groups
