"""likewise studio: questions in the browser, for one person or several."""

from contextlib import closing, suppress
from pathlib import Path

import click

from likewise.cli.data_rows import ColumnChoice, print_columns
from likewise.cli.messages import answers_saved, count_of, print_message
from likewise.cli.options import (
    READABLE,
    WRITABLE,
    ColumnNames,
    auto_count_option,
    column_options,
    data_argument,
    id_option,
    kinds_option,
    preparation_option,
    seed_option,
)
from likewise.cli.refusals import check_files

ANSWERS_HELP = (
    "File that every answer is saved in at once, and resumed from.  [default: DATA-answers.log]"
)
no_browser_option = click.option("--no-browser", is_flag=True, help="Do not open a browser.")
port_option = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=None,
    metavar="N",
    help="Port of the studio.  [default: 8642, or the next free one]",
)


def serving_options(command):
    """--host, --port, --allow-host, --people, --overlap, --blind and --no-browser."""
    for option in (
        no_browser_option,
        click.option(
            "--blind",
            "is_blind",
            is_flag=True,
            help="Hide the map, the model's guess and what others said.",
        ),
        click.option(
            "--overlap",
            type=click.FloatRange(0, 1),
            default=0.0,
            show_default=True,
            metavar="SHARE",
            help="Share of the questions that a second person gets too.",
        ),
        click.option(
            "--people",
            type=ColumnNames(),
            metavar="NAMES",
            help="Who may answer, separated by commas.  [default: anybody with the link]",
        ),
        click.option(
            "--allow-host",
            "hosts",
            multiple=True,
            metavar="NAME",
            help="Name of a proxy in front of the studio; may be given several times.",
        ),
        port_option,
        click.option(
            "--host",
            default="127.0.0.1",
            show_default=True,
            metavar="ADDRESS",
            help="Address to listen at; others than loopback can be reached by everybody.",
        ),
    ):
        command = option(command)
    return command


@click.command()
@data_argument
@click.option("--answers", "log", type=WRITABLE, help=ANSWERS_HELP)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False),
    help="Folder that clusters, answers, model and report are saved in as they change.  "
    "[default: DATA-studio]",
)
@auto_count_option
@kinds_option
@click.option(
    "--study",
    "study_file",
    type=READABLE,
    help="A study (TOML): participants with a link each, trials, catch questions.",
)
@serving_options
@preparation_option
@id_option
@column_options
@seed_option
def studio(
    data: str,
    log: str | None,
    output: str | None,
    clusters: int | str,
    kinds: tuple[str, ...],
    study_file: str | None,
    host: str,
    port: int | None,
    hosts: tuple[str, ...],
    people: list[str] | None,
    overlap: float,
    is_blind: bool,
    no_browser: bool,
    preparation: str,
    id_column: str | None,
    features: list[str] | None,
    exclude: list[str] | None,
    as_text: list[str] | None,
    as_category: list[str] | None,
    random_state: int,
) -> None:
    """Answer questions about DATA in the browser, and watch the clusters form.

    \b
    likewise studio photos/
    likewise studio data.csv --people ann,bob

    DATA is a table, a folder of images or texts, or .npy. Every answer is on disk before the
    page says so. Ctrl-C stops; the same command goes on where you were.
    """
    if data == "-":
        raise ValueError("The studio reads DATA again when it resumes: it must be a file.")
    log = log or f"{Path(data).resolve().stem}-answers.log"
    output = output or f"{Path(data).resolve().stem}-studio"
    check_files({"DATA": data if Path(data).is_file() else None}, {"--answers": log})
    from likewise.studio import thinker_on_its_way

    process = click.get_current_context().with_resource(thinker_on_its_way())
    from likewise.cli.ask_command import read_shown_rows
    from likewise.cli.studio_rows import gallery_of
    from likewise.labeling import LabelingSession
    from likewise.studio import ThinkerProcess, read_study, serve  # noqa: F401  needs the extra

    shown = read_shown_rows(
        data, id_column, ColumnChoice(features, exclude, as_text, as_category), None
    )
    print_columns(shown.data)
    study = None
    if study_file is not None:
        study = read_study(study_file, shown.data.n_rows, shown.data.ids)
        kinds = study.kinds
    session = LabelingSession(
        shown.data.rows,
        ids=shown.data.ids,
        kinds=kinds or ("group",),
        n_clusters=clusters,
        preparation=preparation,
        features="auto" if shown.data.features is None else shown.data.features,
        random_state=random_state,
    )
    run_studio(
        session,
        gallery_of(shown, Path(data).resolve().name),
        log,
        Path(output),
        host=host,
        port=port,
        hosts=hosts,
        people=tuple(people or ()),
        overlap=overlap,
        is_blind=is_blind,
        opens_browser=not no_browser,
        study=study,
        thinker=ThinkerProcess(process),
    )


def run_studio(
    session,
    gallery,
    log: str,
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    hosts: tuple[str, ...] = (),
    people: tuple[str, ...] = (),
    overlap: float = 0.0,
    is_blind: bool = False,
    opens_browser: bool = True,
    study=None,
    thinker=None,
) -> None:
    """Serve a session until it is stopped; its answers go to the log."""
    from likewise.labeling import EventLog, RowNames
    from likewise.studio import (
        Studio,
        StudioSettings,
        Visitors,
        hold_log,
        keep_links,
        serve,
    )

    with hold_log(log), closing(EventLog(log, RowNames(session.rows, session.ids))) as keeper:
        events = keeper.read()
        for event_id, row, why in keeper.set_aside[:3]:
            print_message(f"answer {event_id} is set aside: row {row} is {why}")
        visitors, codes = Visitors(people=people), {}
        if study is not None:
            for name, token, code in keep_links(study, folder / "links.csv"):
                visitors.bind(token, name)
                codes[name] = code
            n_links = len(study.participants)
            print_message(f"{n_links} participants; their links are in {folder}/links.csv")
        settings = StudioSettings(
            study=study,
            codes=codes,
            is_blind=is_blind,
            needs_name=bool(people) or overlap > 0,
            people=people,
            overlap=overlap,
            log_id=keeper.identity,
            folder=folder,
        )
        room = Studio(session, gallery, keeper, events, settings, thinker)
        if room.desk.n_answers:
            print_message(f"resumed {log}: {count_of(room.desk.n_answers, 'answer')} so far")
        with suppress(KeyboardInterrupt):  # Ctrl-C is how one stops
            serve(
                room,
                visitors,
                host=host,
                port=port,
                hosts=hosts,
                opens_browser=opens_browser,
                say=print_message,
            )
        print_message(f"{answers_saved(room.desk.n_answers)} in {log}; clusters in {folder}/")
