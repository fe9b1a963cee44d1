"""Run files of the size of MS MARCO's, written fast: `python -m tests.benchmarks.generate_scale`.

Each topic has candidate documents of its own; a run ranks them by their merit and its own noise.
Docnos and topic ids are plain numbers, as in MS MARCO. The runs differ in their scores (decimals,
integers with very many ties, negative ones, exponents) and in whether a topic's lines are sorted.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

N_DOCUMENTS = 8_841_823
"""Of the collection, as in MS MARCO."""
_STEP = 7_919
"""Prime, and no factor of `N_DOCUMENTS`: so a topic's candidates are different documents."""
_TOPICS_AT_ONCE = 100
_CANDIDATES_PER_DOCUMENT = 2
_FIRST_TOPIC = 1_000_000
_KINDS = 5


def generate_scale(folder: Path, runs: int, topics: int, documents: int, seed: int) -> list[Path]:
    """Write run files.

    Parameters
    ----------
    folder : Path
        Where; made when it is missing.
    runs, topics, documents : int
        Files, topics in each, and documents in each topic.
    seed : int
        The same seed makes the same bytes.

    Returns
    -------
    list of Path
        One file a run, `r000.run` onwards.

    Notes
    -----
    Some 3 million lines a second.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = generate_scale(Path(folder), runs=2, topics=3, documents=5, seed=1)
    ...     [len(file.read_bytes().splitlines()) for file in files]
    [15, 15]
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number in range(runs):
        rng = np.random.default_rng([seed, number])
        file = folder / f"r{number:03d}.run"
        with file.open("wb") as out:
            for first in range(0, topics, _TOPICS_AT_ONCE):
                n_topics = min(_TOPICS_AT_ONCE, topics - first)
                out.write(_lines(rng, number, first, n_topics, documents))
        files.append(file)
    return files


def _lines(rng: np.random.Generator, number: int, first: int, n_topics: int, documents: int) -> bytes:
    """Make the lines of some topics of a run."""
    n_candidates = _CANDIDATES_PER_DOCUMENT * documents
    seen = np.linspace(20.0, 10.0, n_candidates) + rng.normal(scale=2.0, size=(n_topics, n_candidates))
    best = np.argsort(-seen, axis=1)[:, :documents]
    if number % 3 == 2:
        rng.permuted(best, axis=1, out=best)
    scores = np.take_along_axis(seen, best, axis=1).ravel()
    topics = np.arange(first, first + n_topics)[:, np.newaxis]
    docnos = (topics * 1_000_003 + best * _STEP) % N_DOCUMENTS
    ranks = np.broadcast_to(np.arange(1, documents + 1), best.shape)
    text = np.concatenate(
        [
            _integers(np.broadcast_to(topics + _FIRST_TOPIC, best.shape).ravel(), 7),
            _same(b" Q0 ", best.size),
            _integers(docnos.ravel(), 7),
            _same(b" ", best.size),
            _integers(ranks.ravel(), len(str(documents))),
            _same(b" ", best.size),
            *_score_columns(scores, number % _KINDS),
            _same(f" run{number}\n".encode(), best.size),
        ],
        axis=1,
    )
    return text[text != 0].tobytes()


def _score_columns(scores: NDArray[np.float64], kind: int) -> list[NDArray[np.uint8]]:
    """Show scores, one way a kind."""
    n = scores.size
    if kind == 3:
        return [_integers(np.rint(scores).astype(np.int64), 2)]
    decimals = 6 if kind in (0, 4) else 4
    if kind == 2:
        scores = scores - 40.0
    whole, rest = np.divmod(np.rint(np.abs(scores) * 10**decimals).astype(np.int64), 10**decimals)
    shown = [_integers(whole, 2), _same(b".", n), _digits(rest, decimals)]
    if kind == 2:
        shown.insert(0, _same(b"-", n))
    if kind == 4:
        shown.append(_same(b"e-01", n))
    return shown


def _same(text: bytes, n: int) -> NDArray[np.uint8]:
    """Show the same text in all lines, shape (n, length of the text)."""
    return np.broadcast_to(np.frombuffer(text, np.uint8), (n, len(text)))


def _digits(numbers: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    """Show numbers that are not negative with leading zeros, shape (n, width)."""
    shown = np.empty((numbers.size, width), np.uint8)
    for place in range(width - 1, -1, -1):
        numbers, last = np.divmod(numbers, 10)
        shown[:, place] = last + ord("0")
    return shown


def _integers(numbers: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    """Show numbers that are not negative; NUL in place of leading zeros."""
    shown = _digits(numbers, width)
    is_leading = np.logical_and.accumulate(shown[:, :-1] == ord("0"), axis=1)
    shown[:, :-1][is_leading] = 0
    return shown


def main() -> None:
    """Write the files the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--topics", type=int, default=7000)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    generate_scale(given.folder, given.runs, given.topics, given.documents, given.seed)


if __name__ == "__main__":
    main()
