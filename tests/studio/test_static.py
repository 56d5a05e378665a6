"""The files of the page: small, from nowhere else, and without a way to run text."""

import gzip
import json
import re
from pathlib import Path

import pytest

import likewise

STATIC = Path(likewise.__file__).parent / "studio" / "static"
FILES = sorted(STATIC.iterdir())
MODULES = [path for path in FILES if path.suffix == ".js"]
MOST_BYTES = 60_000
RUNS_TEXT = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc"
    r"|DOMParser|createContextualFragment|javascript:|setAttribute\('style|\bstyle="
)
NAMESPACE = "http://www.w3.org/2000/svg"
TOP_LEVEL = re.compile(
    r"^(?:export )?(?:async )?(?:function|const|let|class) ([A-Za-z_$][\w$]*)", re.MULTILINE
)
IMPORT = re.compile(r"^import \{([^}]*)\} from '\./([\w.]+)';$", re.MULTILINE)


def test_the_whole_page_is_at_most_60_kilobytes_compressed():
    shown = [path for path in FILES if path.suffix in (".js", ".css", ".html", ".svg")]
    assert len(shown) > 20
    assert sum(len(gzip.compress(path.read_bytes(), 9)) for path in shown) <= MOST_BYTES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_runs_no_text_and_names_no_other_place(path):
    text = path.read_text()
    assert not RUNS_TEXT.search(text)
    assert not re.search(r"(https?:)?//[\w.-]+\.\w", text.replace(NAMESPACE, ""))


def test_the_document_has_no_script_or_style_of_its_own():
    text = (STATIC / "index.html").read_text()
    assert re.findall(r"<script[^>]*>[^<]", text) == []
    assert not re.search(r"<style|\son\w+=", text)


def test_every_import_names_a_file_and_something_it_exports():
    n_imports = 0
    for path in MODULES:
        text = path.read_text()
        found = IMPORT.findall(text)
        assert len(found) == len(re.findall(r"^import\b", text, re.MULTILINE))
        for names, target in found:
            exported = re.findall(
                r"^export (?:async )?(?:function|const|class) (\w+)",
                (STATIC / target).read_text(),
                re.MULTILINE,
            )
            assert {name.strip() for name in names.split(",") if name.strip()} <= set(exported)
            n_imports += 1
    assert n_imports > 40


def test_the_modules_of_a_notebook_can_be_joined_into_one():
    """No two of them give a name at the top level twice, and none that is needed is missing."""
    order = json.loads((STATIC / "notebook.order.json").read_text())
    names = [name for file in order for name in TOP_LEVEL.findall((STATIC / file).read_text())]
    assert len(names) > 100
    assert sorted(names) == sorted(set(names))
    for file in order:
        assert {target for _, target in IMPORT.findall((STATIC / file).read_text())} <= set(order)
    assert {path.name for path in MODULES} - set(order) == {"page.js"}
