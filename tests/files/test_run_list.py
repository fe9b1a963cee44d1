"""`pooler.reading.run_list`: the file that lists run files."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from pooler.reading.run_list import RunEntry, as_entries, read_run_list
from store.errors import FormatError, PoolerError


def make(folder: Path, *names: str) -> None:
    """Make empty run files."""
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()


def test_read_run_list_all_columns_in_any_order(tmp_path: Path) -> None:
    """Columns are found by name, empty cells have their defaults, blank lines are passed over."""
    path, elsewhere = tmp_path / "runs.tsv", tmp_path / "elsewhere"
    make(tmp_path, "a.run", "sub/b.run.gz", "elsewhere/c.run", *"defg")
    path.write_text(
        "contributes\ttag\tfile\tgroup\r\n"
        "yes\tbm25\ta.run\tacme\r\n"
        "\r\n"
        "NO\t\tsub/b.run.gz\t\n"
        f"\tc\t{elsewhere}/c.run\tacme\n"
        "0\t\td\t\n"
        "1\t\te\t\n"
        "False\t\tf\t\n"
        "true\t\tg\t\n"
    )
    assert read_run_list(str(path)) == [
        RunEntry(str(tmp_path / "a.run"), "bm25", "acme", contributes=True),
        RunEntry(str(tmp_path / "sub" / "b.run.gz"), None, "", contributes=False),
        RunEntry(f"{elsewhere}/c.run", "c", "acme", contributes=True),
        RunEntry(str(tmp_path / "d"), contributes=False),
        RunEntry(str(tmp_path / "e"), contributes=True),
        RunEntry(str(tmp_path / "f"), contributes=False),
        RunEntry(str(tmp_path / "g"), contributes=True),
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbffile\ttag\r\nruns\\a.run\tr\r\n",
        b"file,tag\nruns/a.run,r\n",
        b'tag,file\r"r","runs\\a.run"\r',
    ],
)
def test_read_run_list_of_windows_is_read(content: bytes, tmp_path: Path) -> None:
    """A byte order mark, line ends, backslashes and commas are as programs there write them."""
    make(tmp_path, "runs/a.run")
    path = tmp_path / "runs.csv"
    path.write_bytes(content)
    assert read_run_list(str(path)) == [RunEntry(str(tmp_path / "runs" / "a.run"), "r")]


def test_read_run_list_standard_input_is_beside_the_working_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A list from standard input names files beneath the working folder."""
    make(tmp_path, "runs/a.run")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"file\nruns/a.run\n")))
    assert read_run_list("-") == [RunEntry(str(Path("runs", "a.run")))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "runs.tsv: expected a header line and at least one run, got none"),
        ("file\n", "runs.tsv: expected a header line and at least one run, got none"),
        ("tag\nbm25\n", "runs.tsv:1: expected a column `file`"),
        ("file\tgruop\n", "runs.tsv:1: expected columns among `group`, .*, got `gruop`"),
        ("file\ttag\ttag\n", "runs.tsv:1: expected column `tag` once"),
        ("file\ttag\na.run\n", "runs.tsv:2: expected 2 cells, got 1"),
        ("file\ttag\n\tx\n", "runs.tsv:2: expected a run file, got ``"),
        ("file\n-\n", "runs.tsv:2: expected a run file, got `-`"),
        ("file\ttag\na.run\tx\ngone.run\ty\n", "runs.tsv:3: there is no run file `gone.run`"),
        ("file\tcontributes\na\tmaybe\n", "expected `contributes` to be yes or no, got `maybe`"),
        ("file\ttag\na\tx y\n", "runs.tsv:2: tag: expected an id without blanks"),
        ("file\tgroup\na\tx\u202ey\n", "runs.tsv:2: group: expected an id without control"),
        ("file\tname\na\tx y\n", "runs.tsv:2: name: expected an id without blanks"),
        ("file\tname\na\tx\nb\tx\n", "runs.tsv:3: name `x` is on line 2 already"),
        ("file\na.run\nb.run\na.run\n", "runs.tsv:4: run file `.*a.run` is on line 2 already"),
    ],
)
def test_read_run_list_bad_list_says_where(text: str, message: str, tmp_path: Path) -> None:
    """Each fault of a list names its line and what was expected."""
    make(tmp_path, "a", "b", "a.run", "b.run")
    path = tmp_path / "runs.tsv"
    path.write_text(text, "utf-8")
    with pytest.raises(FormatError, match=message):
        read_run_list(str(path))


def test_read_run_list_tells_all_faults_at_once(tmp_path: Path) -> None:
    """All bad lines of a list are told together."""
    path = tmp_path / "runs.tsv"
    path.write_text("file\tcontributes\na\tmaybe\nb\nc\tperhaps\n")
    with pytest.raises(FormatError) as caught:
        read_run_list(str(path))
    assert [fault.line for fault in caught.value.faults] == [2, 3, 4]


def test_read_run_list_missing_file_says_so(tmp_path: Path) -> None:
    """A list that is not there is named."""
    with pytest.raises(PoolerError, match=r"gone\.tsv: no such file"):
        read_run_list(str(tmp_path / "gone.tsv"))


def test_entry_check_tag_refuses_another_tag() -> None:
    """A stated tag binds the file; no stated tag binds nothing."""
    RunEntry("a.run").check_tag("x")
    RunEntry("a.run", tag="x").check_tag("x")
    with pytest.raises(FormatError, match=r"^a\.run: expected run tag `x`, as the list .*, got `y`$"):
        RunEntry("a.run", tag="x").check_tag("y")


def test_entry_called_by_another_name_than_its_tag(tmp_path: Path) -> None:
    """A name stands for the tag; a stated tag still binds; readers that keep tags refuse it."""
    path = tmp_path / "runs.tsv"
    make(tmp_path, "a", "b", "c")
    path.write_text("file\tname\ttag\na\tfirst\tx\nb\t\tx\nc\tsecond\t\n")
    first, plain, second = read_run_list(str(path))
    assert [first.called("x"), plain.called("x"), second.called("y")] == ["first", "x", "second"]
    with pytest.raises(FormatError, match="expected run tag `x`, as the list"):
        first.called("y")
    plain.check_tag("x")
    second.check_tag("second")
    with pytest.raises(FormatError, match=r"expected run tag `first`, .* names the run, got `x`"):
        first.check_tag("x")


def test_as_entries_makes_entries_of_paths() -> None:
    """Plain paths become entries without group that contribute; entries stay."""
    entry = RunEntry("b", group="g", contributes=False)
    assert as_entries(["a", entry]) == [RunEntry("a"), entry]


def test_a_list_tells_who_feeds_pools_only_with_a_column_for_it(tmp_path: Path) -> None:
    """Without `contributes` every run feeds pools, but nobody said so."""
    path = tmp_path / "runs.tsv"
    make(tmp_path, "a")
    path.write_text("file\tgroup\na\tx\n")
    [entry] = read_run_list(str(path))
    assert (entry.contributes, entry.is_told) == (True, False)
    path.write_text("file\tcontributes\na\t\n")
    [entry] = read_run_list(str(path))
    assert (entry.contributes, entry.is_told) == (True, True)
