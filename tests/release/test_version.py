"""A release gets its version and its changelog by a command."""

import shutil

import pytest

from docs.tools import history
from release import checks, version


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A copy of the files that name the version, with two notes."""
    for name in (*(place for place, _ in version.PLACES), "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(checks.ROOT / name, tmp_path / name)
    notes = tmp_path / "docs" / "changes"
    notes.mkdir()
    (notes / "0001-old.md").write_text("# Old\n\n- First, see [the guide](../guide/start.md).\n")
    (notes / "0002-new.md").write_text("# New\n\n## Results\n- [Away](https://example.org).\n")
    monkeypatch.setattr(version, "ROOT", tmp_path)
    monkeypatch.setattr(checks, "ROOT", tmp_path)
    return tmp_path


def test_a_release_has_one_version_everywhere_and_its_notes_in_the_changelog(project):
    version.main(["0.7.0", "--date", "2031-02-03"])
    assert checks.one_version() == "0.7.0"
    assert "date-released: 2031-02-03" in (project / "CITATION.cff").read_text()
    text = (project / "CHANGELOG.md").read_text()
    for line in (
        "## 0.7.0 (2031-02-03)",
        "### New\n\n#### Results\n\n- [Away](https://example.org).",
        "### Old\n\n- First, see [the guide](docs/guide/start.md).",
    ):
        assert line in text
    assert text.index("### New") < text.index("### Old")
    assert list((project / "docs" / "changes").iterdir()) == []


def test_a_later_release_stands_before_the_earlier_one(project):
    version.main(["0.7.0", "--date", "2031-02-03"])
    (project / "docs" / "changes" / "0003-more.md").write_text("# More\n\n- Third.\n")
    version.main(["0.8.0.dev0", "--date", "2031-02-04"])
    assert checks.one_version() == "0.8.0.dev0"
    assert (project / "docs" / "changes" / "0003-more.md").exists()
    version.main(["0.8.0", "--date", "2031-03-04"])
    text = (project / "CHANGELOG.md").read_text()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## 0.8.0 (2031-03-04)",
        "## 0.7.0 (2031-02-03)",
    ]
    assert text.count("# Changelog") == 1


def test_the_page_has_what_is_not_yet_released_and_every_release(project, monkeypatch):
    version.main(["0.7.0", "--date", "2031-02-03"])
    monkeypatch.setattr(history, "ROOT", project)
    assert "](guide/start.md)" in history.page()
    monkeypatch.setattr(history, "changes", lambda: "## Newer\n\n- Fourth.")
    assert history.page().startswith("## Not yet released\n\n## Newer\n\n- Fourth.\n\n## 0.7.0")


def test_what_is_no_version_changes_nothing(project, capsys):
    with pytest.raises(SystemExit):
        version.main(["next"])
    assert "is no version" in capsys.readouterr().err
    assert checks.one_version() == checks.version_of_package() != "next"
