"""Near-duplicates of 22,000 and 200,000 made-up texts, with planted ones: seconds and memory."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Iterator
from itertools import accumulate

from store.analysis.duplicates import components, near_pairs, shingle_sets
from store.formats.markup import readable

TARGETS = {22_000: 20, 200_000: 240}
"""Seconds."""
N_WORDS = 50_000


def texts(n: int) -> Iterator[str]:
    """Yield texts of 60 to 200 words by Zipf's law, one in twenty an edit of an earlier one."""
    dice = random.Random(29)
    words = [f"w{number}" for number in range(N_WORDS)]
    weights = [*accumulate(1 / (rank + 1) for rank in range(N_WORDS))]
    kept: list[list[str]] = []
    for number in range(n):
        if number % 20 == 19:
            drawn = list(dice.choice(kept))
            for _ in range(dice.randrange(4)):
                drawn[dice.randrange(len(drawn))] = dice.choice(words)
        else:
            drawn = dice.choices(words, cum_weights=weights, k=dice.randint(60, 200))
        if len(kept) < 1000:
            kept.append(drawn)
        yield " ".join(drawn)


def markdown_speed() -> None:
    """Print what it takes to read 22,000 texts with marks before they are compared."""
    made = []
    for text in texts(22_000):
        words = text.split()
        lines = [" ".join(words[place : place + 20]) for place in range(0, len(words), 20)]
        made.append(
            f"# {lines[0]}\n\n**{words[0]}** [{words[1]}](https://a.example)\n" + "\n\n".join(lines[1:])
        )
    at_work = time.process_time()
    sets = shingle_sets(readable(text, "markdown").text for text in made)
    near_pairs(sets, 0.8)
    spent = time.process_time() - at_work
    print(f"{sets.n_documents:,} texts in Markdown: processor {spent:.1f} s (target 20)")


def join_speed(n: int) -> None:
    """Print what it takes, the making of the texts apart."""
    made = list(texts(n))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun, at_work = time.perf_counter(), time.process_time()
    sets = shingle_sets(made)
    cut = time.perf_counter()
    pairs = near_pairs(sets, 0.8)
    roots = components(pairs, sets.twins)
    done, spent = time.perf_counter(), time.process_time() - at_work
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    n_clusters = len(set(roots.tolist()))
    took = f"{done - begun:.1f} s (target {TARGETS[n]})"
    took += f", of which shingles {cut - begun:.1f}; processor {spent:.1f} s"
    made_of = f"{int(sets.sizes.sum()):,} shingles, {pairs.first.size:,} near pairs, {n_clusters:,} contents"
    memory = f"{(peak - before) / 2**10:.0f} MiB more at the peak, {peak / 2**10:.0f} in all"
    print(f"{n:,} texts, {made_of}: {took}; {memory}")


if __name__ == "__main__":
    markdown_speed()
    for size in TARGETS:
        join_speed(size)
