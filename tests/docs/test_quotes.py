"""Figures in prose agree with the tables that they were taken from."""

import pytest

from docs.tools import __main__ as command
from docs.tools import quotes, tables
from docs.tools.quotes import COMPLETE, faults_of, pages, print_like, renew
from docs.tools.tables import ROOT
from experiments.published import PublishedTable, write_published

NAMES = [str(path.relative_to(ROOT)) for path in pages()]

RUNS = PublishedTable(
    ["data", "pairs", "method", "measure of", "mean", "standard error", "published", "runs"],
    [
        ["digits", "200", "k-means", "ARI", "0.668", "0.002", "", "5"],
        ["digits", "200", "guided", "ARI", "0.937", "0.004", ".9", "5"],
        ["digits", "2000", "k-means", "ARI", "0.668", "0.002", "", "5"],
        ["digits", "2000", "guided", "ARI", "0.985", "0.003", "", "5"],
        ["digits", "2000", "guided", "F1", "0.9", "", "", "5"],
    ],
    [("verdict", "Above ITML on 2 of 3."), ("across", "method")],
)
SECONDS = PublishedTable(["200", "2000", "runs"], [["43.6", "1,269.5", "1"]])


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A folder with two tables, and the faults of a text that quotes them."""
    write_published(tmp_path / "docs" / "tables" / "made" / "digits.csv", RUNS)
    write_published(tmp_path / "docs" / "tables" / "made" / "seconds.csv", SECONDS)
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    return lambda text, complete=True: list(faults_of(text, complete=complete))


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_quoted_on_a_page_is_the_one_in_its_table(name):
    path = ROOT / name
    faults = list(faults_of(path.read_text(), complete=path in pages(COMPLETE)))
    assert not faults, f"{name}: {'; '.join(faults)}. Look at them, then: make quotes."


def test_the_readme_quotes_figures():
    assert "<!-- quotes" in (ROOT / "README.md").read_text()


SAID = """k-means has {}, ours has {} ± .004.

<!-- quotes
{}: made | digits | ARI | digits | 200 | k-means
{} ± .004: made | digits | ARI | digits | 200 | guided
-->
"""


def test_the_number_of_runs_is_that_of_the_table(page):
    said = SAID.format(".67", ".937", ".67", ".937")
    assert page(f"(Of five runs) {said}") == []
    assert page(f"(Of three runs) {said}") == ["three runs: the tables have 5"]


def test_a_figure_that_agrees_to_its_own_digits_is_right(page):
    assert page(SAID.format(".67", ".937", ".67", ".937")) == []
    assert page(SAID.format("0.668", ".94", "0.668", ".94")) == []


def test_a_figure_that_no_longer_agrees_is_reported_and_renewed(page):
    old = SAID.format(".66", ".937", ".66", ".937")
    assert page(old) == [".66: made | digits | ARI | digits | 200 | k-means is now .67"]
    assert renew(old) == SAID.format(".67", ".937", ".67", ".937")
    assert page(renew(old)) == []


def test_a_new_figure_that_is_the_old_one_of_another_stays(page):
    assert renew(SAID.format(".6", ".7", ".6", ".7")) == SAID.format(".7", ".9", ".7", ".9")


def test_the_error_behind_a_figure_is_held_too(page):
    wrong = SAID.format(".67", ".937", ".67", ".937").replace(".004", ".009")
    assert len(page(wrong)) == 1
    assert renew(wrong) == SAID.format(".67", ".937", ".67", ".937")


def test_a_score_without_a_source_is_a_fault_where_every_score_needs_one(page):
    assert page("It reaches .93.") == [".93 has no source"]
    assert page("It reaches .93.", complete=False) == []
    assert page("With `C=.93` and Python 3.11 on 10.5 rows.\n\n```\n0.93\n```\n") == []


def test_a_source_belongs_to_the_text_above_it_alone(page):
    source = "<!-- quotes\n.67: made | digits | ARI | digits | 200 | k-means\n-->\n"
    assert page(f"It has .67.\n\n{source}") == []
    assert page(f"It has .67.\n\n{source}\nAgain .67.") == [".67 has no source"]
    assert page(f"{source}\nIt has .67.")[0] == ".67 is not in the text above its source"


def test_a_mean_over_rows_a_table_without_rows_and_words_can_be_quoted(page):
    assert page("<!-- quotes\n.961: made | digits | ARI | * | guided\n-->")[1:] == []
    text = "It takes 44 s and 1,270 s, and is 'above'.\n\n<!-- quotes\n44 s: made | seconds"
    text += " | 200\n1,270 s: made | seconds | 2000\n-->"
    assert page(text) == []
    words = 'Above ITML on {}.\n\n<!-- quotes\n"Above ITML on {}": made | digits\n-->'
    assert page(words.format("2 of 3", "2 of 3")) == []
    assert page(words.format("3 of 3", "3 of 3")) == [
        '"Above ITML on 3 of 3": made | digits is now gone'
    ]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("made | nothing | ARI | digits | 200 | guided", "has no table"),
        ("made | digits | NMI | digits | 200 | guided", "has the measures"),
        ("made | digits | ARI | digits | 300 | guided", "no row"),
        ("made | digits | ARI | digits | 200 | ITML", "no column"),
        ("made | digits | ARI | digits | guided", "name more cells"),
    ],
)
def test_a_missing_source_is_reported(page, source, told):
    faults = page(f"It has .94.\n\n<!-- quotes\n.94: {source}\n-->")
    assert len(faults) == 1
    assert told in faults[0]


def test_figures_are_printed_as_they_were():
    assert print_like("+.05 ± .01", [0.061, 0.02]) == "+.06 ± .02"
    assert print_like("0.05", [0.061, 0.02]) == "0.06"
    assert print_like("22 times", [24.7]) == "25 times"
    assert print_like("1,234", [2345.2]) == "2,345"
    assert print_like("1234", [2345.2]) == "2345"
    assert print_like(".5", [0.55]) == ".5"  # either rounding of a half will do
    assert print_like("-.13", [0.02]) == ".02"


def test_a_figure_with_two_sources_is_left_to_people(page):
    text = "Both have .66.\n\n<!-- quotes\n.66: made | digits | ARI | digits | 200 | k-means\n"
    text += ".66: made | digits | ARI | digits | 200 | guided\n-->"
    assert len(page(text)) == 2
    assert renew(text) == text


def test_the_command_tells_what_is_wrong(capsys, page, tmp_path, monkeypatch):
    monkeypatch.setattr(quotes, "ROOT", tmp_path)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    (tmp_path / "README.md").write_text(SAID.format(".66", ".937", ".66", ".937"))
    assert command.main(["--check"]) == 1
    assert capsys.readouterr().out.startswith("README.md: .66: made")
    assert command.main([]) == 0
    assert (tmp_path / "README.md").read_text() == SAID.format(".67", ".937", ".67", ".937")
