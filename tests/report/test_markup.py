"""Everything from outside is escaped on its way into the page."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from likewise.report.markup import Markup, element, join


class Reader(HTMLParser):
    """What a browser makes of a piece of HTML."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def test_children_are_escaped_and_markup_is_kept():
    inner = element("b", "1 < 2 & 3")
    assert inner == "<b>1 &lt; 2 &amp; 3</b>"
    assert element("p", inner, None, 4, class_="x", hidden=True, title=None, open=False) == (
        '<p class="x" hidden><b>1 &lt; 2 &amp; 3</b>4</p>'
    )
    assert element("img", alt='a "b"', aria_label="'c'") == (
        '<img alt="a &quot;b&quot;" aria-label="&#x27;c&#x27;">'
    )
    assert isinstance(join(["<", inner]), Markup)


@given(st.text(alphabet=st.characters(exclude_characters="\r\0", exclude_categories=["Cs"])))
def test_any_text_comes_back_as_it_was_and_makes_no_tag(text):
    reader = read(element("p", text, title=text))
    assert reader.tags == ["p"]
    assert reader.attributes == [("title", text)]
    assert reader.text == text
