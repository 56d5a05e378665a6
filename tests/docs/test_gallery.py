"""The gallery: its code runs, its pictures are there, and it has what it promises."""

import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from PIL import Image

from docs.tools import gallery
from docs.tools.tables import ROOT

ITEMS = {item.name: item for item in gallery.items()}
FEWER = {  # enough to see that it runs
    "range(2000)": "range(200)",
    "[:8]": "[:3]",
    "1_000_000": "6_000",
    "load_digits()": "load_digits().take(range(400))",
    "n_pairs=300, noise": "n_pairs=60, noise",
    '"triplets_things_odd_one_out"))': '"triplets_things_odd_one_out")).subset(range(300))',
}


def test_every_job_has_a_picture():
    text = gallery.PAGE.read_text()
    assert list(ITEMS) == ["clothes", "bank", "customers", "objects", "messy", "million"]
    assert len(re.findall(r"^## ", text, re.MULTILINE)) == len(ITEMS) + 1  # and the studio
    thumbnails = re.findall(r"^\[!\[[^]]+\]\((.+?)\)\]\(#", text, re.MULTILINE)
    assert thumbnails == ["images/studio-answer.png"] + [
        str(item.picture.relative_to(gallery.PAGE.parent)) for item in ITEMS.values()
    ]


@pytest.mark.parametrize("name", ITEMS)
def test_a_picture_is_there_and_not_empty(name):
    with Image.open(ITEMS[name].picture) as picture:
        assert min(picture.size) > 400
        assert len(picture.convert("L").getcolors(256)) > 20


@pytest.mark.parametrize("name", ITEMS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_code_of_a_picture_writes_what_is_shown(name, tmp_path, monkeypatch):
    item = ITEMS[name]
    if item.missing():
        pytest.skip(f"needs {', '.join(item.missing())} in LIKEWISE_DATA")
    code = item.code
    for many, few in FEWER.items():
        code = code.replace(many, few)
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    exec(compile(code, name, "exec"), {})
    plt.close("all")
    written = tmp_path / item.file
    assert written.is_file()
    if item.place is not None:
        assert f'id="{item.place[1:]}"' in written.read_text()


def test_data_that_are_not_here_are_named(monkeypatch):
    monkeypatch.setattr(gallery, "available", lambda: {"banking77_text": "nowhere"})
    assert ITEMS["bank"].missing() == ["banking77_text"]
    assert ITEMS["customers"].missing() == []


def test_the_page_says_how_its_pictures_are_made():
    assert "python -m docs.tools.gallery" in gallery.PAGE.read_text()
    assert (ROOT / "docs" / "tools" / "gallery.py").is_file()
