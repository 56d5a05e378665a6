"""HTML and SVG as text, with everything from outside escaped on its way in.

Everything goes through ``element``: it escapes children that are not ``Markup`` already, and all
attributes. Ids and texts are the user's data, and may contain anything.
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
    written = ""
    for name, value in attributes.items():
        name = name.rstrip("_").replace("_", "-")
        if value is True:
            written += f" {name}"
        elif value is not None and value is not False:
            written += f' {name}="{escape(str(value))}"'
    if tag in VOID:
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{join(children)}</{tag}>")


def join(children) -> Markup:
    """Children in a row, each escaped unless it is Markup."""
    parts = (child for child in children if child is not None)
    return Markup("".join(p if isinstance(p, Markup) else escape(str(p)) for p in parts))
