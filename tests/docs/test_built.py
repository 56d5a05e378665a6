"""What is wrong with built pages is found."""

import pytest

from docs.tools import built

GOOD = """<html><head><link rel="stylesheet" href="s.css"><script src="a.js"></script></head>
<body><a href="https://example.org">away</a> <a href="#here">down</a> <p id="here">
<pre>$$ shown $$</pre> Examples <math></math> <img src="data:image/png;base64,AAAA"></p>
</body></html>"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Pages without a fault."""
    pages = tmp_path / "api" / "generated"
    pages.mkdir(parents=True)
    (pages / "likewise.ITML.html").write_text(GOOD)
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "s.css").write_text("body { background: url(a.png) }")
    (tmp_path / "searchindex.js").write_text('Search.setIndex({"titles": ["likewise.ITML"]})')
    monkeypatch.setattr(built, "names_with_a_page", lambda: ["likewise.ITML"])
    return tmp_path


def test_good_pages_have_no_faults(folder):
    assert list(built.faults_of(folder)) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("a.js", "https://cdn.example/a.js"), "index.html loads https://cdn.example/a.js"),
        (("a.js", "//cdn.example/a.js"), "loads //cdn.example"),
        (("s.css", "http://cdn.example/s.css"), "loads http"),
        (("data:image/png;base64,AAAA", "https://badge.example/b.svg"), "loads https://badge"),
        (("#here", "#there"), "no such place"),
        (("#here", "gone.html"), "which is not there"),
        (("<math>", "$$x^2$$"), "not typeset"),
    ],
)
def test_each_fault_of_a_page_is_named(folder, change, words):
    (folder / "index.html").write_text(GOOD.replace(*change))
    assert words in "; ".join(built.faults_of(folder))


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("s.css", "@import 'https://fonts.example/f.css';", "s.css loads"),
        ("s.css", "a { src: url(https://fonts.example/f.woff2) }", "s.css loads"),
        ("searchindex.js", 'Search.setIndex({"titles": []})', "search does not know likewise.ITML"),
        ("api/generated/likewise.ITML.html", "<math>", "no example"),
        ("api/generated/likewise.ITML.html", "Examples", "no formula"),
    ],
)
def test_each_fault_of_a_file_is_named(folder, file, content, words):
    (folder / file).write_text(content)
    assert words in "; ".join(built.faults_of(folder))


def test_a_name_without_a_page_is_named(folder):
    (folder / "api" / "generated" / "likewise.ITML.html").unlink()
    assert list(built.faults_of(folder)) == ["likewise.ITML has no page"]
