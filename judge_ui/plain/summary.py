"""The end of a topic in the line mode: what was decided, and what to go over again."""

from __future__ import annotations

from contextlib import suppress

from judge_ui.afterwards import WISHES, Afterwards, own_keys
from judge_ui.keys import Command, half_width
from judge_ui.messages import ALL_DECIDED, forecast_words, tally, topic_name
from judge_ui.plain.answers import Answers
from judge_ui.plain.talk import Talk
from judge_ui.session import JudgingSession
from store.errors import PoolerError
from store.sanitise import sanitise_line


def sum_up(session: JudgingSession, talk: Talk, answers: Answers, n_quick: int) -> Afterwards:
    """Print the counts of a topic that is done, and ask what to do next.

    Parameters
    ----------
    session : JudgingSession
        With that topic open.
    talk : Talk
        Where it is asked.
    answers : Answers
        Names the commands.
    n_quick : int
        Documents that were decided quickly and not gone over since.

    Raises
    ------
    EOFError
        At the end of the input.
    """
    talk.say(f"\n{topic_name(session)}: {ALL_DECIDED}")
    for name, count in tally(session.tasks, session.scale):
        talk.say(f"  {name}: {count}")
    n_skipped = session.progress.skipped
    if n_quick:
        talk.say(f"  decided in under {session.quick_s:g} s: {n_quick}")
    for words in _other_topics(session):
        talk.say(words)
    own = own_keys(lambda key: answers.read(key).meaning)
    stay, again = own[Afterwards.STAY], own[Afterwards.QUICK]
    skip, undo, leave = map(answers.name, (Command.SKIP, Command.UNDO, Command.QUIT))
    offers = {
        Afterwards.INBOX: "Enter = topics",
        Afterwards.SKIPPED: f"{skip} = the {n_skipped} skipped" if n_skipped else "",
        Afterwards.UNDO: f"{undo} = undo",
        Afterwards.STAY: f"{stay} = stay with the documents" if stay else "",
        Afterwards.QUICK: f"{again} = go over the {n_quick} quick" if again and n_quick else "",
        Afterwards.QUIT: f"{leave} quits",
    }
    question = ", ".join(filter(None, offers.values()))
    while True:
        text = talk.ask(question)
        meaning = answers.read(text).meaning
        wish = WISHES.get(meaning) if isinstance(meaning, Command) else None
        if not text:
            wish = Afterwards.INBOX
        elif wish is None:
            wish = next((one for one in own if own[one] == half_width(text).lower()), None)
        if wish is not None and offers[wish]:
            return wish
        talk.say(f"{sanitise_line(text)!r} means nothing here")


def _other_topics(session: JudgingSession) -> list[str]:
    """Say how long the other topics will take, where that is known."""
    here = session.topic.topic if session.topic else ""
    words = ""
    with suppress(PoolerError):
        left = sum(line.left for line in session.inbox() if line.topic != here)
        words = forecast_words(session.forecast(left))
    return [f"other topics: {words}"] if words else []
