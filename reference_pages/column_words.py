"""What columns hold that need no word below a table, by their names: the same wherever they stand."""

from __future__ import annotations

MEANINGS = {
    "ac1": "Gwet's AC1", "ac2": "Gwet's AC2", "accuracy": "share of documents on the right side of the cut",
    "action": "what was done: judge, skip, cannot, note, mark, undo, reopen, settle",
    "active_ms": "milliseconds on the screen without idle time",
    "active_s": "seconds of work without idle time", "added": "documents that only the second file has",
    "adjudicator": "who ruled", "advice": "what to do", "after": "the value after the change",
    "agreement": "share of agreement on this grade", "ap": "average precision",
    "area": "area under the ROC curve", "at": "when",
    "at_desk": "whether it was done at the judging screen", "band": "the word for a value of that size",
    "before": "the value before the change", "begins": "the first words",
    "best_rank": "best rank of any run", "best_run": "the run that had the best rank",
    "better": "the run ahead", "bpref": "bpref", "budget": "documents to draw for each topic",
    "calibration": "documents that all judges get", "cannot": "documents that a judge could not judge",
    "certain": "whether the order holds however judged", "changed": "things that changed",
    "check": "the rule", "checked": "how many were looked at", "class": "the true class",
    "classes": "number of classes", "cluster": "the cluster", "clusters": "number of clusters",
    "code": "the kind of fault or warning", "coefficient": "of agreement",
    "column": "the column of the paper's table", "contributes": "whether the run feeds pools",
    "copy": "the other collection", "count": "how often",
    "covariance": "covariance of the two runs over topics",
    "decided": "documents that the judge has decided", "depth": "ranks of every run that are pooled",
    "df": "degrees of freedom", "disabled": "whether the judge is stopped from judging",
    "docno": "the document", "document_sha256": "of the text that was judged",
    "documents": "number of documents", "dwell_ms": "milliseconds on the screen",
    "earliest": "what was decided first", "erratum": "why the paper's number is another",
    "events": "number of events", "examples": "the first faults", "f": "F",
    "fallout": "share of not relevant documents that are retrieved", "faults": "number of faults",
    "file": "the file", "first": "the first judge", "fold": "the part of the topics",
    "follows": "the revision that stood when the judge acted",
    "forecast_s": "seconds that the rest will take",
    "gain": "part of the uncertainty that a judgement removes", "gap": "the highest grade less the lowest",
    "generality": "share of the collection that is relevant", "given": "times the grade was given",
    "grade": "the grade", "graded": "documents that the judge graded", "grades": "the grades given",
    "greatest": "the greatest value", "group": "who sent the run, or its kind",
    "guideline_version": "version of the guidelines", "guidelines": "version of the guidelines",
    "h": "share of the variance that found documents take", "h_of": "the variance that H is of",
    "high": "upper limit", "highest": "the highest grade", "host": "the machine",
    "hours": "hours at the pace so far", "imported": "decisions that came from files",
    "interval_error": "error of the limits", "interval_reason": "why there is no interval",
    "inverse_purity": "inverse purity", "is_undone": "whether it was taken back",
    "iteration": "the judging round", "judge": "the judge", "judged": "documents with a grade",
    "judged_at": "when it was judged", "judgements": "number of judgements",
    "judges": "the judges, or their number", "judging": "the variance by judging",
    "judging_variance": "part of the variance that judging brings",
    "k": "K, the share of judging in the variance", "kappa": "Cohen's kappa", "kind": "of which kind it is",
    "kinds": "how many people, models and imported files vote together", "label": "the grade in words",
    "latest": "what was decided last", "law": "by which law the probability was found",
    "least": "the least value", "left": "documents left to decide", "left_out": "those left out",
    "level": "least grade that is relevant", "line": "line of the file",
    "linear": "kappa with linear costs", "lines": "number of lines",
    "listed_unjudged": "listed with a code for unjudged", "low": "lower limit",
    "lowest": "the lowest grade", "macro_overlap": "overlap, averaged over topics",
    "macro_topics": "topics it is averaged over", "map_variance": "variance of MAP over judgings",
    "mean": "the mean", "measure": "the measure", "median": "the median",
    "message": "the fault or warning in words", "min_judges": "judges that a document must have",
    "mixtures": "number of mixtures", "moments_error": "error of the mean and variance",
    "n": "number of documents it is of", "name": "the name", "new": "what only the other copy has",
    "normal": "by the normal law", "note": "the judge's own words", "number": "how many",
    "numbers": "the numbers it rests on", "of": "out of how many",
    "open_places": "places that nobody has claimed", "other_pool": "another pool that has the document",
    "outcome": "what stands now", "overlap": "relevant to both over relevant to either", "p": "two-sided p",
    "pace_s": "seconds a document", "parameters": "what can be set",
    "part": "whether it is the part of one judge", "passages": "marked evidence", "pi": "Scott's pi",
    "pool": "the pool", "pooled": "documents in pools", "pools": "the pools, or their number",
    "positive": "agreement on what is relevant", "precision": "precision",
    "primary": "documents that are the judge's own", "printed": "as printed in the paper",
    "priority": "what the strategy gave the document", "program": "the program and version",
    "purity": "purity", "q": "share of the difference that found documents take",
    "quadratic": "kappa with quadratic costs", "rank": "the rank", "raw": "share of documents graded alike",
    "reason": "why there is no number", "recall": "recall", "relevant": "number of relevant documents",
    "removed": "documents that only the first file has",
    "rested_on": "the text that the judgement rests on", "reversed": "how likely the order turns about",
    "revision": "number of the event, from 1", "round": "the judging round",
    "rounded_to": "to what differences were rounded", "run": "the run", "runs": "the runs, or their number",
    "s": "Bennett's S", "same": "whether, or how often, both are alike",
    "sampled": "whether it is to be judged", "says": "what each copy says", "score": "the score",
    "sd": "standard deviation", "second": "the second judge",
    "second_marginals": "grades of the second judge", "first_marginals": "grades of the first judge",
    "settled": "by which rule it was settled", "sha256": "hash of the file", "share": "the share",
    "shown_at": "when it came on the screen", "sign": "whether the order turns",
    "sitting": "number of the sitting", "sittings": "number of sittings", "skipped": "documents put off",
    "source": "where it was published",
    "specificity": "share of not relevant documents that are not retrieved",
    "standardised": "the difference in standard deviations", "state": "unjudged, skipped, cannot or judged",
    "statistic": "the test's statistic", "status": "how it stands", "strategy": "how documents are chosen",
    "stratum": "the stratum of the sample", "summary": "in one line", "swapped": "pairs of runs that swap",
    "t1": "t of eq. 8", "t2": "t of eq. 9", "tag": "the run's tag",
    "tau": "Kendall's tau-b with the order before", "test": "the test",
    "text": "whether there is a text, or the text", "tied": "how likely they are equal",
    "timed": "decisions whose time is known", "title": "the title", "took": "what was taken",
    "topic": "the topic", "topic_variance": "part of the variance that topics bring",
    "topic_version": "version of the topic's text", "topics": "number of topics",
    "turns": "whether the order turns about", "unassigned": "documents that nobody has",
    "undefined": "how many have no value", "undid": "the revision that was taken back",
    "undrawn": "documents that are still to be drawn", "unjudged": "documents without a grade",
    "until": "when the claim ends", "value": "the value", "variance": "the variance",
    "version": "the version", "w": "W of Shapiro and Wilk",
    "wanted": "the width that is asked for", "weighted_f": "F with the weighted inverse purity",
    "weighted_inverse_purity": "inverse purity weighted by the size of clusters", "what": "what it is",
    "why": "why", "withdrawn": "whether it is no longer in use", "worse": "the run behind",
}  # fmt: skip
MEANINGS |= {"judged bool": "whether somebody judged it", "part bool": "whether it is the part of one judge"}
ENDINGS = {
    "_found": "once the documents are found", "_low": "lower limit", "_high": "upper limit",
    "_se": "standard error", "_a": "of run A", "_b": "of run B", "_before": "before", "_after": "after",
    "_error": "error of the number", "_interval": "on an interval scale", "_nominal": "nominal",
    "_ordinal": "ordinal", "_normal": "by the normal law", "_included": "with judging included",
    "_removed": "with judging removed", "_judging": "by judging", "_topics": "by topics",
    "_unjudged": "among the unjudged", "_judged": "among the judged", "_relevant": "among the relevant",
    "_unrounded": "without rounding",
}  # fmt: skip
"""What the end of a name adds to what the rest means."""


def meaning(name: str) -> str:
    """Return what a column of this name holds; nothing where the name says it.

    >>> meaning("judging_variance_a_found")
    'part of the variance that judging brings, of run A, once the documents are found'
    >>> meaning("unheard_of")
    ''
    """
    if name in MEANINGS:
        return MEANINGS[name]
    for end, adds in ENDINGS.items():
        if name.endswith(end) and (rest := meaning(name.removesuffix(end))):
            return f"{rest}, {adds}"
    return ""
