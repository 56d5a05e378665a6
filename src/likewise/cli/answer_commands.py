"""likewise check and likewise select: look at answers before they are used."""

import sys

import click

from likewise.cli.data_rows import ColumnChoice, print_columns, read_answers, read_data, refuse_none
from likewise.cli.messages import print_check, print_json, print_message, print_rounds, print_size
from likewise.cli.options import (
    READABLE,
    auto_count_option,
    column_options,
    count_option,
    data_argument,
    embed_option,
    id_option,
    json_option,
    preparation_option,
    seed_option,
    verbosity_options,
)
from likewise.cli.refusals import check_files


@click.command()
@data_argument
@click.option(
    "-c",
    "--constraints",
    "answers",
    required=True,
    type=READABLE,
    help="Answer file: .csv, .jsonl or .parquet.",
)
@auto_count_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the results: one line per answer (.csv), or everything (.json); - is CSV on "
    "stdout.  [default: stdout when piped, else no file]",
)
@preparation_option
@id_option
@column_options
@embed_option
@seed_option
@json_option
@verbosity_options
def check(
    data: str,
    answers: str,
    clusters: int | str,
    output: str | None,
    preparation: str,
    id_column: str | None,
    features: list[str] | None,
    exclude: list[str] | None,
    as_text: list[str] | None,
    as_category: list[str] | None,
    by_network: bool,
    random_state: int,
    as_json: bool,
) -> None:
    """Check the answers before you use them.

    \b
    likewise check data.csv -c answers.csv -k 10
    likewise check data.csv -c answers.csv -k 10 -o checked.json

    Shows which answers contradict each other, how much each one costs the clustering, which are
    doubtful, and which metric fits them best.
    """
    output = results_path(output, as_json)
    from likewise.files.cluster_file import check_ending, write_records
    from likewise.guided import check_answers

    if output is not None:
        check_ending(output, (".csv", ".json"))
    check_files({"DATA": data, "-c": answers}, {"-o": output})
    choice = ColumnChoice(features, exclude, as_text, as_category)
    rows = read_data(data, id_column, choice, by_network=by_network)
    constraints = read_answers(answers, rows)
    refuse_none(constraints, answers)
    X = rows.numbers()
    print_size(rows.shape, constraints)
    print_columns(rows)
    preparation = rows.preparation(preparation)
    checked = check_answers(
        X, constraints, clusters, preparation=preparation, random_state=random_state
    )
    print_message(f"features: {checked.why_prepared}")
    print_check(checked)
    if output is not None:
        write_records(output, checked.rows(), checked.to_dict())
        if output != "-":
            print_message(f"wrote all results to {output}")
    if as_json:
        print_json(checked.to_dict())


def results_path(output: str | None, as_json: bool) -> str | None:
    """Where the results go: stdout when piped, unless JSON goes there; None is no file."""
    if as_json and output == "-":
        raise ValueError("--json prints to stdout, so choose a file with -o, or leave -o out.")
    return "-" if output is None and not as_json and not sys.stdout.isatty() else output


@click.command()
@data_argument
@click.option(
    "--pool",
    required=True,
    type=READABLE,
    help="Answers to choose from: .csv, .jsonl or .parquet.",
)
@count_option
@click.option(
    "-m",
    "--most",
    default=50,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Maximum number of answers to choose.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the chosen answers here: .csv, .jsonl or .parquet; - is CSV on stdout.  "
    "[default: stdout when piped, else no file]",
)
@click.option(
    "--strategy",
    type=click.Choice(("active", "online", "random")),
    default="active",
    show_default=True,
    metavar="NAME",
    help="active retrains on all chosen answers in every round, online updates with one answer at "
    "a time, random chooses blindly.",
)
@click.option("--closure", is_flag=True, help="Skip answers that the chosen ones already imply.")
@click.option("--exact", is_flag=True, help="Try every answer in every round (slower).")
@preparation_option
@id_option
@column_options
@embed_option
@seed_option
@json_option
@verbosity_options
def select(
    data: str,
    pool: str,
    clusters: int,
    most: int,
    output: str | None,
    strategy: str,
    closure: bool,
    exact: bool,
    preparation: str,
    id_column: str | None,
    features: list[str] | None,
    exclude: list[str] | None,
    as_text: list[str] | None,
    as_category: list[str] | None,
    by_network: bool,
    random_state: int,
    as_json: bool,
) -> None:
    """Choose the most useful answers from a large pool.

    \b
    likewise select data.csv --pool answers.csv -k 10 -m 50 -o chosen.csv
    likewise cluster data.csv -c chosen.csv -k 10

    Stops early when no further answer improves the agreement of the clusters with the pool.
    """
    output = results_path(output, as_json)
    from likewise.files.cluster_file import check_ending, write_records
    from likewise.guided import fit_preparation
    from likewise.selection import select_constraints

    if output not in (None, "-"):
        check_ending(output, (".csv", ".jsonl", ".parquet"))
    check_files({"DATA": data, "--pool": pool}, {"-o": output})
    choice = ColumnChoice(features, exclude, as_text, as_category)
    rows = read_data(data, id_column, choice, by_network=by_network)
    answers = read_answers(pool, rows)
    refuse_none(answers, pool)
    X = rows.numbers()
    print_size(rows.shape, answers)
    print_columns(rows)
    prepared = fit_preparation(X, rows.preparation(preparation))
    print_message(f"features: {prepared.why}")
    X = prepared.map.transform(X)
    selected = select_constraints(
        X,
        answers,
        clusters,
        n_select=most,
        strategy=strategy,
        closure=closure,
        exact=exact,
        random_state=random_state,
    )
    print_rounds(selected, answers)
    chosen = [answers.answer(int(at)) for at in selected.chosen]
    lines = [
        {"kind": answer.kind, **dict(zip("ab", map(answers.row_name, answer.points)))}
        for answer in chosen
    ]
    if as_json:
        print_json({"chosen": lines, "agreement": [float(one) for one in selected.qualities]})
    if output == "-":
        write_records("-", lines, {})
    elif output is not None:
        answers.subset(selected.chosen).write(output)
        print_message(f"wrote the chosen answers to {output}")
