"""The lines at the foot at every width: keys first, then words."""

from __future__ import annotations

import pytest
from rich.style import Style

from judge_ui.session.keys import key_table
from judge_ui.widgets.laid_out import MarkedText, strong
from judge_ui.widgets.lines import Notice, grade_lines, hint_lines, hints_content, hints_segments, hints_text
from store.records import State, Task
from store.wrapping import cell_width
from tests.helpers.world import parse_scale

UNJUDGED = Task("d1", State.UNJUDGED, None, "", "", 0)


@pytest.mark.parametrize("width", [120, 78, 58, 38])
@pytest.mark.parametrize("scale", ["binary", "0-2", "0-3", "ntcir", "0-10"])
def test_every_grade_key_is_always_there(scale: str, width: int) -> None:
    """However narrow the screen, no grade key is cut off, and the line is as wide as the screen."""
    declared = parse_scale(scale)
    text = grade_lines(declared, UNJUDGED, width)[0].text
    keys = text[: text.index("now:")]
    assert all(f"{grade.key}" in keys for grade in declared.grades)
    assert cell_width(text) == width
    assert text.endswith("now: -")


def test_labels_shrink_to_what_tells_them_apart() -> None:
    """Whole labels where they fit, the widest cut to whole words next, then letters, then keys."""
    scale = parse_scale("0-3")
    lines = [grade_lines(scale, UNJUDGED, width)[0].text for width in (118, 78, 58, 38)]
    assert lines[0].startswith("[0] not relevant  [1] marginally relevant  [2] relevant  [3] highly")
    assert lines[1].startswith("[0] not relevant  [1] marginally  [2] relevant  [3] highly  ")
    assert lines[2].startswith("[0] not [1] margin [2] releva [3] highly  ")
    assert lines[3].startswith("[0]  [1]  [2]  [3]  ")


def test_the_given_grade_is_marked_and_named() -> None:
    """The current grade stands in words on the right and is marked among the keys."""
    task = Task("d1", State.JUDGED, 1, "a note", "", 3)
    marked_text = grade_lines(parse_scale("0-2"), task, 78)[0]
    assert marked_text.text.endswith("now: 1  note: *")
    assert [marked_text.text[start:end] for start, end in marked_text.hits] == ["[1] partially relevant"]


def test_an_unsaved_grade_stays_in_sight() -> None:
    """What could not be written is said beside what is."""
    marked_text = grade_lines(parse_scale("0-2"), UNJUDGED, 78, "2")[0]
    assert marked_text.text.endswith("now: -  NOT SAVED: 2")


@pytest.mark.parametrize("width", [118, 78, 58, 38])
def test_help_is_the_last_hint_to_go(width: int) -> None:
    """The hint line fills the width; help is on it, the status is whole."""
    (line,) = hint_lines(key_table(parse_scale("0-2")), Notice("2 saved 12:04:31"), width)
    assert cell_width(line.text) == width
    assert "? help" in line.text
    assert line.text.endswith("  2 saved 12:04:31")


def test_the_usual_hints_fit_beside_a_save_at_eighty_columns() -> None:
    """The common case needs no help page."""
    (line,) = hint_lines(key_table(parse_scale("0-2")), Notice("2 saved 12:04:31"), 78)
    hints = "u undo  s skip  c can't  e note  / find  ? help  n/p move"
    assert line.text == f"{hints}     2 saved 12:04:31"


def test_hints_show_the_keys_that_work() -> None:
    """Where grades took s and c, the hints say x and i."""
    (line,) = hint_lines(key_table(parse_scale("ntcir")), Notice(), 78)
    assert "x skip  i can't" in line.text


def test_letters_of_a_scale_keep_words_beside_them() -> None:
    """NTCIR's grades lose colons and last words first, and the widest label first."""
    scale = parse_scale("ntcir")
    lines = [grade_lines(scale, UNJUDGED, width)[0].text for width in (118, 78, 58)]
    assert lines[0].startswith(
        "[c] C not relevant  [b] B partially relevant  [a] A relevant  [s] S highly relevant  "
    )
    assert lines[1].startswith("[c] C not  [b] B partially  [a] A relevant  [s] S highly  ")
    assert lines[2].startswith("[c] C not [b] B par [a] A rel [s] S hig  ")


@pytest.mark.parametrize(("width", "said"), [(78, "2 relevant saved 12:04:31"), (58, "2 saved 12:04:31")])
def test_a_save_names_the_grade_where_that_leaves_the_usual_hints(width: int, said: str) -> None:
    """At 80 columns the label is said; at 60 the hints are worth more."""
    status = Notice("2 relevant saved 12:04:31", brief="2 saved 12:04:31")
    (line,) = hint_lines(key_table(parse_scale("0-2")), status, width)
    assert line.text.startswith("u undo  s skip  c can't  e note  ")
    assert "? help " in line.text
    assert line.text.endswith(f" {said}")


def test_a_long_failure_takes_the_place_of_the_hints() -> None:
    """A message is never cut where three lines hold it."""
    message = "NOT SAVED (2 relevant): collection.db: another process is writing " + "x" * 50
    lines = hint_lines(key_table(parse_scale("0-2")), Notice(message, urgent=True), 58)
    assert " ".join(line.text for line in lines).replace(" ", "") == message.replace(" ", "")
    assert all(line.strong == ((0, len(line.text)),) for line in lines)


def test_labels_and_keys_of_a_hostile_scale_are_sanitised() -> None:
    """A scale file cannot steer the terminal either."""
    scale = parse_scale("binary")
    grade = type(scale.grades[1])(1, "rel\x1b[31m", "1")
    marked_text = grade_lines(type(scale)((scale.grades[0], grade), 1, None), UNJUDGED, 78)[0]
    assert "\x1b" not in marked_text.text


def test_lines_are_painted_with_what_stands_out_and_with_the_keys_to_be_clicked() -> None:
    """A key has its label up to two blanks or to the next key; the grade that is given is reversed."""
    line = (
        strong("[0]")
        + MarkedText(" not ")
        + MarkedText("[1] part", hits=((0, 8),))
        + MarkedText("  now: 1  ")
    )
    line += hints_text([("u", "undo")]) + MarkedText("   ") + strong("saved")
    underlined = Style(underline=True)
    painted = [
        (one.text, str(one.style), one.style.meta.get("key")) for one in hints_segments(line, underlined)
    ]
    assert painted == [
        ("[0]", "bold underline magenta", "0"),
        (" not ", "underline", "0"),
        ("[1] part", "bold underline reverse magenta", "1"),
        ("  now: 1  ", "underline", None),
        ("u", "bold underline magenta", "u"),
        (" undo", "underline", "u"),
        ("   ", "underline", None),
        ("saved", "bold underline", None),
    ]
    assert "".join(text for text, _, _ in painted) == line.text == hints_content(line).plain
