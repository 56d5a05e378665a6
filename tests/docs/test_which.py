"""The tables that compare methods are those of the runs, and count right."""

import pytest

from docs.tools import which
from docs.tools.tables import ROOT, page_path
from docs.tools.which import COMPARISONS, Cell, Comparison, compare, is_level, written
from experiments.published import Grid

PAGE = ROOT / "docs" / "guide" / "which.md"


def test_the_page_has_the_tables_of_the_present_runs():
    text = PAGE.read_text()
    assert written(text) == text, "docs/guide/which.md is older than its runs: make quotes."
    assert [mark[2] for mark in which.MARKED.finditer(text)] == [one.name for one in COMPARISONS]


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda one: one.name)
def test_a_comparison_says_where_its_runs_are(comparison):
    page = page_path(comparison.source[0])
    assert f"(../experiments/{page.name})" in PAGE.read_text()


def test_methods_are_counted_by_their_errors(monkeypatch):
    table = Grid(
        ["data", "amount", "none", "first", "second", "runs"],
        [
            ["a", "few", "0.50 ± 0.01", "0.80 ± 0.03", "0.77 ± 0.01", "3"],  # level
            ["b", "few", "0.50 ± 0.01", "0.40 ± 0.02", "0.90 ± 0.01 (.8)", "3"],
            ["c", "many", "0.50", "0.60", "0.49", "1"],  # no error: every difference counts
            ["d", "few", "0.50", "", "0.90", "1"],  # not all methods were run
        ],
    )
    monkeypatch.setattr(which, "read_tables", lambda page, section: {"ARI": table})
    methods = {"none": "no answers, plain", "first": "`First`", "second": "`Second`"}
    made = Comparison("made", ("page", "section", "ARI"), methods, baseline="none")
    assert compare(made).splitlines() == [
        "| method | mean | best, or level with it | below no answers | furthest below |",
        "| --- | --- | --- | --- | --- |",
        "| `Second` | 0.720 | 2 of 3 | 1 | c, many, by 0.010 |",
        "| `First` | 0.600 | 2 of 3 | 1 | b, few, by 0.100 |",
        "| no answers, plain | 0.500 | 0 of 3 |  |  |",
    ]
    asked = Comparison("made", made.source, methods, "none", lambda row: row["amount"] == "few")
    assert "| `First` | 0.600 | 1 of 2 | 1 | b, few, by 0.100 |" in compare(asked)


def test_level_is_within_a_standard_error_of_the_difference():
    assert is_level(Cell(0.5, 0.03), Cell(0.549, 0.04))
    assert not is_level(Cell(0.5, 0.03), Cell(0.551, 0.04))
    assert not is_level(Cell(0.5, 0.0), Cell(0.501, 0.0))
