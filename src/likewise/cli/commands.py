"""The command group `likewise`, and the demo."""

from pathlib import Path

import click

from likewise.cli.answer_commands import check, select
from likewise.cli.apply_command import apply
from likewise.cli.ask_command import ask
from likewise.cli.cluster_command import cluster
from likewise.cli.options import seed_option
from likewise.cli.studio_command import no_browser_option, port_option, studio


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: 0 success, 1 an error in the files or settings (described in one line), "
    "2 an error in the command line, 130 stopped by Ctrl-C.",
)
@click.version_option(package_name="likewise")
def commands() -> None:
    """Cluster rows the way people see them, from a few answers about them.

    \b
    Start with:  likewise demo
    Questions:   likewise studio data.csv   (in the terminal: likewise ask data.csv)
    Your data:   likewise cluster data.csv -c answers.csv -k 10 --report report.html

    An answer file has one answer per line, with the columns kind, a, b, c (and optionally weight,
    annotator, asked_at, screen, seconds). kind is must_link, cannot_link, odd_one_out, closer or
    undecided; a, b, c are row numbers starting at 0, or IDs.

    \b
      kind,a,b,c
      must_link,3,17,
      cannot_link,3,42,
      odd_one_out,3,17,42
    """


@commands.command()
@click.option(
    "-o",
    "--output",
    default=None,
    type=click.Path(file_okay=False),
    help="Output folder.  [default: demo-output, or demo-studio]",
)
@click.option(
    "--answers",
    default=200,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Number of answered pairs.",
)
@click.option("--studio", "in_studio", is_flag=True, help="Answer yourself, in the browser.")
@port_option
@no_browser_option
@seed_option
def demo(
    output: str | None,
    answers: int,
    in_studio: bool,
    port: int | None,
    no_browser: bool,
    random_state: int,
) -> None:
    """Cluster handwritten digits before and after some answers.

    Takes about 15 seconds, uses bundled data, and writes a report to open in your browser.
    """
    if in_studio:
        from likewise.cli.demo_studio import run_demo_studio

        run_demo_studio(
            Path(output or "demo-studio"),
            random_state=random_state,
            port=port,
            opens_browser=not no_browser,
        )
        return
    from likewise.cli.demo import run_demo

    run_demo(
        Path(output or "demo-output"), n_answers=answers, random_state=random_state, say=click.echo
    )


for command in (cluster, check, select, apply, ask, studio):
    commands.add_command(command)
