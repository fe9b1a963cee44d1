"""Run files of any size, made from a seed: `python -m tests.benchmarks.generate FOLDER`.

Every topic has candidate documents of its own, each with a merit; a run sees the merits through
noise of its own strength, so that runs overlap as submitted runs do. The files differ as submitted
files do: score formats (some with very many ties), blanks or tabs, lines sorted or shuffled within
a topic, ranks from 0 or from 1, a few with Windows line ends.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

SCORE_FORMATS: tuple[Callable[[float], str], ...] = (
    "{:.4f}".format,
    "{:.1f}".format,
    "{:g}".format,
    "{:.6e}".format,
    "{:.17g}".format,
    lambda score: str(round(score * 10)),
    lambda score: f"{score - 30:.5f}",
)
CANDIDATES_PER_DOCUMENT = 4
UNIVERSE_PER_CANDIDATE = 25


def generate(
    folder: Path, runs: int, topics: int, documents: int, seed: int, *, sorted_only: bool = False
) -> list[Path]:
    """Write run files.

    Parameters
    ----------
    folder : Path
        Where; made when it is missing.
    runs, topics, documents : int
        Files, topics in each, and documents in each topic.
    seed : int
        The same seed makes the same bytes.
    sorted_only : bool, default=False
        Keep every topic's lines in score order.

    Returns
    -------
    list of Path
        One file a run, `r000.run` onwards.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = generate(Path(folder), runs=2, topics=3, documents=5, seed=1)
    ...     [len(file.read_bytes().splitlines()) for file in files]
    [15, 15]
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng([seed, 0])
    n_candidates = CANDIDATES_PER_DOCUMENT * documents
    n_universe = UNIVERSE_PER_CANDIDATE * n_candidates + topics
    candidates = [rng.choice(n_universe, n_candidates, replace=False) for _ in range(topics)]
    merits = rng.exponential(size=(topics, n_candidates))
    docnos = np.array([f"FR94{number % 12 + 1:02d}-{number:07d}" for number in range(n_universe)])
    files = []
    for number in range(runs):
        run_rng = np.random.default_rng([seed, 1, number])
        show = SCORE_FORMATS[number % len(SCORE_FORMATS)]
        blank = "\t" if number % 5 == 1 else " "
        end = "\r\n" if number % 10 == 7 else "\n"
        first_rank = number % 2
        is_shuffled = number % 3 == 2 and not sorted_only
        noise = run_rng.uniform(0.2, 2.0)
        tag = f"{'abcdefgh'[number % 8]}_run{number}"
        blocks = []
        for topic in range(topics):
            seen = merits[topic] + noise * run_rng.standard_normal(n_candidates)
            best = np.argsort(-seen, kind="stable")[:documents]
            names = docnos[candidates[topic][best]].tolist()
            scores = (10.0 * seen[best]).tolist()
            lines = [
                blank.join((str(topic + 1), "Q0", docno, str(rank), show(score), tag)) + end
                for rank, (docno, score) in enumerate(zip(names, scores, strict=True), start=first_rank)
            ]
            if is_shuffled:
                lines = [lines[index] for index in run_rng.permutation(documents).tolist()]
            blocks.append("".join(lines))
        file = folder / f"r{number:03d}.run"
        file.write_bytes("".join(blocks).encode("ascii"))
        files.append(file)
    return files


def main() -> None:
    """Write the files the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=120)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    generate(given.folder, given.runs, given.topics, given.documents, given.seed)


if __name__ == "__main__":
    main()
