"""Scales of grades: words, ranges, TOML files; guidelines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.collection import Collection
from store.errors import ArgumentError, FormatError
from store.formats.scale import make_scale, parse_scale, scale_from_json, scale_of_grades, scale_to_json
from store.formats.texts import read_guidelines
from store.records import Action, Decision, Grade
from tests.helpers.fixtures import made_once
from tests.helpers.run import Cli, write


@pytest.mark.parametrize(
    ("text", "values", "relaxed", "rigid"),
    [
        ("binary", (0, 1), 1, None),
        ("0-1", (0, 1), 1, None),
        ("0-2", (0, 1, 2), 1, 2),
        ("0-3", (0, 1, 2, 3), 1, 2),
        ("ntcir", (0, 1, 2, 3), 1, 2),
        ("-2-2", (-2, -1, 0, 1, 2), 1, 2),
        ("0-20", tuple(range(21)), 1, 2),
    ],
)
def test_words_and_ranges_are_scales(
    text: str, values: tuple[int, ...], relaxed: int, rigid: int | None
) -> None:
    """Relaxed is the least positive grade, rigid the next, each up to 9 with a key of its own."""
    scale = parse_scale(text)
    assert (scale.values, scale.relaxed, scale.rigid) == (values, relaxed, rigid)
    keys = [grade.key for grade in scale.grades if grade.value <= 9]
    assert len(set(keys)) == len(keys)
    assert {len(key) for key in keys} == {1}


@pytest.mark.vector("NTCIR-3 CLIR: S highly relevant, A relevant, B partially, C not; rigid S, A")
def test_ntcir_letters_keep_their_meaning() -> None:
    """Rigid counts S and A, relaxed B too."""
    scale = parse_scale("ntcir")
    letters = {grade.label[0]: grade.value for grade in scale.grades}
    assert [grade.key for grade in scale.grades] == ["c", "b", "a", "s"]
    assert scale.rigid is not None
    assert {letter for letter, value in letters.items() if value >= scale.rigid} == {"S", "A"}
    assert {letter for letter, value in letters.items() if value >= scale.relaxed} == {"S", "A", "B"}


@pytest.mark.parametrize("text", ["0", "2-2", "3-1", "0-21", "0 - 3", "", "no-such-file.toml", "a-b"])
def test_what_is_no_scale_is_told_with_what_is(text: str) -> None:
    """The message names the option, the hint every way to say it."""
    with pytest.raises(ArgumentError, match="`scale` must") as caught:
        parse_scale(text)
    assert "--scale 0-2" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "keys"), [("8-11", ["8", "9", "", ""]), ("-6-1", ["", "", "z", "y", "x", "-", "0", "1"])]
)
def test_a_grade_that_no_digit_names_has_no_key(text: str, keys: list[str]) -> None:
    """A key that nobody declared would be guessed wrong; the digits are never another grade's."""
    assert [grade.key for grade in parse_scale(text).grades] == keys


def test_toml_file_declares_keys_above_nine_or_leaves_them_out(tmp_path: Path) -> None:
    """A grade without a key is a grade all the same: of imported judgements, say."""
    grades = ((0, ""), (10, 'key = "a"'), (20, ""), (-1, ""))
    text = "".join(f'[[grade]]\nvalue = {value}\nlabel = "x"\n{key}\n' for value, key in grades)
    scale = parse_scale(toml(tmp_path, text))
    assert {grade.value: grade.key for grade in scale.grades} == {-1: "-", 0: "0", 10: "a", 20: ""}


@pytest.mark.parametrize("text", ["0-" + "9" * 5000, "x" * 5000], ids=["digits", "name"])
def test_text_of_any_length_is_told_in_one_line(text: str) -> None:
    """Nothing a user types is a traceback."""
    with pytest.raises(ArgumentError):
        parse_scale(text)


def toml(tmp_path: Path, text: str) -> str:
    """Write a scale file and return its path."""
    file = tmp_path / "scale.toml"
    file.write_text(text, "utf-8")
    return str(file)


def test_toml_file_is_a_scale_in_any_order(tmp_path: Path) -> None:
    """Values, labels, keys and both readings are those of the file."""
    path = toml(
        tmp_path,
        'relaxed = 2\nrigid = 3\n[[grade]]\nvalue = 3\nlabel = "適合"\nkey = "s"\n'
        '[[grade]]\nvalue = -2\nlabel = "junk"\nkey = "x"\n[[grade]]\nvalue = 2\nlabel = "so"\n',
    )
    scale = parse_scale(path)
    expected = (Grade(-2, "junk", "x"), Grade(2, "so", "2"), Grade(3, "適合", "s"))
    assert (scale.grades, scale.relaxed, scale.rigid) == (expected, 2, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grade", "expected TOML, got: "),
        ("", "expected \\[\\[grade\\]\\] tables"),
        ("[grade]\nvalue = 1\n", "expected \\[\\[grade\\]\\] tables"),
        ("[[grade]]\nvalue = 1\n", "grade 1: expected text for `label`"),
        ('[[grade]]\nvalue = "high"\nlabel = "x"\n', "grade 1: expected an integer `value`"),
    ],
)
def test_toml_file_that_is_no_scale_is_told_with_its_path(tmp_path: Path, text: str, message: str) -> None:
    """The file is named, and what a scale file holds."""
    with pytest.raises(FormatError, match=f"scale.toml: .*{message}"):
        parse_scale(toml(tmp_path, text))


GRADES = '[[grade]]\nvalue = 0\nlabel = "n"\nkey = "n"\n[[grade]]\nvalue = {}\nlabel = "y"\nkey = "y"\n'


@pytest.mark.parametrize("value", ["1.7", "true"])
def test_toml_value_that_is_no_integer_is_a_fault(tmp_path: Path, value: str) -> None:
    """A grade of 1.7 is not a grade of 1."""
    with pytest.raises(FormatError):
        parse_scale(toml(tmp_path, GRADES.format(value)))


@pytest.mark.parametrize("levels", ["relaxed = 2\nrigid = 1", "relaxed = true"])
def test_toml_levels_that_contradict_each_other_are_a_fault(tmp_path: Path, levels: str) -> None:
    """Rigid is never below relaxed, and both are numbers."""
    grades = GRADES.format(1) + '[[grade]]\nvalue = 2\nlabel = "z"\nkey = "z"\n'
    with pytest.raises((FormatError, ArgumentError)):
        parse_scale(toml(tmp_path, f"{levels}\n{grades}"))


@pytest.mark.parametrize(
    ("grades", "message"),
    [
        ((Grade(1, "y", "y"),), "must have at least two grades, each once"),
        ((Grade(1, "y", "y"), Grade(1, "n", "n")), "must have at least two grades, each once"),
        ((Grade(1, "y", "y"), Grade(0, "n", "y")), "must have a different one-character key"),
        ((Grade(1, "y", "yes"), Grade(0, "n", "n")), "must have a different one-character key"),
        ((Grade(1, "y", "\x1b"), Grade(0, "n", "n")), "must have a different one-character key"),
        ((Grade(1, "y", " "), Grade(0, "n", "n")), "must have a different one-character key"),
        ((Grade(-1, "y", "y"), Grade(-2, "n", "n")), "must have a positive grade, or name `relaxed`"),
    ],
)
def test_grades_that_make_no_scale_are_refused(grades: tuple[Grade, ...], message: str) -> None:
    """Two grades need two values and two keys, and one of them must be able to be relevant."""
    with pytest.raises(ArgumentError, match=message):
        make_scale(grades)


@pytest.mark.parametrize("level", [0, 3, -1])
def test_levels_must_cut_the_scale(level: int) -> None:
    """A level at the lowest grade or off the scale makes all or nothing relevant."""
    grades = (Grade(0, "n", "n"), Grade(1, "y", "y"), Grade(2, "z", "z"))
    with pytest.raises(ArgumentError, match=r"`relaxed` must be one of \[1, 2\]"):
        make_scale(grades, relaxed=level)
    with pytest.raises(ArgumentError, match=r"`rigid` must be one of \[1, 2\]"):
        make_scale(grades, rigid=level)


def test_rigid_follows_a_relaxed_level_that_is_given() -> None:
    """Rigid is the next grade above relaxed, or there is none."""
    grades = (Grade(-2, "a", "a"), Grade(-1, "b", "b"), Grade(0, "c", "c"))
    assert make_scale(grades, relaxed=-1).rigid == 0
    assert make_scale(grades, relaxed=0).rigid is None


@given(st.sets(st.integers(-50, 50), min_size=2, max_size=10), st.text("東é\"'\\", max_size=3))
def test_json_gives_the_same_scale_back(values: set[int], label: str) -> None:
    """What the collection stores is the scale that was declared."""
    grades = tuple(Grade(value, label, "abcdefghij"[at]) for at, value in enumerate(values))
    scale = make_scale(grades, relaxed=sorted(values)[1])
    assert scale_from_json(json.loads(json.dumps(scale_to_json(scale)))) == scale


def test_no_grade_has_the_digit_of_another_as_its_key() -> None:
    """On a scale with junk the key 1 is grade 1; negative grades have keys of their own."""
    keys = {grade.value: grade.key for grade in parse_scale("-2-3").grades}
    assert keys == {-2: "x", -1: "-", 0: "0", 1: "1", 2: "2", 3: "3"}


@pytest.mark.parametrize("value", [1_000_000, -1_000_000, 10**22])
def test_a_grade_that_no_engine_holds_is_refused(value: int) -> None:
    """A collection would be made, and fail at its first question."""
    with pytest.raises(ArgumentError, match="grades from -999,999 to 999,999"):
        make_scale((Grade(0, "a", "0"), Grade(1, "b", "1"), Grade(value, "c", "")))


def test_the_largest_grades_that_engines_hold_are_taken() -> None:
    """Six digits, as the refusal says."""
    scale = make_scale((Grade(-999_999, "a", ""), Grade(0, "b", "0"), Grade(999_999, "c", "")))
    assert scale.values == (-999_999, 0, 999_999)


@pytest.mark.parametrize(
    ("grades", "scale"),
    [({0, 1}, "0-1"), ({3, 0}, "0-3"), ({1, 5, 2}, "1-5"), ({1}, "0-1"), ({4}, "0-4"),
     ({0}, "0-1"), (set(), "0-1"), ({0, 20}, "0-20")],
)  # fmt: skip
def test_scale_reaches_over_the_grades(grades: set[int], scale: str) -> None:
    """It is the one that `init --scale LOW-HIGH` would declare; one grade is not enough for it."""
    assert scale_of_grades(grades) == parse_scale(scale)


def test_grades_too_far_apart_are_no_scale() -> None:
    """Who has marks up to 100 is asked to declare which there are."""
    with pytest.raises(ArgumentError, match="the grades go from 0 to 100") as caught:
        scale_of_grades({0, 50, 100})
    assert caught.value.hint is not None
    assert "--map 100=N" in caught.value.hint


@pytest.mark.parametrize(
    ("scale", "values"), [("0-2", "0 1 2"), ("binary", "0 1"), ("ntcir", "0 1 2 3"), ("-2-1", "-2 -1 0 1")]
)
def test_scale_is_declared(cli: Cli, here: Path, scale: str, values: str) -> None:
    """The grades of the scale are said on stderr and are columns of the status."""
    answer = cli("init", "--scale", scale).fine()
    assert (answer.out, answer.err.startswith("made collection.db; grades: ")) == ("", True)
    cli("judges", "add", "anna").fine()
    header = cli("status", "--format", "tsv").fine().out.splitlines()[0].split("\t")
    assert [name for name in header if name.startswith("grade_")] == [
        f"grade_{value}" for value in values.split()
    ]


def test_scale_comes_from_a_toml_file(cli: Cli, here: Path) -> None:
    """A TOML file of [[grade]] tables declares values, labels and keys."""
    write(
        here / "scale.toml",
        *('[[grade]]\nvalue = -2\nlabel = "junk"\nkey = "j"', '[[grade]]\nvalue = 0\nlabel = "no"'),
        '[[grade]]\nvalue = 1\nlabel = "yes"\nkey = "y"',
    )
    said = cli("init", "--scale", "scale.toml").fine().err
    assert "grades: -2 junk [j], 0 no [0], 1 yes [y]" in said


def test_collection_has_a_name(cli: Cli, here: Path) -> None:
    """Its name is its file's unless it is given."""
    cli("init", "--collection", "wine.db").fine()
    assert cli("status", "--collection", "wine.db").fine().out.startswith("wine (wine.db)\n")
    cli("init", "--collection", "beer.db", "--name", "Beer & wine").fine()
    told = cli("status", "--collection", "beer.db").fine().out
    assert told.startswith("Beer & wine (beer.db)\n")


def test_postgresql_holds_a_collection(cli: Cli, postgres_url: str, garden: Path) -> None:
    """On PostgreSQL the same commands give the same pool and the same qrels as on SQLite."""
    options = ("--collection", postgres_url)
    cli("init", *options).fine()
    cli("import", "runs", "--runs", "runs.tsv", *options).fine()
    cli("pool", "--depth", "5", "--out", "stored.txt", *options).fine()
    cli("pool", "--runs", "runs.tsv", "--depth", "5", "--out", "files.txt").fine()
    for suffix in ("", ".manifest.json"):
        stored, files = (garden / f"{name}.txt{suffix}" for name in ("stored", "files"))
        assert stored.read_bytes() == files.read_bytes()
    strict = "judgements/strict.qrels"
    cli("import", "judgements", strict, "--judge", "strict", *options).fine()
    assert cli("export", "qrels", *options).fine().out == (garden / strict).read_text("utf-8")
    assert "already holds a collection" in cli("init", *options).failed(3).err


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"# A\r\n\r\nb", "# A\r\n\r\nb"),
        (b"\xef\xbb\xbf# A\n", "# A\n"),
        (gzip.compress("判定\n".encode(), mtime=0), "判定\n"),
        (b"\x00\x1b[31m", "\x00\x1b[31m"),
    ],
    ids=["line-ends", "byte-order-mark", "gzip", "controls"],
)
def test_text_is_read_as_it_is(tmp_path: Path, raw: bytes, text: str) -> None:
    """Line ends and control characters stay; a byte order mark is no text."""
    path = tmp_path / "g.md"
    path.write_bytes(raw)
    assert read_guidelines(str(path)) == text


@pytest.fixture
@made_once
def empty(cli: Cli, here: Path) -> Path:
    """Work beside an empty collection."""
    cli("init").fine()
    return here


def test_versions_are_set_and_shown(cli: Cli, empty: Path) -> None:
    """Each text is a version, an older one too; the same again is none; any can be printed as it was."""
    first = "# Wine\n\n- *any* part counts\n"
    (empty / "g.md").write_text(first, "utf-8")
    assert cli("import", "guidelines", "g.md").fine().err == "version 1 of the guidelines\n"
    again = cli("import", "guidelines", "g.md").fine().err
    assert again == "version 1 of the guidelines already has this text\n"
    cli("import", "guidelines", "-", stdin="判定基準".encode()).fine()
    assert cli("show", "guidelines", "2").fine().out == "判定基準\n"
    assert cli("import", "guidelines", "g.md").fine().err == "version 3 of the guidelines\n"
    assert cli("show", "guidelines", "1").fine().out == cli("show", "guidelines", "3").fine().out == first
    rows = cli("show", "guidelines", "--format", "json").fine().json()
    assert [(row["version"], row["lines"], row["begins"]) for row in rows] == [
        (1, 3, "# Wine"),
        (2, 1, "判定基準"),
        (3, 3, "# Wine"),
    ]
    assert all(row["created_at"].endswith("+00:00") for row in rows)


def test_outdated_judgements_are_told(cli: Cli, empty: Path) -> None:
    """A new version says how many judgements were made under older ones, or under none."""
    write(empty / "x.run", "1 Q0 a 1 1 x")
    cli("import", "runs", "x.run").fine()
    cli("pool").fine()
    cli("judges", "add", "anna").fine()
    with Collection("collection.db") as opened:
        desk = opened.desk("anna")
        desk.queue("1")
        desk.record(Decision("1", "a", Action.JUDGE, grade=1))
        desk.leave()
    for version, made in ((1, "before there were any"), (2, "under an older one")):
        told = cli("import", "guidelines", "-", stdin=b"a" * version).fine().err
        assert told.splitlines() == [
            f"version {version} of the guidelines",
            f"1 judgement made {made}: pooler status outdated",
        ]


def test_hostile_guidelines_reach_no_terminal(cli: Cli, empty: Path) -> None:
    """Escape sequences are stored as they are and printed as pictures."""
    text = "\x1b]0;owned\x07 \x1b[2J[red]x[/red]\u202e"
    cli("import", "guidelines", "-", stdin=text.encode()).fine()
    with Collection("collection.db") as opened:
        assert opened.guidelines.get().text == text
    shown = cli("show", "guidelines", "1").fine().out
    assert shown == "␛]0;owned␇ ␛[2J[red]x[/red]\ufffd\n"
    for form in ("table", "tsv"):
        listed = cli("show", "guidelines", "--format", form).fine().out
        assert "\x1b" not in listed
        assert "[red]x[/red]" in listed


def test_long_first_line_is_cut_for_people_only(cli: Cli, empty: Path) -> None:
    """A table stays narrow; programs get the line, blank ones before it left out."""
    cli("import", "guidelines", "-", stdin=b"\n\n" + b"word " * 40).fine()
    assert max(map(len, cli("show", "guidelines").fine().out.splitlines())) < 80
    [row] = cli("show", "guidelines", "--format", "json").json()
    assert (row["begins"], row["lines"]) == (("word " * 40).strip(), 3)


def test_refusals(cli: Cli, empty: Path) -> None:
    """No guidelines, no such version, no text, another encoding, no file: each in words."""
    assert "no guidelines yet: pooler import guidelines FILE" in cli("show", "guidelines").fine().out
    missing = cli("show", "guidelines", "1").failed(1).err
    assert "there is no guideline version yet" in missing
    assert "hint: pooler import guidelines FILE" in missing
    cli("import", "guidelines", "-", stdin=b"a").fine()
    unknown = cli("show", "guidelines", "3").failed(1).err
    assert "unknown guideline version `3`; known: `1`" in unknown
    for blank in (b"", b" \r\n\t\n"):
        told = cli("import", "guidelines", "-", stdin=blank).failed(1).err
        assert "expected guidelines, got no text" in told
    assert "-:1: expected UTF-8" in cli("import", "guidelines", "-", stdin=b"\xff").failed(1).err
    assert "no such file" in cli("import", "guidelines", "none.md").failed(1).err
    assert len(cli("show", "guidelines", "--format", "json").json()) == 1
