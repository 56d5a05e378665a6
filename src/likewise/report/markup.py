"""HTML and SVG as text, with everything from outside escaped on its way in.

``element`` is the only door: children that are not ``Markup`` already are escaped, attributes
always. Ids and texts are the user's data, and may hold anything.
"""

from html import escape

VOID = {"br", "img", "input", "meta"}  # tags that HTML never closes


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, *children: object, **attributes: object) -> Markup:
    """``<tag attributes>children</tag>``.

    Children that are None are left out, as are attributes that are None or False; True gives the
    bare attribute. ``class_`` is class, ``aria_label`` is aria-label.
    """
    told = ""
    for name, value in attributes.items():
        name = name.rstrip("_").replace("_", "-")
        if value is True:
            told += f" {name}"
        elif value is not None and value is not False:
            told += f' {name}="{escape(str(value))}"'
    if tag in VOID:
        return Markup(f"<{tag}{told}>")
    return Markup(f"<{tag}{told}>{join(children)}</{tag}>")


def join(children) -> Markup:
    """Children one after the other, each escaped unless it is Markup."""
    parts = (child for child in children if child is not None)
    return Markup("".join(p if isinstance(p, Markup) else escape(str(p)) for p in parts))
