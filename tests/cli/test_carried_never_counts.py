"""No command takes what is carried over for a judgement: all print what they did, or tell it apart."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.api.test_commands import COMMANDS
from tests.cli.mirrored import MIRRORS, add_mirror
from tests.helpers.run import Cli

OTHERS = [
    "export qrels --judge strict",
    "export qrels --kinds model --aggregate majority --ties low --unjudged -1 --manifest m.json",
    "export judgements",
    "export judgements --history",
    "export pool --name pool-2 --annotated --judge strict",
    "export probabilities",
    "export ntcir --judge strict",
    "show doc MIRROR-031",
    "show doc KG-E-031",
    "show pool pool-2",
    "history G01 MIRROR-031",
    "history G01 KG-E-031",
    "assign --dry-run alice --pool pool-2 --seed 1",
    "diagnose --judge strict --depth 5",
    "replay --judge strict -s take --depth 5",
    "agreement --kinds model",
    "estimate --judge strict",
]
"""What the tests of the API do not ask for."""
TELLS = {
    *(
        "status",
        "status --by-topic",
        "list topics",
        "list docs",
        "list pools",
        "list rounds",
        "verify",
        "history",
    ),
    *("show topic G01", "show doc MIRROR-031", "show doc KG-E-031", "show pool pool-2", "duplicates"),
    *("history G01 MIRROR-031", "history G01 KG-E-031", "assign --dry-run alice --pool pool-2 --seed 1"),
    *("history G01 KG-E-002", "show doc KG-E-002", "show judge strict"),
}
"""Commands that say what is carried over, or pass it over where judges are shown documents."""
_NOT_HERE = ("judges erase", "pool --depth")
"""Commands that change something, whose dry runs need what is not here."""


def told(cli: Cli) -> dict[str, str]:
    """Return what commands print, in JSON where there are tables; errors are as good as tables."""
    found = {}
    commands = [*COMMANDS, *OTHERS, "status --by-topic"]
    for command in commands:
        if command.startswith(_NOT_HERE):
            continue
        words = shlex.split(command)
        as_json = [] if words[0] in ("export", "collapse") else ["--format", "json"]
        done = cli(*words, *as_json)
        found[command] = f"{done.code}\n{done.out}"
        Path("m.json").unlink(missing_ok=True)
    return found


@pytest.mark.slow
def test_no_command_counts_what_is_carried_over(judged: Path, cli: Cli) -> None:
    """Only commands that tell of it print anything else than before, and they name it."""
    add_mirror(cli, judged)
    cli("judges", "add", "alice").fine()
    before = told(cli)
    done = cli("duplicates", "--carry").fine()
    assert "2 documents carried over: shown to no judge, and not judged" in done.err
    after = told(cli)
    assert {command for command in before if before[command] != after[command]} == TELLS
    for command in TELLS - {"verify", "history"}:
        if not command.startswith("assign"):
            assert '"carried' in after[command], command


def graded(text: str) -> dict[str, tuple[str, str]]:
    """Return iteration and grade of a file of qrels, of topic G01, by docno."""
    rows = [line.split() for line in text.splitlines()]
    return {docno: (iteration, grade) for topic, iteration, docno, grade in rows if topic == "G01"}


def test_carried_grades_are_written_when_asked_for_and_marked(judged: Path, cli: Cli) -> None:
    """The lines say so, and the manifest where each is from; without the option they are left out."""
    add_mirror(cli, judged)
    cli("duplicates", "--carry").fine()
    plain = cli("export", "qrels", "--judge", "strict", "--out", "plain.qrels").fine()
    assert "2 documents left out that nobody judged, and a near-duplicate is: --carried writes" in plain.err
    assert not graded(Path("plain.qrels").read_text()).keys() & MIRRORS.keys()
    assert json.loads(Path("plain.qrels.manifest.json").read_text())["carried_over"] == 2
    done = cli("export", "qrels", "--judge", "strict", "--carried", "--out", "all.qrels").fine()
    assert (
        "with 2 grades carried over from near-duplicates, which nobody judged: iteration carried-over"
        in done.err
    )
    assert "pooled and unjudged" not in done.err
    rows = graded(Path("all.qrels").read_text())
    for mirror, docno in MIRRORS.items():
        assert rows[mirror] == ("carried-over", rows[docno][1])
    listed = json.loads(Path("all.qrels.manifest.json").read_text())["carried_over"]
    assert [(one["docno"], one["source"]) for one in listed] == [*MIRRORS.items()]
    assert [one["similarity"] for one in listed] == [pytest.approx(listed[0]["similarity"]), 1]
    assert 0.8 <= listed[0]["similarity"] < 1
    level = cli(
        "export", "qrels", "--judge", "strict", "--carried", "--level", "2", "--unjudged", "-1"
    ).fine()
    binary = graded(level.out)
    for mirror, docno in MIRRORS.items():
        assert binary[mirror] == ("carried-over", binary[docno][1])
    assert level.out.count("carried-over") == 2


def test_marked_lines_are_no_judgements_when_they_come_back(judged: Path, cli: Cli) -> None:
    """Imported, collapsed or compared as a judge's they are left out, and that is said; scored they count."""
    add_mirror(cli, judged)
    cli("duplicates", "--carry").fine()
    cli("export", "qrels", "--judge", "strict", "--carried", "--out", "all.qrels").fine()
    left_out = "all.qrels: 2 lines left out: carried over from near-duplicates, and judged by nobody"
    done = cli("import", "judgements", "all.qrels", "--judge", "again").fine()
    assert left_out in done.err
    assert "all.qrels: 84 judgements added of again" in done.err + done.out
    collapsed = cli("collapse", "all.qrels", "--scale", "0-2", "--level", "1").fine()
    assert left_out in collapsed.err
    assert "MIRROR" not in collapsed.out
    agreed = cli(
        "agreement", "all.qrels", "judgements/lenient.qrels", "--scale", "0-2", "--format", "json"
    ).fine()
    assert left_out in agreed.err
    assert json.loads(agreed.out)["pairs"][0]["n"] == 84
    scored = cli("evaluate", "--qrels", "all.qrels", "mirror.run").fine()
    assert "2 grades carried over from near-duplicates, and judged by nobody, counted as well" in scored.err
