"""Who is at the page: a token in a link is exchanged for a cookie, and a cookie has a name."""

import hmac
import secrets
from dataclasses import dataclass

LONGEST_NAME = 40
OF_FORMULAS = ("=", "+", "-", "@")  # what a spreadsheet takes for the beginning of a formula


@dataclass
class Visitor:
    """A browser that came in by a link."""

    name: str = ""
    is_reviewer: bool = False
    is_owner: bool = True  # came in by the link of whoever started the studio
    is_bound: bool = False  # came in by a link of their own: the name stays


class Visitors:
    """All browsers that may take part.

    Parameters
    ----------
    token : str, default=None
        What the link carries; drawn at random by default.
    people : tuple of str, default=()
        Names that may take part; anybody if there are none.
    """

    def __init__(self, token: str | None = None, people: tuple[str, ...] = ()):
        self.token = secrets.token_urlsafe(24) if token is None else token
        self.people = people
        self._links: dict[str, str] = {}  # token -> whose
        self._tickets: set[str] = set()  # tokens that work once
        self._visitors: dict[str, Visitor] = {}

    def ticket(self) -> str:
        """A token that lets its first user in, and nobody after them.

        For a link that others on this machine can read: in the arguments of a browser.
        """
        self._tickets.add(ticket := secrets.token_urlsafe(24))
        return ticket

    def enter(self, token: str) -> str | None:
        """The cookie of a new visitor, if the token is right."""
        for ticket in self._tickets:
            if hmac.compare_digest(token.encode(), ticket.encode()):
                self._tickets.discard(ticket)
                return self.admit(Visitor())
        for own, name in self._links.items():
            if hmac.compare_digest(token.encode(), own.encode()):
                return self.admit(Visitor(name, is_owner=False, is_bound=True))
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return None
        return self.admit(Visitor())

    def bind(self, token: str, name: str) -> None:
        """Give somebody a link of their own."""
        self._links[token] = name

    def admit(self, visitor: Visitor) -> str:
        """A cookie for somebody."""
        cookie = secrets.token_urlsafe(24)
        self._visitors[cookie] = visitor
        return cookie

    def find(self, cookie: str | None) -> Visitor | None:
        """Whose cookie it is."""
        return self._visitors.get(cookie or "")

    def rename(self, visitor: Visitor, name: str, is_reviewer: bool) -> None:
        """Give a visitor a name; ValueError says why it cannot be had."""
        if visitor.is_bound:
            raise ValueError("This link is for one person, whose name stays.")
        if " ".join(name.split()) in self._links.values():
            raise ValueError("This name belongs to somebody with a link of their own.")
        name = " ".join(name.split())
        if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
            raise ValueError(f"A name has 1 to {LONGEST_NAME} printable letters.")
        if line := trouble_with_start(name):
            raise ValueError(line)
        if self.people and name not in self.people:
            raise ValueError(f"{name} is not among the people of this studio.")
        visitor.name, visitor.is_reviewer = name, is_reviewer


def trouble_with_start(name: str) -> str:
    """What is wrong with how a name begins, if anything: names end in files for spreadsheets."""
    if not name.startswith(OF_FORMULAS):
        return ""
    return "A name cannot begin with = + - or @: a spreadsheet would take it for a formula."
