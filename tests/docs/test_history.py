"""The changelog is all notes on changes, and every decision has a page."""

import re

from docs.tools import history
from docs.tools.tables import ROOT


def test_every_note_is_in_the_changelog_the_newest_first():
    text = history.changes()
    notes = sorted((ROOT / "docs" / "changes").glob("*.md"), reverse=True)
    last = []
    for path in notes:
        lines = path.read_text().strip().replace("](../", "](").splitlines()
        last.append(lines[-1])
        for line in lines:
            assert line.lstrip("# ") in text, path.name
    assert [text.index(line) for line in last] == sorted(text.index(line) for line in last)
    assert "<!-- changes -->" in (ROOT / "docs" / "changelog.md").read_text()


def test_headings_of_a_note_go_one_level_down(tmp_path):
    path = tmp_path / "0007-good-news.md"
    path.write_text("- First.\n")
    assert history.headed(path) == "## Good news\n\n- First."
    path.write_text("# News\n\n## Better\n- First.\n")
    assert history.headed(path) == "## News\n\n### Better\n\n- First."


def test_a_decision_begins_with_its_number_and_its_claim():
    for path in sorted((ROOT / "docs" / "decisions").glob("0*.md")):
        number = int(path.name[:4])
        assert re.match(rf"# {number}\. \S", path.read_text()), path.name
