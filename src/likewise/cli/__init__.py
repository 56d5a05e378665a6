"""The command line: each command is one library call you could make in Python.

Data goes to stdout or to the file that -o names, messages and progress to stderr. Every expected
failure is one line and a non-zero exit. Heavy imports happen inside the commands.
"""

import re
import sys
import warnings

import click

from likewise import __version__
from likewise.cli.commands import commands
from likewise.cli.messages import fail, print_warnings_once

EXPECTED = (ValueError, TypeError, OSError)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; expected failures are one line on stderr."""
    from likewise.progress import show_progress

    show_progress()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = print_warnings_once()
            commands.main(args=arguments, prog_name="likewise", standalone_mode=False)
    except click.ClickException as error:
        fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        fail("stopped; nothing was half-written", 130)
    except BrokenPipeError:  # the reader of a pipe went away: head, less
        sys.stderr.close()
        sys.exit(141)
    except MemoryError as error:
        fail(f"not enough memory: {error}" if str(error) else "not enough memory", 1)
    except ImportError as error:
        fail(say_how_in_a_copy(str(error)), 1)
    except EXPECTED as error:
        fail(str(error), 1)


def say_how_in_a_copy(message: str) -> str:
    """How a missing extra is installed, also as long as the package index has no release."""
    extra = re.search(r"pip install 'likewise(\[\w+\])'", message)
    if extra is None or "dev" not in __version__:
        return message
    return f"{message.rstrip('.')}; in a copy of the repository: pip install '.{extra.group(1)}'."
