"""Messages on stderr: results, warnings and errors, each in one line."""

import json
import re
import sys

import click

from likewise import __version__

MAX_MESSAGE = 2000  # characters: a page of a terminal
LEAST_END = 200  # of them at the end, which says what to do
MOST_SHOWN = 10  # answers in a table
VERBOSITY = "likewise.verbosity"  # in the context of the command


def print_message(message: str) -> None:
    """A line on stderr, unless --quiet."""
    if verbosity() >= 0:
        click.echo(for_terminal(message), err=True)


def print_details(message: str) -> None:
    """A line on stderr with -v."""
    if verbosity() > 0:
        click.echo(for_terminal(message), err=True)


def for_terminal(text: object) -> str:
    """A text without what a terminal obeys: names of files and columns may be anybody's."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in str(text))


def set_verbosity(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Of --quiet and --verbose: kept for the command that runs."""
    from likewise.progress import show_progress

    if value:
        context.meta[VERBOSITY] = {"quiet": -1, "verbose": 1}[str(parameter.name)]
    if value and parameter.name == "quiet":
        show_progress(False)


def verbosity() -> int:
    """-1 where only warnings and errors are printed, 1 where everything is."""
    context = click.get_current_context(silent=True)
    return 0 if context is None else context.meta.get(VERBOSITY, 0)


def print_json(document: dict) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(document, indent=1))


def print_size(shape: tuple[int, ...], constraints, note: str = "") -> None:
    """What was read, in one line."""
    counts = ((shape[0], "row"), (shape[1], "feature"), (constraints.n_answers, "answer"))
    print_message(", ".join(count_of(n, what) for n, what in counts) + note)


def count_of(n: int, what: str) -> str:
    """1 answer, 2 answers."""
    return f"{n} {what}{'s' * (n != 1)}"


def n_answers_that(n: int, verb: str, rest: str) -> str:
    """1 answer contradicts others, 2 answers contradict others."""
    return f"{count_of(n, 'answer')} {verb}{'s' * (n == 1)} {rest}"


def answers_saved(n: int) -> str:
    """The beginning of a sentence on where answers are."""
    return f"{count_of(n, 'answer')} {'is' if n == 1 else 'are'} saved"


def print_files(**written: str | None) -> None:
    """The files that were written, by their content."""
    for content, path in written.items():
        if path not in (None, "-"):
            print_message(f"wrote the {content} to {path}")


def print_check(checked) -> None:
    """The results of checking the answers, as tables."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from likewise.evaluation import percent

    console = Console(stderr=True, soft_wrap=True)
    print_message(n_answers_that(len(checked.conflicts), "contradict", "others"))
    for conflict in checked.conflicts[:MOST_SHOWN]:
        print_message(f"  {conflict}")
    describe, prices = checked.constraints.describe, checked.prices
    n_satisfied = int(prices.satisfied.sum())
    print_message(f"{n_satisfied} of {len(prices.prices)} answers are already satisfied")
    doubtful = checked.doubtful.positions
    table = Table("doubtful", "doubt", "price", box=box.SIMPLE, title_justify="left")
    for at in doubtful[:MOST_SHOWN]:
        doubt, price = checked.doubtful.doubts[at], prices.prices[at]
        answer = Text(for_terminal(describe(int(at))))
        table.add_row(answer, f"{doubt:.2f}", f"{price:.3g}")
    if len(doubtful):
        disagree = n_answers_that(len(doubtful), "disagree", "with the rest")
        print_message(f"{disagree}; the most doubtful:")
        console.print(table)
    else:
        print_message("no answer disagrees with the rest")
    if checked.fitness is not None:
        table = Table("metric", "pairs satisfied at no cost", "how often best", box=box.SIMPLE)
        fitness = checked.fitness
        for name, share, win in zip(fitness.names, fitness.shares, fitness.wins):
            table.add_row(name, percent(share, 1), percent(win))
        console.print(table)


def print_rounds(selected, pool) -> None:
    """The answers that were chosen, round by round."""
    from likewise.evaluation import percent

    qualities = [percent(quality, 1) for quality in selected.qualities]
    print_message(f"agreement with all answers: {qualities[0]} before")
    for at, quality in zip(selected.chosen[:MOST_SHOWN], qualities[1:]):
        print_message(f"  {quality} after adding {pool.describe(int(at))}")
    if len(selected.chosen) > MOST_SHOWN:
        print_message(f"  {qualities[-1]} after adding {len(selected.chosen) - MOST_SHOWN} more")
    if not len(selected.chosen):
        print_message("no answer improves it")


def print_conflicts(constraints) -> None:
    conflicts = constraints.conflicts()
    if conflicts:
        contradict = n_answers_that(len(conflicts), "contradict", "others")
        print_message(f"{contradict}; the first ones:" if len(conflicts) > 1 else f"{contradict}:")
        for conflict in conflicts[:3]:
            print_message(f"  {conflict}")


def print_satisfaction(constraints, labels) -> None:
    from likewise.evaluation import percent, satisfaction_score

    if len(constraints.signed_pairs()[0]):
        share = satisfaction_score(None, constraints, labels)
        print_message(f"pairs satisfied by the clusters: {percent(share, 1)}")


def print_choice(fitted, constraints) -> None:
    """What GuidedClustering did, in a few lines."""
    from likewise.evaluation import percent

    report = fitted.report_
    print_message(f"features: {report.why_prepared}")
    print_message(f"space: {report.why}")
    for name, score, error in zip(report.trial_names, report.trial_scores, report.trial_errors):
        print_details(f"  {score:.3f} ± {error:.3f}  {name}")
    print_message(f"clusters: {report.why_n_clusters}")
    if report.last_step:
        print_message(report.last_step)
    if report.satisfied == report.satisfied:  # not nan: some answer could be judged
        before, after = percent(report.satisfied_before), percent(report.satisfied)
        print_message(f"answers satisfied: {before} before, {after} after")
    if len(fitted.doubtful_):
        first = constraints.describe(int(fitted.doubtful_[0]))
        disagree = n_answers_that(len(fitted.doubtful_), "disagree", "with the rest")
        print_message(f"{disagree}; the most doubtful: {first}")


def print_warnings_once():
    """A replacement for warnings.showwarning: one line per warning, and never the same twice."""
    printed = set()

    def show(message, category, filename, lineno, file=None, line=None) -> None:
        text = f"warning: {_one_line(message)}"
        if text not in printed:
            printed.add(text)
            click.echo(text, err=True)

    return show


def _one_line(message) -> str:
    """Single spaces, and no more than a page of a terminal: a cell can be very long."""
    text = for_terminal(" ".join(str(message).split()))
    if len(text) <= MAX_MESSAGE:
        return text
    return f"{text[: MAX_MESSAGE - LEAST_END]} ... {text[-LEAST_END:]}"


def fail(message: str, code: int) -> None:
    click.echo(f"likewise: {_one_line(message)}", err=True)
    sys.exit(code)


def say_how_in_a_copy(message: str) -> str:
    """How a missing extra is installed, also as long as the package index has no release."""
    if "dev" not in __version__:
        return message
    in_a_copy = r"\g<0>; in a copy of the repository: pip install '.\1'"
    return re.sub(r"pip install 'likewise(\[\w+\])'", in_a_copy, message)
