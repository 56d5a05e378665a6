"""References as people read them, and links from docstrings."""

from docs.tools.bibliography import linked, page, plain, printed, short
from likewise.references import bibliography


def test_every_entry_is_printed_without_latex():
    for key in bibliography():
        assert not set("{}\\") & set(printed(key)), printed(key)
        assert f"({key})=\n" in page()


def test_a_paper_a_report_and_a_name_with_an_accent():
    assert printed("amid2015").startswith(
        "Ehsan Amid, Aristides Gionis and Antti Ukkonen (2015). A kernel-learning approach"
    )
    assert printed("randel2021").endswith("*GERAD, HEC Montréal*, Les Cahiers du GERAD, G-2021-32.")
    assert plain(r"Schr{\"o}dl") == "Schrödl"
    assert short("rao2013") == "Rao and Jawahar (2013)"
    assert short("hoi2007") == "Hoi et al. (2007)"
    assert short("ward1963") == "Ward (1963)"


def test_keys_become_links_in_their_section_alone():
    lines = ["Like hoi2007.", "", "References", "----------", "hoi2007, section 2", "", "Examples"]
    lines += ["--------", ">>> 'hoi2007'"]
    found = list(linked(lines))
    assert found[4] == ":ref:`Hoi et al. (2007) <hoi2007>`, section 2"
    assert found[:4] + found[5:] == lines[:4] + lines[5:]
