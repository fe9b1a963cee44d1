"""What may reach a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.text import sanitise, sanitise_line

BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
BIDI_MARKS = "\u061c\u200e\u200f"


def steers(character: str) -> bool:
    """Tell, by the Unicode database alone, whether a character could steer a terminal."""
    return (
        (unicodedata.category(character) == "Cc" and character not in "\n\t")
        or unicodedata.category(character) in ("Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in BIDI
        or character in BIDI_MARKS
    )


def test_nothing_that_steers_survives_and_all_else_does() -> None:
    """For the first 0x3000 code points and every surrogate, one by one."""
    for code in (*range(0x3000), *range(0xD800, 0xE000)):
        character = chr(code)
        clean = sanitise(f"a{character}b")
        if steers(character):
            assert not any(map(steers, clean)), hex(code)
            assert clean.startswith("a"), hex(code)
            assert clean.endswith("b"), hex(code)
        else:
            assert clean == f"a{character}b", hex(code)


@given(st.text(st.characters() | st.sampled_from("\x1b\x9b\x07\r\n\u202e\u2028\ud800")))
def test_any_text_is_clean_and_stays_so(text: str) -> None:
    """No text passes on a control; cleaning twice changes nothing more, nor makes it longer."""
    clean = sanitise(text)
    assert not any(map(steers, clean))
    assert sanitise(clean) == clean
    assert len(clean) == len(text) - text.count("\r")
    clean.encode()


@given(st.text(st.characters() | st.sampled_from("\n\t\r\u2028\x0b\x0c\x85")))
def test_a_line_stays_one_line(text: str) -> None:
    """A title or an id breaks no table, whatever line ends it holds."""
    line = sanitise_line(text)
    assert not any(map(steers, line))
    assert len(line.splitlines()) <= 1
    assert "\n" not in line
    assert "\t" not in line


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("", ""),
        ("plain 東京　タワー é", "plain 東京　タワー é"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc", "a\nbc"),
        ("\x1b[2J", "␛[2J"),
        ("\x1b]52;c;cm0=\x07", "␛]52;c;cm0=␇"),
        ("\x00\x7f\x9b31m", "␀\ufffd\ufffd31m"),
        ("a\u2028b\u2029c", "a\nb\nc"),
        ("user\u202etxt.exe", "user\ufffdtxt.exe"),
        ("\ud83d\ude00", "\ufffd\ufffd"),
        ("😀", "😀"),
    ],
)
def test_examples(text: str, clean: str) -> None:
    """Sequences that clear the screen, write the clipboard or reorder text are shown as text."""
    assert sanitise(text) == clean
