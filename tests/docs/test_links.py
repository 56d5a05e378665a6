"""Links from page to page lead somewhere."""

import re

import pytest

from docs.tools.tables import ROOT
from experiments.runs import PAPERS, find_tables

PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
PAGES += sorted(
    str(path.relative_to(ROOT))
    for folder in (
        "docs",
        "docs/guide",
        "docs/experiments",
        "docs/api",
        "docs/changes",
        "docs/decisions",
    )
    for path in (ROOT / folder).glob("*.md")
)
MADE = "auto_examples/"  # by the gallery, from examples/


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_to_a_file(name):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", (ROOT / name).read_text(), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not link.startswith(("http", "mailto:")) and MADE not in link:
            assert ((ROOT / name).parent / link).exists(), f"{name} links to {link}"


@pytest.mark.parametrize("name", PAGES)
def test_every_command_that_makes_a_table_makes_one(name):
    text = (ROOT / name).read_text()
    for paper, table in re.findall(r"PAPER=([a-z]\w*)(?: TABLE=([\w-]+))?", text):
        assert find_tables(paper, table or None)
    for module in re.findall(r"python -m (benchmarks\.\w+)", text):
        assert (ROOT / module.replace(".", "/")).with_suffix(".py").exists(), module
    for paper, table in re.findall(r"python -m experiments ([a-z]\w*) (\w[\w-]*)", text):
        assert paper in PAPERS
        assert find_tables(paper, table)


def test_the_readme_leads_to_every_page_of_the_guide_that_one_starts_from():
    links = set(re.findall(r"\]\(docs/guide/(\w+)\.md\)", (ROOT / "README.md").read_text()))
    assert {"start", "which", "people", "questions", "prices", "scale", "errata", "cite"} <= links
