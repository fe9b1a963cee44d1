"""`pooler judges rename`: the same judge under another name."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.run import Cli


def test_renamed_judge_keeps_everything(cli: Cli, judged: Path) -> None:
    """Judgements, assignments and plans go by the new name; the old one is not known any more."""
    cli("judges", "add", "anna", "ben").fine()
    cli("assign", "--seed", "1").fine()
    answer = cli("judges", "rename", "anna", "hanna").fine()
    assert (answer.out, answer.err) == (
        "", "judge anna is hanna now\n1 plan named the judge, and now use the new name\n",
    )  # fmt: skip
    rows = cli("judges", "list", "--format", "json").fine().json()
    assert [row["judge"] for row in rows] == ["ben", "hanna", "lenient", "middle", "strict"]
    assert "unknown judge `anna`" in cli("show", "judge", "anna").failed(1).err
    assert cli("show", "judge", "hanna", "--format", "json").fine().known()["assigned"] == 42
    cli("judges", "rename", "strict", "厳しい").fine()
    assert "厳しい" in cli("list", "judges").fine().out


def test_no_name_is_taken_from_anybody(cli: Cli, judged: Path) -> None:
    """A name in use, or one that is none, is refused with what to do."""
    before = cli("export", "judgements").fine().out
    refused = cli("judges", "rename", "strict", "middle").failed(3)
    assert "error: there is a judge `middle` already" in refused.err
    assert "hint: two judges stay two: choose another name" in refused.err
    assert "`NEW` must be one word" in cli("judges", "rename", "strict", "a b").failed(1).err
    assert "unknown judge `strit`" in cli("judges", "rename", "strit", "x").failed(1).err
    cli("judges", "rename", "strict").failed(2)
    assert cli("export", "judgements").fine().out == before


def test_names_that_stay_are_told(cli: Cli, judged: Path) -> None:
    """Pools and rounds that somebody named after the judge are not touched, and are said."""
    cli("pool", "--depth", "6", "--name", "again-strict", "--round", "strict").fine()
    answer = cli("judges", "rename", "strict", "stern").fine()
    assert "the old name stays in pools that were named after it: again-strict" in answer.err
