"""Published figures beside ours: by hand, and what is in git is what the command makes of it."""

import math

import pytest

from experiments import verdicts
from experiments.claims import Figure, Tables
from experiments.kernel_claims import KERNEL_CLAIMS
from experiments.pair_claims import PAIR_CLAIMS
from experiments.published import TABLES, PublishedTable, read_published, write_published


@pytest.mark.parametrize(
    ("ours", "error", "published", "n_published", "errors", "verdict"),
    [
        (0.80, 0.01, ".75", 1, 4.5, "above"),  # half a hundredth of rounding, then .045 / .01
        (0.70, 0.01, ".75", 1, -4.5, "below"),
        (0.763, 0.01, ".75", 1, 0.8, "agrees"),
        (0.7549, 0.0, ".75", 1, 0.0, "agrees"),  # it would print the same
        (0.76, 0.0001, ".75", 1, 50.0, "within 2 %"),
        (1.0, 0.3, "2.00 ± 1.60", 16, -0.995 / 0.5, "agrees"),  # hypot(.3, 1.6 / 4) = .5
        (0.86, 0.001, "about .90", 20, 0.0, "agrees"),
        (3.0, 0.0, "2.0", 1, math.nan, "above"),
    ],
)
def test_a_figure_is_judged_by_the_errors_of_both(
    ours, error, published, n_published, errors, verdict
):
    judged = verdicts.judge(ours, error, published, n_published)
    assert judged.verdict == verdict
    assert judged.errors == pytest.approx(errors, nan_ok=True)


def test_a_figure_that_is_none_is_one_error():
    with pytest.raises(ValueError, match="'high' is no published figure"):
        verdicts.judge(0.5, 0.1, "high", 1)


def test_cells_without_runs_and_without_comparison_are_said_to_be_so():
    fields = ["data", "method", "measure of", "mean", "standard error", "published", "runs"]
    rows = [
        ["mnist", "a", "Rand", "0.9", "0.01", ".9", "5"],
        ["mnist", "b", "Rand", "0.9", "0.01", "", "5"],
        ["Caltech-256", "a", "Rand", "", "", ".8", ""],
        ["msrc2_gist512_rgb64", "a", "Rand", "0.9", "0.01", ".8", "5"],
        ["mnist", "a", "fit seconds", "9", "1", "100", "5"],
    ]
    judged = verdicts.judge_table("ssc", "tables", PublishedTable(fields, rows))
    assert [row[-1] for row in judged] == ["agrees", "not run", *["does not compare"] * 2]
    summed = verdicts.sum_up_cells(PublishedTable([], judged))
    assert summed.rows[-1] == ["all", "", "1", "0", "0", "0", "2", "1"]


def test_errors_between_two_figures_are_those_of_both():
    assert Figure(1.0, 0.3).errors_above(Figure(0.0, 0.4)) == pytest.approx(2.0)
    assert Figure(1.0, 0.0).errors_above(Figure(0.0, 0.0)) == math.inf


def test_a_claim_looks_at_the_tables_it_is_given(tmp_path):
    """The claim about ITML holds on figures that fall, and not on those in git."""
    table = read_published(TABLES / "sklr" / "figure1.csv")
    claim = next(one for one in KERNEL_CLAIMS if one.says.startswith("ITML falls"))
    at = table.fields.index("mean")
    few = table.fields.index("labelled")
    falling = [[*row[:at], str(1 / float(row[few])), *row[at + 1 :]] for row in table.rows]
    write_published(tmp_path / "sklr" / "figure1.csv", PublishedTable(table.fields, falling))
    assert claim.look(Tables(tmp_path))[1] == "holds"
    assert claim.look(Tables(TABLES))[1] == "does not come out"


@pytest.mark.parametrize(("sign", "verdict"), [(1, "holds"), (-1, "does not come out")])
def test_fitness_follows_the_ari_where_both_put_metrics_in_one_order(sign, verdict, tmp_path):
    fields = ["data", "metric", "measure of", "mean", "standard error", "published", "runs"]
    figures = {"euclidean": 0.3, "manhattan": 0.5, "chebyshev": 0.4}
    rows = [["set", name, "share", str(one), "0", "", "1"] for name, one in figures.items()]
    rows += [["set", name, "ARI", str(sign * one), "0", "", "1"] for name, one in figures.items()]
    write_published(tmp_path / "duals" / "figure3.csv", PublishedTable(fields, rows))
    claim = next(one for one in PAIR_CLAIMS if one.says.startswith("fitness goes"))
    n_agreeing = 3 if sign == 1 else 0
    shown = f"two metrics come in the same order in {n_agreeing} of 3 pairs"
    assert claim.look(Tables(tmp_path)) == (shown, verdict)


def test_what_is_in_git_is_what_the_command_makes_of_the_tables():
    """Renew it with `python -m experiments.verdicts --publish` after tables have changed."""
    cells = verdicts.judge_cells(TABLES)
    made = {
        "cells": cells,
        "summary": verdicts.sum_up_cells(cells),
        "claims": verdicts.judge_claims(TABLES),
    }
    for name, table in made.items():
        assert read_published(TABLES / "verdicts" / f"{name}.csv") == table, name
