"""How a row is shown: by its image, its text or its most telling values, and always by its name."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from likewise.constraints import Constraints
from likewise.files.png_file import brightness_range
from likewise.report.markup import Markup, element
from likewise.report.picture import MAX_SIDE, check_images, data_uri

MAX_LETTERS = 200  # of a text
MAX_NAME = 60  # letters of an id


@dataclass(frozen=True)
class RowCards:
    """The names, images and texts of all rows."""

    names: Sequence[str] | None
    images: np.ndarray | None
    texts: Sequence[str] | None
    bounds: tuple[float, float]  # what is black and what is white
    facts: Callable[[int], list[tuple[str, str]]] | None = None  # columns and values of a row
    max_side: int = MAX_SIDE  # pixels of an image

    @classmethod
    def of(cls, n_rows: int, constraints: Constraints | None, *, ids, images, texts) -> "RowCards":
        """Check that there is one of everything for each row."""
        if ids is None and constraints is not None:
            ids = constraints.ids
        images = check_images(images, n_rows)
        for what, given in (("ids", ids), ("texts", texts)):
            if given is not None and len(given) != n_rows:
                raise ValueError(f"{what} has {len(given)} entries, but X has {n_rows} rows.")
        names = None if ids is None else [str(name) for name in ids]
        texts = None if texts is None else [str(text) for text in texts]
        bounds = (0.0, 1.0) if images is None else brightness_range(images)
        return cls(names, images, texts, bounds)

    @property
    def can_show(self) -> bool:
        """Whether rows have an image or a text, not only values and a name."""
        return self.images is not None or self.texts is not None

    def detail(self, row: int) -> str:
        """The text of a row, or its values, in one line."""
        if self.texts is not None:
            return self.texts[row]
        return "" if self.facts is None else ", ".join(f"{n} {v}" for n, v in self.facts(row))

    def plain_name(self, row: int) -> str:
        """The id of a row, or "row 17"."""
        return f"row {row}" if self.names is None else shorten(self.names[row], MAX_NAME)

    def name(self, row: int) -> Markup:
        """The same for the page; ``bdi`` keeps a right-to-left id from turning its neighbors."""
        return element("bdi", self.plain_name(row), class_="name")

    def card(self, row: int) -> Markup:
        """Image, text and name."""
        parts = []
        if self.images is not None:
            uri = data_uri(self.images[row], self.bounds, self.max_side)
            parts.append(element("img", src=uri, alt=f"image of {self.plain_name(row)}"))
        if self.texts is not None:
            parts.append(element("blockquote", shorten(self.texts[row], MAX_LETTERS), dir="auto"))
        if not self.can_show and self.facts is not None:
            pairs = [
                element("div", element("dt", element("bdi", what)), element("dd", value))
                for what, value in self.facts(row)
            ]
            parts.append(element("dl", *pairs))
        kind = "card text" if self.texts is not None else "card"
        kind = "card facts" if not self.can_show else kind
        return element("figure", *parts, element("figcaption", self.name(row)), class_=kind)

    def cards(self, rows: Iterable[int]) -> Markup | None:
        """Several rows side by side; None when rows have only names."""
        if not self.can_show and self.facts is None:
            return None
        return element("div", *[self.card(row) for row in rows], class_="cards")


def shorten(text: str, n_letters: int) -> str:
    """Single spaces, and cut off after n_letters."""
    text = " ".join(text.split())
    return text if len(text) <= n_letters else text[: n_letters - 1].rstrip() + "…"
