"""Votes of judges out of files: what a collection with the same judgements would give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.votes import PLACE_OF_STATE, Cells, PopulationVotes, population_votes
from store.errors import ArgumentError, UnknownNameError
from store.formats.tables import Numbering
from store.judging.kinds import Voters, choose_voters
from store.records import Judge, JudgeKind, Judgement, Scale
from store.text import natural_key

_LISTED = -4
"""A line that says pooled, not judged: no cell, as it is no event in a collection."""


class FileVotes:
    """Judgements of files, measured as those of a collection are; `scale` is set before votes are asked for.

    `docno_ids` are numbers of docnos that rankings have already, 0 to n - 1.
    """

    def __init__(self, docno_ids: Mapping[str, int] | None = None) -> None:
        self.topics = Numbering()
        self.docnos = Numbering(docno_ids or {})
        self.scale: Scale | None = None
        self._kinds: dict[str, JudgeKind] = {}
        self._named: set[str] = set()
        self._parts: list[NDArray[np.int64]] = []

    def add_judgements(
        self,
        judgements: Sequence[Judgement],
        kinds: Mapping[str, JudgeKind],
        *,
        listed: Iterable[tuple[str, str]] = (),
        is_named: bool = False,
    ) -> None:
        """Add a file of one or more judges: current states, each (topic, docno, judge) once.

        `kinds` has every judge of the file, in their order; `listed` the lines that say "pooled, not judged".
        `is_named` = the user named the judges, so that they are measured with no grade, too.
        """
        codes = {name: self._add_judge(name, kind, is_named=is_named) for name, kind in kinds.items()}
        rows = [
            (
                self.topics[one.topic],
                self.docnos[one.docno],
                codes[one.judge],
                PLACE_OF_STATE.get(one.state, 0),
                one.grade or 0,
            )
            for one in judgements
        ]
        rows += [(self.topics[topic], self.docnos[docno], -1, _LISTED, 0) for topic, docno in listed]
        self._parts.append(np.array(rows, dtype=np.int64).reshape(-1, 5).T)

    def judges(self) -> list[Judge]:
        """Return every judge, in the order of the files."""
        return [Judge(name, kind) for name, kind in self._kinds.items()]

    def voters(self, of: Sequence[str] = (), kinds: Sequence[str] = ()) -> Voters:
        """Choose whose judgements count; see `store.judging.kinds.choose_voters`.

        A judge whom the user named has graded; where all were named, there is no choice.
        """
        cells = self._cells()
        codes = set(np.unique(cells[2, cells[3] == 0]).tolist())
        graders = {name for code, name in enumerate(self._kinds) if name in self._named or code in codes}
        if not kinds and graders <= self._named:
            of = of or [*graders]
        return choose_voters(self.judges(), graders, of=of, kinds=kinds)

    def _cells(self) -> NDArray[np.int64]:
        return np.concatenate([np.empty((5, 0), dtype=np.int64), *self._parts], axis=1)

    def votes(self, judges: Sequence[str] | None = None, *, least: int = 2) -> PopulationVotes:
        """Return the grades of some judges; see `store.grades.votes.CollectionGrades.votes`.

        By default those who count, but for those without a grade that a file of several judges names.
        """
        if self.scale is None:
            raise ArgumentError("scale", "must be set before votes are taken", None)
        cells = self._cells()
        for name in judges or ():
            if name not in self._kinds:
                raise UnknownNameError("judge", name, self._kinds)
        names = list(dict.fromkeys(self.voters().voting if judges is None else judges))
        everybody = list(self._kinds)
        code_of = np.full(len(everybody) + 1, -1, dtype=np.int64)  # the last one is of code -1
        code_of[[everybody.index(name) for name in names]] = np.arange(len(names))
        cells = cells[:, (cells[3] != _LISTED) & (code_of[cells[2]] >= 0)]
        found = np.unique(cells[0]).tolist()
        texts = list(self.topics)
        order = sorted(found, key=lambda number: natural_key(texts[number]))
        new_code = np.zeros(len(texts), dtype=np.int64)
        new_code[order] = np.arange(len(order))
        values = self.scale.values
        return population_votes(
            Cells(
                topics=tuple(texts[number] for number in order),
                judges=tuple(names),
                scale_values=values,
                topic_codes=new_code[cells[0]],
                documents=cells[1],
                judge_codes=code_of[cells[2]],
                places=np.where(cells[3] < 0, cells[3], np.searchsorted(values, cells[4])),
            ),
            least=least,
        )

    def _add_judge(self, name: str, kind: JudgeKind, *, is_named: bool) -> int:
        """Give a new judge the next number; one file says all that there is of a judge."""
        if name in self._kinds:
            raise ArgumentError("judge", "must be in one file only", name)
        self._kinds[name] = kind
        self._named |= {name} if is_named else set()
        return len(self._kinds) - 1
