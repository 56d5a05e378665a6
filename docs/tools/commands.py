"""The reference of the command line, made from the commands themselves."""

import click

from likewise.cli.commands import commands

PIPE, ESCAPED = "|", r"\|"  # a bare one would end the cell of a table


def reference() -> str:
    """Every command: how it is called, what it does, its options."""
    return "\n\n".join(describe(name, command) for name, command in commands.commands.items())


def describe(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"likewise {name}")
    usage = command.get_usage(context).removeprefix("Usage: ")
    parts = [f"## likewise {name}", f"```bash\n{' '.join(usage.split())}\n```"]
    parts += map(paragraph, (command.help or "").split("\n\n"))
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    helps = [option.get_help_record(context) or ("", "") for option in options]
    rows = [f"| `{names.replace(PIPE, ESCAPED)}` | {escape(text)} |" for names, text in helps]
    return "\n\n".join([*parts, "\n".join(["| option | what it does |", "| --- | --- |", *rows])])


def paragraph(text: str) -> str:
    """A paragraph of help; click keeps the lines of one that begins with a backspace."""
    first, *lines = text.strip("\n").splitlines() or [""]
    if first.strip() == "\b":
        return "```bash\n" + "\n".join(line.strip() for line in lines) + "\n```"
    return "\n".join(line.strip() for line in [first, *lines])


def escape(text: str) -> str:
    """Help as the cell of a table."""
    return " ".join(text.split()).replace(PIPE, ESCAPED).replace("[", r"\[").replace("]", r"\]")


def fill_in(app, docname: str, source: list[str]) -> None:
    """For Sphinx: the commands, where the page asks for them."""
    if "<!-- commands -->" in source[0]:
        source[0] = source[0].replace("<!-- commands -->", reference())
