"""likewise ask: questions in the terminal, one key per answer, each saved before the next."""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from likewise.cli.data_rows import ColumnChoice, DataRows, print_columns, read_data
from likewise.cli.messages import answers_saved, count_of, print_message
from likewise.cli.options import (
    READABLE,
    WRITABLE,
    column_options,
    data_argument,
    id_option,
    kinds_option,
    preparation_option,
    seed_option,
)
from likewise.cli.refusals import check_files

FEW_ANSWERS = 10  # before so many, an estimate of quality says little


@click.command()
@data_argument
@kinds_option
@click.option(
    "-n",
    "--questions",
    default=None,
    type=click.IntRange(1),
    metavar="N",
    help="Stop after so many answers.  [default: go on until q]",
)
@click.option(
    "--log",
    type=WRITABLE,
    help="File that every answer is saved in at once, and resumed from.  "
    "[default: DATA-answers.log]",
)
@click.option(
    "-o",
    "--output",
    type=WRITABLE,
    help="Answer file to write at the end: .csv, .jsonl or .parquet.  [default: DATA-answers.csv]",
)
@click.option(
    "-c", "--constraints", "answers", type=READABLE, help="Answers to begin with, from a file."
)
@click.option(
    "--start-column",
    metavar="NAME",
    help="Column of clusters to begin from and to review; it is no feature.",
)
@click.option("--annotator", default="", metavar="NAME", help="Who answers; kept with the answers.")
@preparation_option
@id_option
@column_options
@seed_option
def ask(
    data: str,
    kinds: tuple[str, ...],
    questions: int | None,
    log: str | None,
    output: str | None,
    answers: str | None,
    start_column: str | None,
    annotator: str,
    preparation: str,
    id_column: str | None,
    features: list[str] | None,
    exclude: list[str] | None,
    as_text: list[str] | None,
    as_category: list[str] | None,
    random_state: int,
) -> None:
    """Answer questions about the rows of DATA, one key each.

    \b
    likewise ask data.csv
    likewise cluster data.csv -c data-answers.csv --report report.html

    Every answer is on disk before the next question appears. Press q to stop; the same command
    goes on where you were. u takes back as many answers as you like, also after a restart.
    """
    if data == "-":
        raise ValueError("The keys come from stdin, so DATA must be a file. Save it first.")
    log = log or f"{Path(data).stem}-answers.log"
    output = output or f"{Path(data).stem}-answers.csv"
    check_files({"DATA": data, "-c": answers}, {"--log": log, "-o": output})
    check_fresh(log, output)
    from likewise.labeling import TERMINAL, hold_log

    choice = ColumnChoice(features, exclude, as_text, as_category)
    shown = read_shown_rows(data, id_column, choice, start_column)
    print_columns(shown.data)
    with hold_log(log, holder=TERMINAL, option="--log"):
        session = open_session(shown, log, kinds, preparation, random_state)
        try:
            if answers is not None:
                print_message(f"{session.add_answers(answers)} new answers from {answers}")
            describe_start(session, log)
            run_session(session, shown, key_reader(), annotator or None, questions)
        finally:
            session.constraints.write(output)
            session.close()
            n_answers = session.progress.n_questions
            print_message(f"{answers_saved(n_answers)} in {log}, and written to {output}")
            print_message(f"next: likewise cluster {data} -c {output}")


def open_session(shown, log: str, kinds: tuple[str, ...], preparation: str, random_state: int):
    """A session about the rows, where its log left it."""
    from likewise.labeling import LabelingSession

    return LabelingSession(
        shown.data.rows,
        ids=shown.data.ids,
        log=log,
        start_labels=shown.start,
        kinds=kinds or ("group",),
        preparation=preparation,
        features="auto" if shown.data.features is None else shown.data.features,
        random_state=random_state,
    )


def check_fresh(log: str, output: str) -> None:
    """An answer file that no log of ours stands behind is not written over."""
    if Path(output).exists() and not Path(log).exists():
        raise ValueError(
            f"{output} already exists. Choose another file with -o, or begin with its answers: "
            f"-c {output} -o another.csv."
        )


def describe_start(session, log: str) -> None:
    """How much was resumed, and what was set aside."""
    progress = session.progress
    if progress.n_questions:
        print_message(f"resumed {log}: {count_of(progress.n_questions, 'answer')} so far")
    for event_id, row, why in session.set_aside[:3]:
        print_message(f"answer {event_id} is set aside: row {row} is {why}")
    if len(session.set_aside) > 3:
        print_message(f"and {len(session.set_aside) - 3} more answers are set aside")


def run_session(
    session, shown, read_key: Callable[[], str], annotator: str | None, n_wanted: int | None
) -> None:
    """Ask until nothing is left, enough was answered, or the person stops."""
    from rich.console import Console

    from likewise.cli.question_screen import (
        QUIT,
        SKIP,
        UNDO,
        clean,
        describe_keys,
        read_choice,
        screen_of,
    )
    from likewise.labeling import TITLES

    console = Console(stderr=True, highlight=False)
    n_answered = 0
    while n_wanted is None or n_answered < n_wanted:
        question = session.next_question(annotator)
        if question is None:
            print_message("nothing is left to ask: " + session.progress.why)
            return
        progress = session.progress
        name = clean(shown.name_of(question.rows[0]))
        console.rule(describe_progress(progress))
        console.print(TITLES[question.kind].format(name=name), markup=False)
        console.print(
            screen_of(question, shown.columns, shown.name_of, shown.pictures(question, console))
        )
        console.print(describe_keys(question), markup=False)
        began = time.monotonic()
        choice = read_choice(question, read_key, print_message)
        if choice == QUIT:
            return
        if choice == SKIP:
            session.skip(question, annotator=annotator)
        elif choice == UNDO:
            undone = session.undo(annotator)
            n_answered -= undone is not None
            print_message("nothing to take back" if undone is None else "taken back")
        else:
            seconds = round(time.monotonic() - began, 3)
            session.answer(question, choice, annotator=annotator, seconds=seconds)
            n_answered += 1


def describe_progress(progress) -> str:
    """How far the session has come, in one line."""
    line = f"question {progress.n_questions + 1}, {count_of(progress.n_groups, 'group')} so far"
    low, high = progress.placed.low, progress.placed.high
    if progress.n_questions >= FEW_ANSWERS and low == low:  # not nan
        line += f", {low:.0%} to {high:.0%} of the rows placed rightly"
    return f"{line}; {progress.why}: q?" if progress.should_stop else line


def key_reader() -> Callable[[], str]:
    """One key at a time from the terminal, or one letter at a time from a pipe; its end is q."""
    if sys.stdin.isatty():
        return click.getchar
    return lambda: sys.stdin.read(1) or "q"


class ShownRows(NamedTuple):
    """Rows to ask about, with what a person sees of them."""

    data: DataRows
    columns: dict  # what is shown, by column
    start: Any  # (n,) clusters to begin from, or None
    images: list[str] | None = None  # paths

    def name_of(self, row: int) -> str:
        return f"row {row}" if self.data.ids is None else self.data.ids[row]

    def pictures(self, question, console) -> Callable[[int], Any] | None:
        """What draws the image of a row, as large as a console has room for; None without any."""
        if self.images is None:
            return None
        from likewise.cli.terminal_images import draw_image, image_size
        from likewise.features import read_small_images

        size = image_size(console.width, len(question.shown))
        in_color, paths = console.color_system is not None, self.images
        return lambda row: draw_image(read_small_images([paths[row]], size)[0], in_color=in_color)


def read_shown_rows(
    data: str, id_column: str | None, choice: ColumnChoice, start_column: str | None
) -> ShownRows:
    """DATA as `likewise cluster` reads it, and its columns as they are shown."""
    from likewise.files.cell_table import as_cells

    start = None
    if start_column is not None:
        start = read_column(data, start_column)
        choice = replace(choice, exclude=[*(choice.exclude or ()), start_column])
    rows = read_data(data, id_column, choice)
    if rows.files is not None:
        texts = {} if rows.texts is None else {"text": as_cells(rows.texts)}
        return ShownRows(rows, texts, start, rows.image_paths())
    if rows.features is None:
        names = rows.feature_names or [f"x{j}" for j in range(rows.rows.shape[1])]
        return ShownRows(rows, dict(zip(names, rows.rows.T)), start)
    hidden = (rows.id_column, start_column)
    columns = {n: as_shown(cells) for n, cells in rows.rows.columns.items() if n not in hidden}
    return ShownRows(rows, columns, start)


def read_column(data: str, name: str):
    """One column of DATA."""
    from likewise.files.row_file import read_table

    columns = read_table(data).columns
    if name not in columns:
        raise ValueError(f"{data} has no column {name!r}. It has {', '.join(columns)}.")
    return columns[name]


def as_shown(cells):
    """A column as numbers, if all its cells are: then it is known how far apart they are."""
    try:
        return cells.astype(float)
    except (TypeError, ValueError):
        return cells
