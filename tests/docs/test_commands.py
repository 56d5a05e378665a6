"""The reference of the command line has every command and option, as a page."""

import click
import pytest

from docs.tools import commands as tool
from docs.tools.tables import ROOT
from likewise.cli.commands import commands

OPTIONS = [
    (name, option)
    for name, command in commands.commands.items()
    for option in command.params
    if isinstance(option, click.Option)
]


@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=lambda one: getattr(one, "name", one))
def test_every_option_stands_under_its_command_with_its_help(name, option):
    text = tool.describe(name, commands.commands[name])
    row = next(
        line for line in text.splitlines() if line.startswith("| `") and option.opts[-1] in line
    )
    assert " ".join(option.help.split())[:20] in row.replace("\\", "")


def test_a_bar_in_an_option_does_not_end_its_cell():
    @click.command(help="Do it.\n\n\b\nmake it\nmake it twice\n\nNow.")
    @click.option("--size", metavar="N|auto", help="How many, or [all].")
    def made(size):
        pass

    lines = tool.describe("made", made).splitlines()
    assert r"| `--size N\|auto` | How many, or \[all\]. |" in lines
    assert "make it\nmake it twice" in tool.describe("made", made)
    assert "\b" not in tool.describe("made", made)


def test_the_page_asks_for_the_commands():
    assert "<!-- commands -->" in (ROOT / "docs" / "guide" / "cli.md").read_text()
    assert all(f"## likewise {name}" in tool.reference() for name in commands.commands)
