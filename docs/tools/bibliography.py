"""The page of references, and links to it from every docstring that names a key.

Entries are those of `likewise.references`, one field a line. LaTeX is written out: braces go, and
the few accents that names here have become letters.
"""

import re
from collections.abc import Iterator

from likewise.references import bibliography, reference_keys

ACCENTS = {r"\"o": "ö", r"\'e": "é"}
VENUES = ("booktitle", "journal", "institution", "publisher")


def page() -> str:
    """Every entry as a line of Markdown with a label, in the order of keys."""
    return "\n\n".join(f"({key})=\n**{key}** {printed(key)}" for key in bibliography())


def printed(key: str) -> str:
    """Authors (year). Title. *Venue*, numbers."""
    fields = fields_of(key)
    venue = next(fields[name] for name in VENUES if name in fields)
    numbers = [fields[name] for name in ("type", "volume", "number", "pages") if name in fields]
    where = ", ".join([f"*{venue}*", *numbers]).replace("--", "–")
    return f"{authors(fields)} ({fields['year']}). {fields['title']}. {where}."


def short(key: str) -> str:
    """Amid et al. (2015)."""
    names = [one.partition(",")[0] for one in fields_of(key)["author"].split(" and ")]
    first = names[0] if len(names) == 1 else f"{names[0]} et al."
    return f"{' and '.join(names) if len(names) == 2 else first} ({fields_of(key)['year']})"


def fields_of(key: str) -> dict[str, str]:
    found = re.findall(r"^  (\w+) = \{(.*)\},$", bibliography()[key], re.MULTILINE)
    return {name: plain(text) for name, text in found}


def plain(text: str) -> str:
    for latex, letter in ACCENTS.items():
        text = text.replace(latex, letter)
    return text.replace("{", "").replace("}", "")


def authors(fields: dict[str, str]) -> str:
    names = [" ".join(reversed(one.split(", "))) for one in fields["author"].split(" and ")]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def link_references(app, what, name, obj, options, lines: list[str]) -> None:
    """For Sphinx: the keys below "References" in a docstring become links with author and year."""
    lines[:] = linked(lines)


def linked(lines: list[str]) -> Iterator[str]:
    keys = set(reference_keys("\n".join(lines)))
    inside = False
    for at, line in enumerate(lines):
        underlined = at + 1 < len(lines) and set(lines[at + 1]) == {"-"}
        inside = line == "References" if underlined else inside
        if inside and keys:
            line = re.sub(
                r"\b[a-z]+\d{4}\b",
                lambda key: f":ref:`{short(key[0])} <{key[0]}>`" if key[0] in keys else key[0],
                line,
            )
        yield line


def fill_in(app, docname: str, source: list[str]) -> None:
    """For Sphinx: the references, where the page asks for them."""
    source[0] = source[0].replace("<!-- bibliography -->", page())
