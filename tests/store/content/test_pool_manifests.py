"""Manifests of pools: what differs, and the errors that say so."""

from __future__ import annotations

import pytest

from store.content.pools import differences, former_name, is_same_plan, name_taken, without_run


def test_a_run_that_left_is_named_and_its_documents_are_not_counted() -> None:
    """Sizes and pairs fall by what left, and the run contributes no more."""
    manifest = {
        "runs": [{"tag": "x", "contributes": True}, {"tag": "y", "contributes": True}],
        "sizes": {"1": 3, "2": 1},
        "pairs": 4,
    }
    found = without_run(manifest, "x", {("1", "a"), ("1", "b")})
    assert (found["sizes"], found["pairs"], found["unpooled"]) == ({"1": 1, "2": 1}, 2, ["x"])
    assert [run["contributes"] for run in found["runs"]] == [False, True]


def test_runs_that_differ_are_named() -> None:
    """By how they differ; runs that fed neither pool are no difference worth a name."""
    old = [{"tag": tag, "sha256": tag} for tag in "abcdefgh"]
    new = [{"tag": "a", "sha256": "other"}, {"tag": "z", "sha256": "z", "contributes": False}]
    assert differences({"runs": old}, {"runs": new}) == (
        " (run `a` had another file; run `b`, `c`, `d`, `e`, `f` and 2 more too)"
    )
    assert differences({"runs": new}, {"runs": new[:1]}) == " (what is known of its runs)"
    assert differences({"without": {"pairs": 1}}, {}) == " (what it leaves out)"


def test_a_name_that_is_taken_says_what_differs_and_what_to_do() -> None:
    """One line with the two depths, and a hint that names both ways out."""
    old, new = ({"parameters": {"depth": depth}, "pairs": depth} for depth in (5, 7))
    error = name_taken("main", old, new, withdrawn=False, adaptive=False)
    assert error.message == "there is another pool named `main` (depth 5, not 7)"
    assert error.hint is not None
    assert "--name NEW" in error.hint
    assert "--replace" in error.hint
    assert "--as-pool" not in error.hint


@pytest.mark.parametrize(("strategy", "option"), [("imported", "--as-pool"), ("next", "--name")])
def test_a_pool_of_another_command_is_named_by_its_option(strategy: str, option: str) -> None:
    """Neither a new name nor replacing is offered where the command has no such option."""
    error = name_taken("main", {"strategy": "depth"}, {"strategy": strategy}, withdrawn=True, adaptive=False)
    assert error.message == "there is another pool named `main`, and it is withdrawn"
    assert error.hint == f"name the pool otherwise with {option} NAME"


@pytest.mark.parametrize(("seed", "adaptive"), [(1, False), (None, True)])
def test_only_what_can_leave_documents_out_is_told_of_add(seed: int | None, adaptive: bool) -> None:
    """A sample and an adaptive pool hold all that their strategy may choose."""
    error = name_taken("main", {"seed": 2}, {"seed": seed}, withdrawn=False, adaptive=adaptive)
    assert error.hint is not None
    assert "--replace" in error.hint
    assert "--add" not in error.hint


def test_plan_is_the_same_whatever_version_wrote_it() -> None:
    """The version of the program is no part of a plan."""
    assert is_same_plan({"seed": 1, "version": "1"}, {"seed": 1, "version": "2"})


def test_differences_name_values_and_runs() -> None:
    """Numbers and words with both values; runs with what became of them."""
    found = differences({"seed": 1, "parameters": {"depth": 5}}, {"parameters": {"depth": 7}})
    assert found == " (depth 5, not 7; seed 1, not none)"
    x, other, y = ({"tag": tag, "sha256": file} for tag, file in ("xf", "xg", "yf"))
    assert differences({"runs": [x]}, {"runs": [other, y]}) == " (run `x` had another file; no run `y`)"


def test_former_name() -> None:
    """It is the first that is free."""
    assert former_name("main", ["main", "main.replaced-1"]) == "main.replaced-2"
