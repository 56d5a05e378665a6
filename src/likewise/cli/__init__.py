"""The command line: each command is one library call you could make in Python.

Data goes to stdout or to the file that -o names, messages and progress to stderr. Every expected
failure is one line and a non-zero exit. Heavy imports happen inside the commands.
"""

import sys
import warnings

import click

from likewise.cli.commands import commands
from likewise.cli.messages import fail, print_warnings_once, say_how_in_a_copy

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
