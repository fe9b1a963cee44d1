"""Runs go out of a collection byte for byte as they were handed in."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.trec_covid import data_path

HEAD = "# ir_metadata.start\n# actor: {team: g}\n# ir_metadata.end\n"
FORMS = {
    "shortest": "1 Q0 a 1 12.5 {}\n1 Q0 b 2 3.0 {}\n2 Q0 a 1 1e-05 {}\n",
    "shortest-tabs": "1\tQ0\ta\t1\t12.5\t{}\n1\tQ0\tb\t2\t3.0\t{}\n",
    "bare": "1 Q0 a 1 12.5 {}\n1 Q0 b 2 3 {}\n",
    "bare-tabs": "1\tQ0\ta\t1\t1000\t{}\n1\tQ0\tb\t2\t-3.5\t{}\n",
    "fixed": "1 Q0 a 1 12.340 {}\n1 Q0 b 2 3.125 {}\n",
    "fixed-tabs": "1\tQ0\ta\t1\t12.3400\t{}\n2\tQ0\tb\t1\t-3.1251\t{}\n",
    "four": "1 Q0 a 1 12.5000 {}\n1 Q0 b 2 3.1200 {}\n",
    "four-tabs": "1\tQ0\ta\t1\t12.0000\t{}\n1\tQ0\tb\t2\t3.0000\t{}\n",
    "six": "1 Q0 a 1 12.340000 {}\n1 Q0 b 2 3.000000 {}\n",
}


def out_and_in(cli: Cli, here: Path, files: dict[str, bytes]) -> tuple[dict[str, bytes], str]:
    """Return the run files of an export, and what was said; the export comes back and gives itself again."""
    (here / "in").mkdir()
    for name, content in files.items():
        (here / "in" / f"{name}.run").write_bytes(content)
    cli("init", "--scale", "0-1").fine()
    cli("import", "runs", *sorted((here / "in").iterdir())).fine()
    said = cli("export", "collection", "out").fine().err
    cli("import", "collection", "out", "--collection", "again.db").fine()
    cli("export", "collection", "out2", "--collection", "again.db").fine()
    assert (here / "out" / "manifest.json").read_bytes() == (here / "out2" / "manifest.json").read_bytes()
    return {path.stem: path.read_bytes() for path in (here / "out" / "runs").iterdir()}, said


@pytest.mark.parametrize("head", [HEAD, ""])
def test_each_form_comes_out_as_it_went_in(cli: Cli, here: Path, head: str) -> None:
    """Tabs or blanks; shortest, bare, fixed scores."""
    files = {name: (head + text.format(*[name] * 3)).encode() for name, text in FORMS.items()}
    found, said = out_and_in(cli, here, files)
    assert found == files
    assert "byte for byte" not in said
    again = {name: hashlib.sha256(content).hexdigest() for name, content in found.items()}
    listed = (here / "out" / "runs.tsv").read_text("utf-8")
    assert all(one in listed for one in again.values())


def test_other_forms_are_told(cli: Cli, here: Path) -> None:
    """Blanks and tabs in one file: written with blanks, and said."""
    found, said = out_and_in(cli, here, {"mixed": b"1 Q0 a 1 2.50 mixed\n1\tQ0\tb\t2\t1.0 mixed\n"})
    assert found == {"mixed": b"1 Q0 a 1 2.5 mixed\n1 Q0 b 2 1.0 mixed\n"}
    assert "1 run not byte for byte as handed in (mixed): " in said


@pytest.mark.slow
def test_runs_of_trec_covid_come_out_as_they_went_in(cli: Cli, here: Path) -> None:
    """But one of more digits than a number holds, and three with whole scores bare on some lines only."""
    folder = data_path("runs-top120")
    files = {
        path.name[:-3]: HEAD.encode() + gzip.decompress(path.read_bytes()) for path in folder.glob("*.gz")
    }
    found, said = out_and_in(cli, here, files)
    other = {"Technion-MEDMM", "wistud_bing", "wistud_indri", "wistud_noSearch"}
    assert {name for name in files if found[name] != files[name]} == other
    assert "4 runs not byte for byte as handed in (Technion-MEDMM, wistud_bing, wistud_indri, ...)" in said
