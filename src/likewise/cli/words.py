"""What commands say on stderr: what they found, and what went wrong, in one line."""

import sys

import click

MAX_MESSAGE = 600  # letters
MOST_SHOWN = 10  # answers in a table


def tell(words: str) -> None:
    click.echo(words, err=True)


def tell_files(**written: str | None) -> None:
    """Where what was written can be found."""
    for what, path in written.items():
        if path not in (None, "-"):
            tell(f"{what} in {path}")


def show_check(found) -> None:
    """The account of the answers as tables, on stderr."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(stderr=True, soft_wrap=True)
    tell(f"{len(found.conflicts)} answers contradict others")
    for conflict in found.conflicts[:MOST_SHOWN]:
        tell(f"  {conflict}")
    describe, prices = found.constraints.describe, found.prices
    n_satisfied = int(prices.satisfied.sum())
    tell(f"{n_satisfied} of {len(prices.prices)} answers are already satisfied")
    doubtful = found.doubtful.positions
    table = Table("doubtful", "doubt", "price", box=box.SIMPLE, title_justify="left")
    for at in doubtful[:MOST_SHOWN]:
        doubt, price = found.doubtful.doubts[at], prices.prices[at]
        table.add_row(describe(int(at)), f"{doubt:.2f}", f"{price:.3g}")
    if len(doubtful):
        tell(f"{len(doubtful)} answers disagree with the rest; the most doubtful:")
        console.print(table, markup=False)
    else:
        tell("no answer disagrees with the rest")
    if found.fitness is not None:
        table = Table("metric", "pairs that cost nothing", "best of sets", box=box.SIMPLE)
        fitness = found.fitness
        for name, share, win in zip(fitness.names, fitness.shares, fitness.wins):
            table.add_row(name, f"{share:.1%}", f"{win:.0%}")
        console.print(table)


def tell_rounds(found, pool) -> None:
    """What was chosen, round by round, on stderr."""
    tell(f"agreement with all answers: {found.qualities[0]:.1%} before")
    for at, quality in zip(found.chosen[:MOST_SHOWN], found.qualities[1:]):
        tell(f"  {quality:.1%} with {pool.describe(int(at))}")
    if len(found.chosen) > MOST_SHOWN:
        tell(f"  {found.qualities[-1]:.1%} with {len(found.chosen) - MOST_SHOWN} more")
    if not len(found.chosen):
        tell("no answer makes it better")


def tell_conflicts(constraints) -> None:
    conflicts = constraints.conflicts()
    if conflicts:
        tell(f"{len(conflicts)} answers contradict others; the first:")
        for conflict in conflicts[:3]:
            tell(f"  {conflict}")


def tell_satisfaction(constraints, labels) -> None:
    from likewise.evaluation import satisfaction_score

    if len(constraints.signed_pairs()[0]):
        share = satisfaction_score(None, constraints, labels)
        tell(f"{share:.1%} of the pairs hold in the clusters")


def tell_choice(fitted, constraints) -> None:
    """What GuidedClustering found, in a few lines."""
    report = fitted.report_
    tell(f"features: {report.why_prepared}")
    tell(f"space: {report.why}")
    tell(f"clusters: {report.why_n_clusters}")
    if report.satisfied == report.satisfied:  # not nan: some answer could be judged
        tell(f"answers that hold: {report.satisfied_before:.0%} before, {report.satisfied:.0%} now")
    if len(fitted.doubtful_):
        first = constraints.describe(int(fitted.doubtful_[0]))
        tell(f"{len(fitted.doubtful_)} answers disagree with the rest; the first: {first}")


def warning_teller():
    """A warning is one line, told once."""
    told = set()

    def show(message, category, filename, lineno, file=None, line=None) -> None:
        words = f"warning: {_one_line(message)}"
        if words not in told:
            told.add(words)
            tell(words)

    return show


def _one_line(message) -> str:
    """Single spaces, and no more than a few lines of a terminal: a cell can hold a novel."""
    words = " ".join(str(message).split())
    return words if len(words) <= MAX_MESSAGE else f"{words[:MAX_MESSAGE]} ..."


def fail(message: str, code: int) -> None:
    click.echo(f"likewise: {_one_line(message)}", err=True)
    sys.exit(code)
