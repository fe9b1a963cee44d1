"""Rank the documents of this collection for its topics and write the runs.

Needs only Python and numpy. ``python build.py`` writes ``runs/*.run`` and ``runs.tsv``;
``python build.py --check`` compares the stored files byte for byte and exits with 1 if any differs.
"""

import argparse
import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
RUN_LENGTH = 45  # most documents a run lists for one topic

_STOPS = """a after an and are as at be before but by can do for from has have how i if
    in is it its my no not of off on one only or other so that the them then there they this to
    was we what when which while will with you your か が から こと した して する その た で です
    と な に の は へ ます まで も や よう を"""
STOP_WORDS = frozenset(_STOPS.split())
_WORD = re.compile(
    r"[a-z0-9]+(?:'[a-z]+)?"  # Latin letters and digits
    r"|[\u4e00-\u9fff々]+"  # kanji
    r"|[\u30a1-\u30faー]+"  # katakana
    r"|[\u3041-\u3096]+"  # hiragana
)
_STRETCH = re.compile(r"[a-z0-9']+|[\u4e00-\u9fff々\u30a1-\u30faー\u3041-\u3096]+")

Counts = NDArray[np.int64]
Weights = NDArray[np.float64]


def word_tokens(text: str) -> list[str]:
    """Split text into words.

    Japanese has no blanks, so a word is a longest stretch of one script: kanji, katakana or
    hiragana. This cuts inflected words in two, which is crude on purpose. English words are
    lower-cased, not stemmed. Words that stand in `STOP_WORDS` are dropped.

    Parameters
    ----------
    text : str
        Any text; it is brought to Unicode form NFKC and lower case first.

    Returns
    -------
    list of str
        The words in order of appearance, with repetitions.

    Examples
    --------
    >>> word_tokens("The slugs of May")
    ['slugs', 'may']
    >>> word_tokens("バジルの葉を摘む")
    ['バジル', '葉', '摘', 'む']
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", text).lower())
    return [word for word in words if word not in STOP_WORDS]


def stem_tokens(text: str) -> list[str]:
    """Split text into words as `word_tokens` does and cut them to a rough stem.

    Latin words lose a final "s" (not "ss") and everything behind the fifth letter; stretches of
    one or two hiragana, mostly particles and endings, are dropped. Parameters as there.

    Examples
    --------
    >>> stem_tokens("Watering slugs, 葉を摘む")
    ['water', 'slug', '葉', '摘']
    """
    stems = []
    for word in word_tokens(text):
        if word.isascii():
            stems.append(re.sub("(?<!s)s$", "", word)[:5])
        elif len(word) > 2 or not "\u3041" <= word[0] <= "\u3096":
            stems.append(word)
    return stems


def bigram_tokens(text: str) -> list[str]:
    """Split text into overlapping pairs of characters.

    Pairs cross from kanji to kana, but not a blank, a punctuation mark or the border between
    Latin letters and Japanese. A stretch of one character is kept as it is. No stop list is
    used. Parameters as for `word_tokens`.

    Examples
    --------
    >>> bigram_tokens("A slug, 葉を摘む。")
    ['a', 'sl', 'lu', 'ug', '葉を', 'を摘', '摘む']
    """
    tokens: list[str] = []
    for stretch in _STRETCH.findall(unicodedata.normalize("NFKC", text).lower()):
        tokens += [stretch[i : i + 2] for i in range(max(1, len(stretch) - 1))]
    return tokens


def count_terms(documents: Sequence[Sequence[str]], query: Sequence[str]) -> tuple[Counts, Weights]:
    """Count the tokens of documents and of one query over a common vocabulary.

    Parameters
    ----------
    documents : sequence of sequences of str, length n_documents
        The tokens of each document.
    query : sequence of str
        The tokens of the query; those that no document holds are dropped.

    Returns
    -------
    counts : ndarray of int64, shape (n_documents, n_terms)
        How often each document holds each term; terms in code point order.
    query_weights : ndarray of float64, shape (n_terms,)
        How often the query holds each term.
    """
    terms = sorted({token for tokens in documents for token in tokens})
    column = {term: i for i, term in enumerate(terms)}
    counts = np.zeros((len(documents), len(terms)), dtype=np.int64)
    for row, tokens in enumerate(documents):
        for term, count in Counter(tokens).items():
            counts[row, column[term]] = count
    query_weights = np.zeros(len(terms), dtype=np.float64)
    for term, count in Counter(query).items():
        if term in column:
            query_weights[column[term]] = count
    return counts, query_weights


def bm25_scores(counts: Counts, query_weights: Weights, *, k1: float = 1.2, b: float = 0.75) -> Weights:
    r"""Score documents with BM25.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_documents, n_terms)
        How often each document holds each term; every document holds some term.
    query_weights : ndarray of float64, shape (n_terms,)
        Weight of each term in the query, usually its count; 0 for terms not in the query.
    k1 : float, default=1.2
        Saturation of the term frequency, greater than 0.
    b : float, default=0.75
        Strength of the length normalisation, in [0, 1].

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Scores, at least 0 and without a unit; 0 for a document that shares no term with the query.

    Notes
    -----
    .. math:: s(d) = \sum_t q_t \ln\left(1 + \frac{N - n_t + 0.5}{n_t + 0.5}\right)
              \frac{f_{td}}{f_{td} + k_1 (1 - b + b\, l_d / \bar l)}

    with :math:`N` documents, of which :math:`n_t` hold term :math:`t`; :math:`f_{td}` the count
    and :math:`l_d` the document length in tokens. The 1 inside the logarithm keeps the weight of
    frequent terms above 0; [1]_ has no such 1.

    References
    ----------
    .. [1] Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
       *Found. Trends Inf. Retr.* 3(4), 333-389, 2009, doi:10.1561/1500000019.
    """
    frequencies = counts.astype(np.float64)
    lengths = frequencies.sum(axis=1, keepdims=True)
    document_frequencies = (counts > 0).sum(axis=0)
    idf = np.log1p((len(counts) - document_frequencies + 0.5) / (document_frequencies + 0.5))
    normaliser = k1 * (1.0 - b + b * lengths / lengths.mean())
    scores: Weights = (query_weights * idf * frequencies / (frequencies + normaliser)).sum(axis=1)
    return scores


def dirichlet_scores(counts: Counts, query_weights: Weights, *, mu: float = 100.0) -> Weights:
    r"""Score documents with the query likelihood under Dirichlet smoothing.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_documents, n_terms)
        How often each document holds each term; every term occurs in some document.
    query_weights : ndarray of float64, shape (n_terms,)
        Weight of each term in the query, usually its count; 0 for terms not in the query.
    mu : float, default=100.0
        Weight of the collection model in tokens, greater than 0.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Natural logarithms of probabilities, at most 0 (nats), also for documents that share no
        term with the query.

    Notes
    -----
    .. math:: s(d) = \sum_t q_t \ln \frac{f_{td} + \mu\, p(t \mid C)}{l_d + \mu}

    as in [1]_, where :math:`p(t \mid C)` is the share of term :math:`t` among all tokens.

    References
    ----------
    .. [1] Zhai, Lafferty, "A Study of Smoothing Methods for Language Models Applied to
       Information Retrieval", *ACM TOIS* 22(2), 179-214, 2004, doi:10.1145/984321.984322.
    """
    background = counts.sum(axis=0) / counts.sum()
    lengths = counts.sum(axis=1, keepdims=True)
    logarithms = np.log((counts + mu * background) / (lengths + mu))
    scores: Weights = (query_weights * logarithms).sum(axis=1)
    return scores


def cosine_scores(counts: Counts, query_weights: Weights) -> Weights:
    r"""Score documents with the cosine of tf-idf vectors.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_documents, n_terms)
        How often each document holds each term; every term occurs in some document.
    query_weights : ndarray of float64, shape (n_terms,)
        Count of each term in the query; 0 for terms not in the query.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Cosines in [0, 1]; 0 where either vector has length 0.

    Notes
    -----
    Counts :math:`f > 0` weigh :math:`(1 + \ln f) \ln(N / n_t)`, of the family in [1]_.

    References
    ----------
    .. [1] Salton, Buckley, "Term-Weighting Approaches in Automatic Text Retrieval",
       *Inf. Process. Manage.* 24(5), 513-523, 1988, doi:10.1016/0306-4573(88)90021-0.
    """
    idf = np.log(len(counts) / (counts > 0).sum(axis=0))
    vectors = np.where(counts > 0, 1.0 + np.log(np.maximum(counts, 1)), 0.0) * idf
    query = np.where(query_weights > 0, 1.0 + np.log(np.maximum(query_weights, 1.0)), 0.0) * idf
    lengths = np.sqrt((vectors**2).sum(axis=1) * (query**2).sum())
    scores: Weights = (vectors * query).sum(axis=1) / np.where(lengths > 0, lengths, 1.0)
    return scores


def rm3_weights(
    counts: Counts, query_weights: Weights, *, n_documents: int = 5, n_terms: int = 20, original: float = 0.5
) -> Weights:
    r"""Expand a query with terms of the documents ranked first for it (RM3).

    Parameters
    ----------
    counts : ndarray of int64, shape (n_all_documents, n_all_terms)
        How often each document holds each term.
    query_weights : ndarray of float64, shape (n_all_terms,)
        Weight of each term in the query; at least one is greater than 0.
    n_documents : int, default=5
        Number of documents that are taken to be relevant.
    n_terms : int, default=20
        Number of terms kept from them.
    original : float, default=0.5
        Share of the old query in the new one, in [0, 1].

    Returns
    -------
    ndarray of float64, shape (n_all_terms,)
        Weights of the expanded query; they sum to 1.

    Notes
    -----
    .. math:: p(t \mid R) \propto \sum_{d} \frac{f_{td}}{l_d} \, p(Q \mid d)

    over the documents ranked first by `dirichlet_scores`, with a uniform prior [1]_; the
    `n_terms` largest are scaled to sum to 1 and mixed with the old query [2]_.

    References
    ----------
    .. [1] Lavrenko, Croft, "Relevance-Based Language Models", *SIGIR 2001*, 120-127,
       doi:10.1145/383952.383972.
    .. [2] Abdul-Jaleel et al., "UMass at TREC 2004: Novelty and HARD", *TREC 2004*.
    """
    scores = dirichlet_scores(counts, query_weights)
    first = np.argsort(-scores, kind="stable")[:n_documents]
    likelihoods = np.exp(scores[first] - scores[first].max())
    lengths = counts[first].sum(axis=1)
    model = (counts[first] * (likelihoods / lengths)[:, np.newaxis]).sum(axis=0)
    kept = np.argsort(-model, kind="stable")[:n_terms]
    expansion = np.zeros_like(query_weights)
    expansion[kept] = model[kept] / model[kept].sum()
    mixed: Weights = original * query_weights / query_weights.sum() + (1.0 - original) * expansion
    return mixed


@dataclass(frozen=True)
class RunSpec:
    """How one run is made."""

    tag: str
    group: str
    tokens: Callable[[str], list[str]]
    score: Callable[[Counts, Weights], Weights]
    fields: tuple[str, ...]
    is_expanded: bool = False
    contributes: bool = True


T, TD, TDN = ("title",), ("title", "description"), ("title", "description", "narrative")
RUNS = (
    RunSpec("bm25-words", "words", word_tokens, bm25_scores, TD),
    RunSpec("lm-words-full", "words", word_tokens, dirichlet_scores, TDN),
    RunSpec("tfidf-words", "words", word_tokens, cosine_scores, TD),
    RunSpec("bm25-stems-full", "stems", stem_tokens, bm25_scores, TDN),
    RunSpec("bm25-bigrams", "bigrams", bigram_tokens, bm25_scores, TD),
    RunSpec("lm-bigrams-full", "bigrams", bigram_tokens, dirichlet_scores, TDN),
    RunSpec("rm3-bigrams", "feedback", bigram_tokens, dirichlet_scores, TD, is_expanded=True),
    RunSpec("rm3-words-title", "feedback", word_tokens, dirichlet_scores, T, is_expanded=True),
    RunSpec("late-tfidf-bigrams", "late", bigram_tokens, cosine_scores, TD, contributes=False),
)


def read_jsonl(path: Path) -> list[dict[str, str]]:
    """Read a file that holds one JSON object a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def render_run(spec: RunSpec, documents: Sequence[dict[str, str]], topics: Sequence[dict[str, str]]) -> str:
    """Rank the documents for every topic and return the text of a TREC run file.

    Only documents that share a token with the query are listed, at most `RUN_LENGTH` a topic.
    Scores are rounded to six decimals before sorting, so ties in the file are ties of the
    ranking: score descending, then docno descending bytewise. `documents` hold ``docno``,
    ``title`` and ``text``; `topics` hold ``topic`` and the fields that `spec` names.
    """
    tokens = [spec.tokens(f"{document['title']}\n{document['text']}") for document in documents]
    lines = []
    for topic in topics:
        query = spec.tokens("\n".join(topic[field] for field in spec.fields))
        counts, query_weights = count_terms(tokens, query)
        if spec.is_expanded:
            query_weights = rm3_weights(counts, query_weights)
        scores = spec.score(counts, query_weights)
        is_match = counts[:, query_weights > 0].sum(axis=1) > 0
        matches: list[int] = np.flatnonzero(is_match).tolist()
        ranking = sorted(
            ((round(float(scores[i]), 6), documents[i]["docno"]) for i in matches),
            key=lambda entry: (entry[0], entry[1].encode()),
            reverse=True,
        )
        for rank, (score, docno) in enumerate(ranking[:RUN_LENGTH], start=1):
            lines.append(f"{topic['topic']} Q0 {docno} {rank} {score:.6f} {spec.tag}\n")
    return "".join(lines)


def build() -> dict[str, bytes]:
    """Make every computed file; return the contents by path relative to this directory."""
    documents = read_jsonl(HERE / "documents.jsonl")
    topics = read_jsonl(HERE / "topics.jsonl")
    files = {"runs.tsv": "file\ttag\tgroup\tcontributes\n"}
    for spec in RUNS:
        name, contributes = f"runs/{spec.tag}.run", "yes" if spec.contributes else "no"
        files[name] = render_run(spec, documents, topics)
        files["runs.tsv"] += f"{name}\t{spec.tag}\t{spec.group}\t{contributes}\n"
    return {path: text.encode() for path, text in files.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or compare them with the stored ones; return the exit code."""
    parser = argparse.ArgumentParser(description="Write the runs of this collection.")
    parser.add_argument("--check", action="store_true", help="compare the stored files instead")
    parsed = parser.parse_args(arguments)
    files = build()
    if not parsed.check:
        for name, content in files.items():
            (HERE / name).parent.mkdir(exist_ok=True)
            (HERE / name).write_bytes(content)
        sys.stdout.write(f"{len(files)} files written.\n")
        return 0
    names = set(files) | {f"runs/{path.name}" for path in (HERE / "runs").glob("*.run")}
    n_different = 0
    for name in sorted(names):
        path = HERE / name
        if not path.is_file() or path.read_bytes() != files.get(name):
            n_different += 1
            sys.stderr.write(f"{name}: differs from a fresh build\n")
    sys.stdout.write(f"{len(names)} files compared, {n_different} different.\n")
    return 1 if n_different else 0


if __name__ == "__main__":
    sys.exit(main())
