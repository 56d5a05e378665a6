"""Pages show the tables of docs/tables: every one, whole, what matters in sight."""

import re

import pytest

from docs.tools import tables
from docs.tools.tables import LINK, ROOT, page_path, read_table, show_tables
from experiments.published import RESULTS, PublishedTable, write_published

FILES = sorted((ROOT / "docs" / "tables").glob("*/*.csv"))
PAGES = sorted({path.parent.name for path in FILES})
MADE = PublishedTable(
    ["data", "method", *RESULTS],
    [
        ["iris", "a", "ARI", "0.5", "0.01", ".4", "3"],
        ["iris", "b", "ARI", "0.7", "", "", "1"],
        ["iris", "a", "seconds", "12.5", "", "", "3"],
    ],
    [
        ("title", "Made"),
        ("verdict", "b is better."),
        ("runs", "4 runs, seeds 0 to 2"),
        ("made with", "numpy 2"),
        ("across", "method"),
    ],
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    write_published(tmp_path / "docs" / "tables" / "paper" / "made.csv", MADE)
    return tmp_path / "docs" / "experiments"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_each_of_its_tables_once_and_one_as_its_headline(page):
    links = list(LINK.finditer(page_path(page).read_text()))
    names = [link["name"] for link in links if link["page"] == page]
    assert sorted(names) == sorted(path.stem for path in FILES if path.parent.name == page)
    assert [link["how"] for link in links].count("headline") >= 1


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_with_its_verdict_and_headline(page):
    head = page_path(page).read_text().partition("\n## ")[0]
    verdict = head.split("\n\n")[1]
    assert verdict.startswith("**"), "the first paragraph is the verdict"
    assert "[headline" in head


@pytest.mark.parametrize("page", PAGES)
def test_every_figure_of_the_files_is_on_the_built_page(page):
    text = show_tables(page_path(page).read_text(), page_path(page).parent)
    for path in (path for path in FILES if path.parent.name == page):
        for measure, grid in read_table(page, path.stem).grids().items():
            assert grid.markdown() in text, f"{path.stem} {measure}"


def test_no_page_keeps_a_table_of_runs_itself():
    for page in PAGES:
        assert not re.findall(r"^\|.*\|$", page_path(page).read_text(), re.MULTILINE), page


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_table_says_what_it_was_made_with_and_how_often_it_was_run(path):
    table = read_table(path.parent.name, path.stem)
    assert table.note("made with")
    assert {len(row) for row in table.rows} == {len(table.fields)}
    if table.note("across"):
        assert table.note("title")
        assert re.match(r"\d+ runs, seeds? \d+", table.note("runs")[0])
        assert any("numpy" in text for text in table.note("made with"))


def test_a_folded_table_shows_its_verdict_and_keeps_the_rest_one_click_away(folder):
    shown = show_tables("Before.\n\n[folded](../tables/paper/made.csv)\n\nAfter.", folder)
    in_sight, _, rest = shown.partition("<details>")
    assert "b is better." in in_sight
    assert "0.500" not in in_sight
    assert "<summary>Made (ARI, seconds; 2 rows)</summary>" in rest
    assert "| iris | 0.500 ± 0.010 (.4) | 0.700 | 1-3 |" in rest
    assert "4 runs, seeds 0 to 2." in rest
    assert "numpy 2." in rest
    assert "{download}`made.csv <../tables/paper/made.csv>`" in rest
    assert rest.rstrip().endswith("</details>\n\n\nAfter.")


def test_a_headline_is_in_sight_and_the_other_measures_folded(folder):
    shown = show_tables("[headline: ARI](../tables/paper/made.csv)", folder)
    in_sight, _, rest = shown.partition("<details>")
    assert "**Made.**" in in_sight
    assert "| iris | 0.500 ± 0.010 (.4) | 0.700 | 1-3 |" in in_sight
    assert "12.500" not in in_sight
    assert "| iris | 12.500 |" in rest


def test_a_figure_of_the_runs_is_shown_above_them(folder):
    folder.mkdir()
    (folder / "paper-made.svg").write_text("<svg/>")
    shown = show_tables("[folded](../tables/paper/made.csv)", folder)
    assert "![Made](paper-made.svg)" in shown.partition("<details>")[0]


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("headline: F1](../tables/paper/made.csv", "ARI, seconds"),
        ("folded](../tables/paper/no.csv", "no table 'no'"),
    ],
)
def test_a_link_to_what_is_not_there_names_what_is(folder, link, message):
    with pytest.raises(LookupError, match=message):
        show_tables(f"[{link})", folder)
