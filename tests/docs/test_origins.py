"""The page of benchmarks says of every table when and on what machine it was made."""

import re

from docs.tools import origins
from docs.tools.tables import ROOT


def test_every_table_is_listed_with_a_commit_and_the_machine_that_it_names():
    lines = origins.listed().splitlines()
    assert len(lines) == len(origins.names()) > 10
    for line, name in zip(lines, origins.names()):
        commit = r"([0-9a-f]{7,}, \d{4}-\d\d-\d\d|commit not known|not committed)"
        assert re.fullmatch(rf"- {name}: {commit}; {re.escape(origins.machine_of(name))}", line)


def test_machines_are_told_apart_from_what_else_a_table_was_made_with():
    assert origins.machine_of("growth").startswith(("AMD", "Intel"))
    assert origins.machine_of("studio").startswith(("AMD", "Intel"))


def test_the_page_asks_for_the_list():
    source = [(ROOT / "docs" / "benchmarks.md").read_text()]
    assert origins.MARK in source[0]
    origins.fill_in(None, "benchmarks", source)
    assert "- growth: " in source[0]


def test_outside_a_repository_the_commit_is_not_known(monkeypatch):
    def missing(*arguments, **settings):
        raise FileNotFoundError("git")

    monkeypatch.setattr(origins.subprocess, "run", missing)
    assert origins.written_by("growth") == "commit not known"
