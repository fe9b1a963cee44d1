"""Add, disable, rename or erase judges, and make their access codes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pooler.command import Confirm, Option, Stored, command
from pooler.judge_kinds import warn_about_name
from pooler.messages import say, warn, write
from pooler.result import Done, Result, frozen_settings
from pooler.tables import JUDGE, Column, Table, View
from store.errors import ArgumentError, Fault, FormatError, PoolerError
from store.formats.scale import read_toml
from store.model_judge import NOT_STATED, ModelIdentity, prompt_hash
from store.text import counted

if TYPE_CHECKING:
    from store.db.engine import Scrubbed
    from store.judging.erasing import Erasing


_FIELDS = {"topic": ("title", "description", "narrative"), "doc": ("title", "text")}


_SHOWN = [f"{one}.{name}" for one, names in _FIELDS.items() for name in names]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_map(value: Any) -> bool:
    def is_grade(text: str) -> bool:
        return text.removeprefix("-").isdecimal()

    return isinstance(value, dict) and all(is_grade(old) and type(new) is int for old, new in value.items())


_KEYS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "model": ("the model's id, as the server knows it", _is_text),
    "revision": ("the revision of its weights", _is_text),
    "family": ("the name of a family of models", _is_text),
    "endpoint": ("a kind of server, as chat-completions", _is_text),
    "host": ("a host and port, without a key", _is_text),
    "prompt": ("the file of the template of the prompt", _is_text),
    "parser": ("a rule that reads answers, as json-grade:1", _is_text),
    "shows": (
        f"a list of {', '.join(_SHOWN)}",
        lambda value: isinstance(value, list) and all(one in _SHOWN for one in value),
    ),
    "max_characters": ("an integer >= 1", lambda value: type(value) is int and value >= 1),
    "map": ("a table of grades, as 3 = 2", _is_map),
    "parameters": ("a table of what is sent, as temperature = 0", lambda value: isinstance(value, dict)),
}


def read_card(file: str | Path) -> tuple[ModelIdentity, str | None]:
    """Return who a model is by its card, and the prompt whose file, beside the card, it names."""
    card = read_toml(str(file))
    faults = [f"expected {', '.join(_KEYS)}; got the key `{name}`" for name in card if name not in _KEYS] + [
        f"`{name}`: expected {what}, got {card[name]!r}"
        for name, (what, is_right) in _KEYS.items()
        if name in card and not is_right(card[name])
    ]
    if "model" not in card:
        faults.append(f"expected the key `model`: {_KEYS['model'][0]}")
    if faults:
        raise FormatError(str(file), [Fault(None, one) for one in faults])
    prompt = None if "prompt" not in card else _read_prompt(Path(file).parent / card["prompt"])
    parser, _, version = card.get("parser", "").partition(":")
    shows = card.get("shows", ())
    topic, document = (
        tuple(one for one in names if f"{noun}.{one}" in shows) for noun, names in _FIELDS.items()
    )
    identity = ModelIdentity(
        model=card["model"],
        revision=card.get("revision", NOT_STATED),
        endpoint=card.get("endpoint", NOT_STATED),
        host=card.get("host", NOT_STATED),
        prompt_sha256=NOT_STATED if prompt is None else prompt_hash(prompt),
        parameters=card.get("parameters", {}),
        parser=parser or NOT_STATED,
        parser_version=version or NOT_STATED,
        grade_map={int(old): new for old, new in card.get("map", {}).items()},
        topic_fields=topic,
        document_fields=document,
        max_characters=card.get("max_characters"),
        cut="end" if "max_characters" in card else "never",
        family=card.get("family", ""),
    )
    return identity, prompt


def _read_prompt(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        raise PoolerError(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        message = f"{file}: expected UTF-8, got the byte {error.object[error.start]:#04x} at {error.start}"
        raise PoolerError(message) from error


JudgeName = Annotated[str, Option("NAME", "The judge.")]
JudgeNames = Annotated[Sequence[str], Option("NAME...", "Judges.")]
_REMOVED = {
    "done": "the file was rewritten: no byte of what was removed is left in it",
    "not-here": "PostgreSQL keeps removed rows on disk until VACUUM FULL, and may"
    " keep them in its logs and archives: ask the server's administrator",
}
_NOT_REMOVED = {
    "open-elsewhere": "another program has the collection open: what was removed stays in the file"
    " until that program is closed",
    "not-rewritten": "another program was writing, or the disk is full: what was removed is overwritten, but"
    " earlier copies may be in the file until it is rewritten; `sqlite3 FILE VACUUM` does that",
}


def report_removed(scrubbed: Scrubbed, elsewhere: str) -> None:
    """Report where what was removed may still be found."""
    if scrubbed.value in _REMOVED:
        say(_REMOVED[scrubbed.value])
    else:
        warn(_NOT_REMOVED[scrubbed.value])
    say(f"backups and exports made before are unchanged: {elsewhere}")


@command
def judges_add(
    collection: Stored,
    names: Annotated[Sequence[str], Option("NAME...", "One word each.")],
    *,
    kind: Annotated[
        Literal["human", "model", "imported", "adjudicator"] | None,
        Option("--kind", default="human; with --model, model"),
    ] = None,
    model: Annotated[str | Path | None, Option("--model CARD.toml")] = None,
) -> Done:
    """Add judges.

    The card says who a model is: model (its id), revision, family, endpoint, host, prompt (a file beside the
    card), parser, shows (a list such as ["topic.title", "doc.text"]), max_characters, and the tables
    parameters and map (FROM = TO: grades read as others); all but model may be left out. The same model with
    another prompt or another temperature is another judge. The card is read once, before the model judges,
    and never changes.

    Example: pooler judges add carol dora

    Example: pooler judges add judy --model judy.toml

    kind : human; model (a language model's labels); imported (a qrels file of unknown making); adjudicator.
    model : The card of a model, which is one judge.

    Raises
    ------
    FormatError
        With every fault of the card.
    ConflictError
        If a model of that name is another one, or has judged already.
    """
    from store.fields import id_fault
    from store.records import JudgeKind

    for name in names:  # all, before the first is added
        if fault := id_fault(name):
            raise ArgumentError("names", f"must be one word: {fault}", None)
    n_new = 0
    if model is not None:
        if kind not in (None, "model"):
            raise ArgumentError("model", f"says who a model is, and cannot be used with --kind {kind}", None)
        if len(names) > 1:
            raise ArgumentError("names", "must be one: a card is of one judge", names[1])
        identity, prompt = read_card(model)
        n_new = collection.models.add(names[0], identity, prompt=prompt)
        say(f"model judge {names[0]} " + ("stated" if n_new else "is stated already, by the same card"))
        say(f"its identity: {identity.sha256}")
    else:
        of_kind = JudgeKind(kind or "human")
        for name in names:
            new = collection.judges.add(name, of_kind)
            n_new += new
            say(f"judge {name} ({of_kind}) " + ("added" if new else "already exists"))
    for name in names:
        warn_about_name(name)
    return Done(counts=frozen_settings(added=int(n_new)))


@command
def judges_disable(collection: Stored, names: JudgeNames) -> Done:
    """Stop judges from judging.

    What they judged stays, and counts as before.

    Example: pooler judges disable bob
    """
    changed = collection.judges.set_disabled(names, disabled=True)
    for name in dict.fromkeys(names):
        say(f"judge {name} " + ("disabled" if name in changed else "was already disabled"))
    for line in collection.assignments.workloads().lines:
        if line.judge not in names:
            continue
        if line.claimed:
            it = "it" if line.claimed == 1 else "them"
            say(
                f"{counted(line.claimed, 'document')} claimed by {line.judge} without a"
                f" decision: others may claim {it} when the lease has run out"
            )
        if by_name := line.left - line.claimed - line.lapsed:
            have = "has" if by_name == 1 else "have"
            say(
                f"{counted(by_name, 'document')} assigned to {line.judge} {have} no decision:"
                " pooler assign --replace gives them to others"
            )
    return Done(counts=frozen_settings(changed=len(changed)))


@command
def judges_enable(collection: Stored, names: JudgeNames) -> Done:
    """Let disabled judges judge again.

    Example: pooler judges enable bob
    """
    changed = collection.judges.set_disabled(names, disabled=False)
    for name in dict.fromkeys(names):
        say(f"judge {name} " + ("enabled" if name in changed else "was not disabled"))
    return Done(counts=frozen_settings(changed=len(changed)))


@command
def judges_code(collection: Stored, name: JudgeName, *, revoke: bool = False) -> Done:
    """Make a judge's access code for `pooler serve`, and show it once.

    Only its hash is stored, in this database alone: no page, export or backup has it. A judge has one code:
    a new one ends the old one, and every screen opened with it.

    Example: pooler judges code alice

    Example: pooler judges code alice --revoke

    revoke : End the judge's code.

    Returns
    -------
    Done
        `written` has the code.
    """
    if revoke:
        gone = collection.codes.revoke(name)
        say(f"the code of {name} is no longer valid" if gone else f"judge {name} has no code")
    else:
        write([collection.codes.give(name)])
        say(f"anyone with this code judges as {name}; it is not shown again")
    return Done()


@command
def judges_rename(
    collection: Stored,
    old: Annotated[str, Option("OLD", "The judge.")],
    new: Annotated[str, Option("NEW", "One word, the name of no other judge.")],
) -> Done:
    """Give a judge another name.

    The judge keeps everything judged so far, and files saved on their pages can still be imported. The
    old name is replaced in plans, pools and rounds, too, and the file is rewritten without its bytes; notes
    and reasons stay as they were written.

    Example: pooler judges rename ann anna
    """
    done = collection.judges.rename(old, new)
    say(f"judge {old} is {new} now")
    warn_about_name(new)
    if done.named.plans:
        use = "uses" if done.named.plans == 1 else "use"
        say(f"{counted(done.named.plans, 'plan')} named the judge, and now {use} the new name")
    for before, after in done.named.pools.items():
        say(f"pool {before} is {after} now" if after != before else f"the round of pool {before} is renamed")
    if done.named.events:
        say(f"the round of {counted(done.named.events, 'event')} is renamed")
    if done.in_notes:
        say(f"the old name stays in {counted(done.in_notes, 'note or reason', 'notes and reasons')}")
    for live in done.live:
        where = f" on {live.host}" if live.host else ""
        say(
            f"{new} is at work{where}: everything is saved under the new name, but the screen"
            " shows the old one until it is closed"
        )
    report_removed(done.scrubbed, "they have the old name")
    return Done()


_ERASED = {
    "judgements": "judgement[|s]",
    "cannot": "document[|s] found impossible to judge",
    "skipped": "document[|s] skipped",
    "events": "event[|s] in all, taken back or not",
    "notes": "note[ or reason|s and reasons]",
    "passages": "marked passage[|s]",
    "sittings": "sitting[|s]",
    "answers": "answer[|s] of the model",
    "kept": "judged document[|s] that other judges graded too: [it keeps|they keep] those grades",
    "lost": "judged document[|s] without another grade: [it then has|they then have] none",
    "rulings": "ruling[ of an adjudicator|s of adjudicators] that also rest[s|] on theirs: [it stays|they"
    " stay], and so does what [it|each] rests on: the grades that the adjudicator saw, without names",
    "places": "assignment[|s] of theirs",
    "reopened": "claim[|s] of theirs: anybody may then claim the document[|s]",
    "unassigned": "document[|s] then unassigned: pooler assign --add",
    "plans_naming": "plan[ that names|s that name] the judge: the name becomes 'erased'",
    "pools_naming": "pool[|s] named after the judge, or [its round|their rounds]: likewise",
    "rounds_naming": "event[|s] in rounds named after the judge: likewise",
    "notes_naming": "note[ or reason of others that names|s and reasons of others that name] the judge:"
    " [it stays as it is|they stay as they are]; pooler export judgements --history has [it|them]",
}
"""Each count in words, [of one|of several]."""
_RULINGS = {
    "judgements": "ruling[|s]: the judges' grades count again",
    "cannot": "ruling[|s] that a document cannot be judged",
}
"""The same, of an adjudicator."""


@command
def judges_erase(
    collection: Stored, name: JudgeName, *, dry_run: bool = False, confirm: Confirm = None
) -> ErasingResult:
    """Erase a judge: name, judgements, notes, passages, sittings, assignments.

    Only a count and an identity number without a name remain; status, agreement, the list of judges and
    every export state the count: "31 judgements of an erased judge removed". Thanks to the number, a
    backup that still has the judge is not restored by mistake. Backups and exports made before still
    have everything, name and number; `pooler export collection --anonymised` leaves the number
    out. Other judges' judgements stay as they are.

    Example: pooler judges erase bob --dry-run

    dry_run : Only show what would go and what would stay.

    Examples
    --------
    >>> import pooler as p
    >>> p.judges_erase("collection.db", "bob", dry_run=True).counts["judgements"]  # doctest: +SKIP
    31
    """
    preview = ErasingResult(found=collection.erasures.erase(name, dry_run=True), is_done=False)
    if dry_run:
        return preview
    for sentence in preview.sentences():
        say(f"  {sentence}")
    if confirm is not None:
        confirm(f"Erase judge {name}?")
    done = collection.erasures.erase(name)
    say(f"judge {name} erased: {counted(done.judgements, 'judgement')}, {counted(done.events, 'event')}")
    assert done.scrubbed is not None
    report_removed(
        done.scrubbed,
        "they still hold what was erased; a count and an identity number without a name stay here, and"
        " those files show whose they are; `pooler export collection --anonymised` leaves the number out",
    )
    return ErasingResult(found=done, is_done=True)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ErasingResult(Result):
    """What goes with a judge, and what stays; tables: `erasing` of counts, and `pairs` of judges.

    `pairs` has the judges with documents in common, whose agreement with this one is gone then.
    """

    found: Erasing
    is_done: bool

    SHOWN = None

    @property
    def counts(self) -> dict[str, int]:
        """Every count by its name."""
        found, named = self.found, self.found.named
        naming = {
            "plans_naming": named.plans,
            "pools_naming": len(named.pools),
            "rounds_naming": named.events,
            "notes_naming": found.in_notes,
        }
        return {name: naming[name] if name in naming else getattr(found, name) for name in _ERASED}

    def sentences(self) -> Iterator[str]:
        """Yield what goes and what stays, a line each."""
        for words, number in self._counted():
            yield f"{number:,} {words}"
        if self.found.shared:
            pairs = ", ".join(f"{other.judge} ({other.documents:,})" for other in self.found.shared)
            yield f"the agreement with {pairs} is lost; in brackets, documents both graded"
        yield from self._unassigned()

    def lines(self) -> Iterator[str] | None:
        """Return no lines once it is done: the command has said them."""
        return iter(()) if self.is_done else None

    def _tables(self) -> Iterator[Table]:
        columns = [Column("what", most=70), Column("number", "int")]
        rows = [{"what": what, "number": number} for what, number in self.counts.items()]
        worded = [{"what": words, "number": number} for words, number in self._counted()]
        nothing = [] if worded else [f"judge {self.found.judge} has done nothing"]
        notes = ["nothing is changed", *nothing, *self._unassigned()]
        shown = View(Table.of_rows("erasing", columns, worded, notes=notes))
        yield Table.of_rows("erasing", columns, rows).seen_as(shown)
        if self.found.shared:
            columns = [JUDGE, Column("documents", "int", "documents both graded")]
            title = "Pairs whose agreement is lost"
            yield Table.of_records("pairs", columns, self.found.shared, title=title)

    def _counted(self) -> Iterator[tuple[str, int]]:
        words = _ERASED | (_RULINGS if self.found.is_adjudicator else {})
        for name, number in self.counts.items():
            if number:
                yield re.sub(r"\[(.*?)\|(.*?)\]", r"\1" if number == 1 else r"\2", words[name]), number

    def _unassigned(self) -> Iterator[str]:
        if self.found.is_last_assigned:
            yield "nothing is assigned then, and every judge sees every pool"
