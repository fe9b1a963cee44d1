"""Which key does what: scales, keymaps, and everything that is wrong with one at once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

from judge_ui.session.keys import (
    FIXED,
    NAMED_KEYS,
    PRESETS,
    Command,
    Keymap,
    command_name,
    key_table,
    read_keymap,
)
from store.errors import ArgumentError, FormatError
from store.records import Document, Grade, Scale
from tests.helpers.terminals import PtyTerminal, begin, judge
from tests.helpers.world import make_scale, parse_scale
from tests.screens.conftest import ENGLISH, Maker

MANUAL = """
u undo, s skip, c can't, e note, n next, p previous, t topic, ? help, q quit, j line down, k line up,
b page up, g top, G bottom, l list, h guidelines, f1 guidelines, / find, ] next hit, [ previous hit, w terms,
v mark, y history, ctrl+r redo, ctrl+p palette, escape topics, backspace undo, pagedown page down
"""


def test_digits_grade_and_letters_command() -> None:
    """On a scale of digits every command has the key of the manual."""
    table = key_table(parse_scale("0-3"))
    assert [table.meaning(key) for key in "01234 "] == [0, 1, 2, 3, None, Command.PAGE_DOWN]
    expected = dict(one.split(" ", 1) for one in MANUAL.strip().replace("\n", " ").split(", "))
    assert {key: str(table.meaning(key)) for key in expected} == expected


@pytest.mark.parametrize("typed", ["²", "①", "٢", "Ⅱ", "S"])
def test_no_other_look_alike_is_a_key(typed: str) -> None:
    """The `²` key of a French keyboard, other digits and capitals do nothing."""
    assert key_table(parse_scale("0-3")).meaning(typed, typed) is None


def test_grade_letters_push_commands_to_other_letters() -> None:
    """NTCIR's c, b, a, s are grades in either case; can't, skip and page up move, and say so."""
    table = key_table(parse_scale("ntcir"))
    assert [table.meaning(key) for key in "cbasCBASｃＳ"] == [0, 1, 2, 3, 0, 1, 2, 3, 0, 3]
    assert [table.name(command) for command in (Command.CANNOT, Command.SKIP)] == ["i", "x"]
    assert table.meaning("i") is Command.CANNOT
    assert table.names(Command.PAGE_UP) == ["PgUp"]


@pytest.mark.parametrize("key", "abcdefghijklmnopqrstuvwxyzGé")
def test_no_command_differs_from_a_grade_by_case_alone(key: str) -> None:
    """Whatever letter a scale takes, Caps Lock is no danger and no two commands share a key."""
    table = key_table(make_scale((Grade(0, "no", key), Grade(1, "yes", "1"))))
    assert table.meaning(key.upper()) == table.meaning(key.lower()) == 0
    assert key.lower() not in {name.lower() for name in table.commands}
    assert len(set(table.best.values())) == len(Command)


def test_a_scale_that_takes_both_letters_pushes_a_command_to_a_function_key() -> None:
    """There is always a key left, since a grade key is one character."""
    scale = make_scale(
        (Grade(0, "no", "s"), Grade(1, "yes", "S"), Grade(2, "very", "?"), Grade(3, "most", "x"))
    )
    table = key_table(scale)
    assert (table.meaning("s"), table.meaning("S")) == (0, 1)
    assert table.name(Command.SKIP) == "F5"
    assert table.meaning("f5") is Command.SKIP
    assert table.name(Command.HELP) == "F3"


def test_a_long_scale_has_its_digits_and_needs_keys_for_the_rest() -> None:
    """A grade that no digit names is not given a letter nobody chose: the refusal names each."""
    with pytest.raises(ArgumentError, match=r"needs a key .*; grades 10, 11 have none") as caught:
        key_table(parse_scale("0-11"))
    assert "--keymap" in str(caught.value.hint)
    table = key_table(parse_scale("0-11"), Keymap({10: ("a",), 11: ("f9",)}))
    assert [table.meaning(key) for key in ("0", "9", "a", "A", "f9")] == [0, 9, 10, 10, 11]


def test_the_ways_out_stay_on_any_scale() -> None:
    """Escape goes back, ctrl+q quits and ctrl+p opens the palette, whatever a keymap says."""
    keymap = Keymap(
        {0: ("a", "f10")}, {Command.INBOX: ("i",), Command.QUIT: ("x",), Command.PALETTE: ("f3",)}
    )
    table = key_table(parse_scale("binary"), keymap)
    assert {key: table.meaning(key) for key in FIXED} == FIXED
    greedy = key_table(parse_scale("binary"), Keymap({}, {Command.UNDO: ("z", *FIXED)}))
    assert {key: greedy.meaning(key) for key in FIXED} == FIXED
    assert [table.name(c) for c in (Command.INBOX, Command.QUIT, Command.PALETTE)] == ["i", "x", "F3"]


@pytest.mark.parametrize("key", ["alt+u", "alt+2", "alt+[", "alt+shift+g"])
def test_a_key_with_alt_means_nothing(key: str) -> None:
    """A torn escape sequence arrives as Alt and a character, and must not act."""
    assert key_table(parse_scale("0-3")).meaning(key, key[-1]) is None


def test_a_keymap_is_followed_by_keys_and_names() -> None:
    """What is remapped has its keys and no others; what it pushed aside moves and says so."""
    keymap = Keymap({2: ("d", "f9"), 0: ("n",)}, {Command.UNDO: ("z", "backspace")})
    table = key_table(parse_scale("0-2"), keymap)
    keys = ("d", "D", "f9", "ｄ", "n", "N", "1", "2", "0", "u", "z", "backspace", "f")
    undo = Command.UNDO
    assert [table.meaning(key) for key in keys] == [
        *(2, 2, 2, 2, 0, 0, 1, None, None),
        *(None, undo, undo, Command.NEXT),
    ]
    assert table.grade_name(2) == "d"
    assert (table.name(undo), table.names(undo)) == ("z", ["z", "Backspace"])
    assert table.name(Command.NEXT) == "f"


def test_a_full_width_grade_key_is_taken_at_its_word() -> None:
    """A scale may declare a full-width key; it then means that grade."""
    scale = Scale((Grade(0, "no", "0"), Grade(1, "yes", "２")), 1, None)
    assert key_table(scale).meaning("２", "２") == 1


DIGITS = parse_scale("0-3")


def written(tmp_path: Path, text: str) -> str:
    """Write a keymap and return its path."""
    file = tmp_path / "keys.toml"
    file.write_text(text, "utf-8")
    return str(file)


def faults_of(tmp_path: Path, text: str, scale: Scale = DIGITS) -> list[str]:
    """Return what is wrong with a keymap."""
    with pytest.raises(FormatError) as caught:
        read_keymap(written(tmp_path, text), scale)
    assert all(line.startswith(f"{tmp_path}/keys.toml: ") for line in str(caught.value).split("\n"))
    return [fault.message for fault in caught.value.faults]


def test_a_file_says_keys_in_many_ways(tmp_path: Path) -> None:
    """One key or several, names in any case and common spellings, commands with hyphen or blank."""
    text = """
    [grades]
    "0" = "a"
    "3" = ["Ｄ", "F9", "Space"]
    [commands]
    undo = ["PgUp", "Control+Shift+Left", "shift+ctrl+right"]
    "next hit" = ";"
    previous_hit = ","
    line-down = "Del"
    "can't" = "Ctrl+K"
    """
    keymap = read_keymap(written(tmp_path, text), DIGITS)
    assert keymap.grades == {0: ("a",), 3: ("D", "f9", " ")}
    assert keymap.commands == {
        Command.UNDO: ("pageup", "ctrl+shift+left", "ctrl+shift+right"),
        Command.NEXT_HIT: (";",),
        Command.PREVIOUS_HIT: (",",),
        Command.LINE_DOWN: ("delete",),
        Command.CANNOT: ("ctrl+k",),
    }
    table = key_table(DIGITS, keymap)
    keys = ("a", "A", "0", "Ｄ", "d", "　", "space", "1", "pageup")
    assert [table.meaning(key, " " if key == "space" else None) for key in keys] == [
        *(0, 0, None, 3, 3, 3, 3, 1, Command.UNDO)
    ]
    assert table.name(Command.PAGE_UP) == "b"
    assert table.name(Command.PAGE_DOWN) == "PgDn"


def test_a_file_can_begin_with_a_preset(tmp_path: Path) -> None:
    """What the file does not say is the preset's."""
    text = 'preset = "home-row"\n[grades]\n"3" = "g"\n'
    assert read_keymap(written(tmp_path, text), DIGITS).grades == {
        0: ("a", "0"),
        1: ("s", "1"),
        2: ("d", "2"),
        3: ("g",),
    }


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[grades]\n"0" = "x"\n"1" = "x"', "key `x` means grade 0 and grade 1: expected one"),
        ('[grades]\n"0" = "1"', "key `1` means grade 0 and grade 1 (its key on the scale)"),
        ('[grades]\n"0" = "x"\n[commands]\nundo = "x"', "key `x` means grade 0 and `undo`"),
        ('[commands]\nundo = "２"', "key `2` means grade 2 (its key on the scale) and `undo`"),
        ('[commands]\nundo = "f9"\nskip = ["a", "F9"]', "key `F9` means `undo` and `skip`"),
        ('[grades]\n"0" = "x"\n[commands]\nundo = "X"', "`undo`: key `X` differs from `x`, grade"),
        ('[commands]\nundo = "escape"', "`undo`: key `escape` always goes back"),
        ('[grades]\n"0" = "ctrl+q"', "grade 0: key `ctrl+q` always quits"),
        ('[commands]\nlist = "Ctrl+P"', "`list`: key `Ctrl+P` always opens the palette"),
        ('[grades]\n"0" = "ctrl+i"', "grade 0: key `ctrl+i` is Tab to a terminal"),
        ('[grades]\n"0" = "ctrl+m"', "grade 0: key `ctrl+m` is Enter to a terminal"),
        ('[grades]\n"0" = "ctrl+["', "grade 0: key `ctrl+[` is Escape to a terminal"),
        ('[grades]\n"0" = "ctrl+h"', "grade 0: key `ctrl+h` is Backspace to a terminal"),
        ('[grades]\n"0" = "shift+1"', "key `shift+1` never arrives: expected the character"),
        ('[grades]\n"0" = "ctrl+1"', "key `ctrl+1` never arrives: most terminals send nothing"),
        ('[grades]\n"0" = "ctrl+shift+a"', "key `ctrl+shift+a` is `ctrl+a` to a terminal"),
        ('[grades]\n"0" = "alt+a"', "key `alt+a` is Escape and a key to a terminal"),
        ('[grades]\n"0" = "super+a"', "key `super+a` never arrives"),
        ('[grades]\n"0" = "enter"', "key `enter` is taken: Enter answers questions"),
        ('[grades]\n"0" = "Tab"', "key `Tab` is taken: Tab moves between fields"),
        ('[grades]\n"0" = "\\u001b"', "key `␛` cannot be typed or cannot be seen"),
        ('[grades]\n"0" = "\\u0301"', "key `\u0301` cannot be typed or cannot be seen"),
        ('[grades]\n"0" = "pagedwon"', "is unknown: expected a character, or a name such as `page"),
        ('[grades]\n"0" = ""', "grade 0: expected a key or a list of keys, got ''"),
        ('[grades]\n"0" = []', "grade 0: expected a key or a list of keys, got []"),
        ('[grades]\n"0" = 7', "grade 0: expected a key or a list of keys, got 7"),
        ('[grades]\n"7" = "x"', "unknown grade `7`; known: `0`, `1`, `2`, `3`"),
        ('[commands]\nundoo = "x"', "unknown command `undoo`; known: `undo`, "),
        ('[commands]\nnext-hit = "x"\nnext_hit = "z"', "`next-hit` is there twice"),
        ("[keys]\n", "unknown section `keys`; known: preset, grades, commands"),
        ("grades = 3", "expected [grades] to be a table of keys, got 3"),
        ('preset = "qwertz"', "`preset` must be one of azerty, home-row, letters, but got 'qwertz'"),
        ("[grades", "expected TOML, got: "),
        ('[grades]\n"0" = "a"\n"0" = "b"', "expected TOML, got: "),
    ],
)
def test_a_keymap_that_cannot_be_used_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    """The message names the file, both meanings or the key, and what is expected."""
    (message,) = faults_of(tmp_path, text)
    assert fault in message


def test_a_full_width_key_of_the_scale_is_the_ascii_one(tmp_path: Path) -> None:
    """An input method sends either: what is a grade in one width is no command in the other."""
    scale = make_scale((Grade(0, "no", "n"), Grade(1, "yes", "２")))
    (message,) = faults_of(tmp_path, '[commands]\nundo = "2"', scale)
    assert message.startswith("key `2` means grade 1 (its key on the scale) and `undo`")


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """Nobody mends a keymap one refusal at a time."""
    text = """
    [grades]
    "0" = "x"
    "1" = "x"
    "10" = "alt+a"
    "12" = "a"
    [commands]
    undo = "1"
    redo = "f1"
    guidelines = "f1"
    """
    messages = faults_of(tmp_path, text, parse_scale("0-11"))
    assert [message.split(":")[0] for message in messages] == [
        "grade 10",
        "unknown grade `12`; known",
        "key `x` means grade 0 and grade 1",
        "key `F1` means `redo` and `guidelines`",
        "this scale needs a key declared for each grade that has no digit; grades 10, 11 have none",
    ]


@pytest.mark.parametrize("name", ["no-such-file", "", "a\0b", "\udc80", "x" * 5000, "."])
def test_a_name_that_is_nothing_is_told_with_what_there_is(name: str) -> None:
    """Nothing a user types is a traceback."""
    with pytest.raises(ArgumentError, match="`keymap` must be one of azerty, home-row, letters"):
        read_keymap(name, DIGITS)


def test_a_file_that_is_no_utf8_is_told(tmp_path: Path) -> None:
    """A keymap of another encoding names its file."""
    file = tmp_path / "keys.toml"
    file.write_bytes(b'[grades]\n"0" = "\xe9"\n')
    with pytest.raises(FormatError, match=r"keys\.toml: expected TOML, got: "):
        read_keymap(str(file), DIGITS)
    file.write_bytes(b"\xef\xbb\xbf" + '[grades]\n"0" = "é"\n'.encode())
    assert read_keymap(str(file), DIGITS).grades == {0: ("é",)}


# The digit row of a French keyboard without Shift, from the key left of Backspace's row:
# & é " ' ( - è _ ç à  type 1 2 3 4 5 6 7 8 9 0 with it.
@pytest.mark.vector("AFNOR NF Z71-300 and the traditional AZERTY layout: digit row")
def test_azerty_grades_without_shift() -> None:
    """Each key of the digit row grades as its digit, with Shift and without."""
    scale = parse_scale("0-9")
    table = key_table(scale, read_keymap("azerty", scale))
    assert [table.meaning(key) for key in "&é\"'(-è_çà"] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]
    assert [table.meaning(key) for key in "1234567890"] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]
    assert [table.grade_name(value) for value in (1, 2)] == ["&", "é"]
    assert table.name(Command.NEXT_HIT) == ";"


def test_azerty_leaves_the_keys_of_other_grades_alone() -> None:
    """On a scale with junk the key `-` stays junk, and `(` is 5."""
    scale = parse_scale("-1-9")
    table = key_table(scale, read_keymap("azerty", scale))
    assert [table.meaning(key) for key in "-§6("] == [-1, 6, 6, 5]


def test_home_row_grades_with_the_left_hand() -> None:
    """The lowest four grades are a s d f; the digits stay; skip moves away from s."""
    table = key_table(DIGITS, read_keymap("home-row", DIGITS))
    assert [table.meaning(key) for key in "asdfASDF0123"] == [0, 1, 2, 3] * 3
    assert table.name(Command.SKIP) == "x"


@pytest.mark.vector("NTCIR-3 CLIR: S highly relevant, A relevant, B partially, C not")
def test_letters_are_those_of_ntcir() -> None:
    """S, A, B and C grade a scale of digits, whatever Caps Lock says."""
    table = key_table(DIGITS, read_keymap("letters", DIGITS))
    assert [table.meaning(key) for key in "SABCsabc"] == [3, 2, 1, 0] * 2
    with pytest.raises(ArgumentError, match=r"needs a scale of three grades .*, but got 6"):
        read_keymap("letters", parse_scale("0-5"))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("scale", ["binary", "0-2", "0-3", "1-4", "-2-2", "0-9", "ntcir"])
def test_presets_suit_every_scale_or_say_why_not(preset: str, scale: str) -> None:
    """Each grade and each command has a key of its own."""
    declared = parse_scale(scale)
    try:
        table = key_table(declared, read_keymap(preset, declared))
    except ArgumentError:
        assert preset == "letters"
        return
    assert set(table.grades.values()) == set(declared.values)
    assert len(set(table.best.values())) == len(Command)
    assert not set(table.best.values()) & set(table.grades)


def test_named_keys_are_those_a_terminal_sends() -> None:
    """Every name that is accepted is one that Textual gives to a sequence of some terminal."""
    known = {key.value for keys in ANSI_SEQUENCES_KEYS.values() if isinstance(keys, tuple) for key in keys}
    assert known >= NAMED_KEYS
    assert known >= FIXED.keys()


KEYS = st.one_of(st.sampled_from(sorted(NAMED_KEYS)), st.characters(min_codepoint=33, max_codepoint=126))
KEY_LISTS = st.lists(KEYS, min_size=1, max_size=3).map(tuple)


@given(
    st.dictionaries(st.sampled_from(range(4)), KEY_LISTS),
    st.dictionaries(st.sampled_from(list(Command)), KEY_LISTS),
)
def test_a_keymap_is_refused_or_leaves_every_key_one_meaning(
    tmp_path_factory: pytest.TempPathFactory,
    grades: dict[int, tuple[str, ...]],
    commands: dict[Command, tuple[str, ...]],
) -> None:
    """Whatever is asked for: each chosen key does what was asked, and every command has a key."""

    def toml(keys: tuple[str, ...]) -> str:
        quoted = ", ".join('"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"' for key in keys)
        return f"[{quoted}]"

    text = "[grades]\n" + "".join(f"{value} = {toml(keys)}\n" for value, keys in grades.items())
    text += "[commands]\n"
    text += "".join(f"{command_name(one)} = {toml(keys)}\n" for one, keys in commands.items())
    file = tmp_path_factory.mktemp("keymap") / "keys.toml"
    file.write_text(text, "utf-8")
    chosen = {value: grades.get(value, (str(value),)) for value in range(4)}
    pairs = [(key, value) for value, keys in chosen.items() for key in set(keys)]
    pairs += [(key, command) for command, keys in commands.items() for key in set(keys)]
    letters = {key.lower() for key, meaning in pairs if len(key) == 1 and isinstance(meaning, int)}
    clash = len({key for key, _ in pairs}) < len(pairs) or any(
        len(key) == 1 and key.lower() in letters for key, meaning in pairs if isinstance(meaning, Command)
    )
    try:
        keymap = read_keymap(str(file), DIGITS)
    except FormatError:
        assert clash
        return
    assert not clash
    table = key_table(DIGITS, keymap)
    assert all(table.meaning(key) == meaning for key, meaning in pairs)
    assert set(table.best) == set(Command)
    assert len(set(table.best.values())) == len(Command)
    assert all(table.meaning(key) is command for command, key in table.best.items())
    assert all(table.meaning(key) is command for key, command in FIXED.items())


def test_a_keymap_that_takes_every_key_is_refused() -> None:
    """A command without a key is told, not lost."""
    everything = tuple(sorted(NAMED_KEYS)) + tuple(map(chr, range(33, 127)))
    table = key_table(parse_scale("binary"), Keymap({0: everything[:60], 1: ("é",)}))
    assert set(table.best) == set(Command)
    with pytest.raises(ArgumentError, match="`keymap` must leave a key for undo, or give it one"):
        key_table(parse_scale("binary"), Keymap({0: everything, 1: ("é",)}))


SAID = ("2 relevant saved", "0 not", "1 partially", "undone", "2 relevant saved", "")


@pytest.mark.slow
def test_the_full_screen_has_the_keys_of_the_keymap(
    make_collection: Maker, collection_file: Path, tmp_path: Path
) -> None:
    """The hints name them, and they grade: without Shift on a French keyboard, or as told."""
    documents = [Document(f"d{n}", "", f"Text {n}.") for n in range(5)]
    collection = make_collection({ENGLISH: documents})
    path = written(tmp_path, 'preset = "azerty"\n[grades]\n"0" = "f9"\n[commands]\nundo = "z"\n')
    options = ("--topic", "12", "--min-dwell", "0")
    environment = {"POOLER_KEYMAP": path}
    with PtyTerminal(judge(collection_file, *options), environment=environment) as terminal:
        begin(terminal)
        screen = terminal.wait_for("Text 0.", "[F9]", "[&]", "[é]", "z undo")
        assert "[0]" not in screen
        for key, said in zip(("é", "\x1b[20~", "&", "z", "2", "u0"), SAID, strict=True):
            place = terminal.send(key.encode())
            terminal.wait_for(said, since=place)
            terminal.until_quiet()
        terminal.send(b"\x11")
        terminal.wait()
    grades = {one.docno: one.grade for one in collection.judgements.current(["alice"])}
    assert grades == {"d0": 2, "d1": 0, "d2": 2}


@pytest.mark.slow
def test_the_line_mode_has_them_too(make_collection: Maker, collection_file: Path) -> None:
    """The prompt names them, full width or not; a fault in the keymap is told before anything."""
    collection = make_collection({ENGLISH: [Document("d0", "", "x"), Document("d1", "", "y")]})
    command = (*judge(collection_file), "--plain", "--topic", "12", "--keymap")
    done = subprocess.run(
        (*command, "letters"), input="Ａ\nb\n", capture_output=True, check=True, encoding="utf-8"
    )
    assert "grade c/b/a" in done.stdout
    grades = {one.docno: one.grade for one in collection.judgements.current(["alice"])}
    assert grades == {"d0": 2, "d1": 1}
    refused = subprocess.run((*command, "qwerty"), capture_output=True, check=False, text=True)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "`--keymap` must be one of azerty, home-row, letters, or a TOML file" in refused.stderr
