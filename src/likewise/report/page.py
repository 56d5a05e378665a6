"""The report: one HTML file that shows what the answers did, and needs nothing but a browser.

No scripts, no network access: the page forbids both (Content-Security-Policy), so even a bug in
the escaping could not run code in a user's text. Choosing a cluster on the
map is done by radio buttons and the style sheet, and works from the keyboard.
"""

import os
from importlib import resources

from likewise import __version__
from likewise.constraints import Constraints, check_constraints
from likewise.files.atomic_file import replacing
from likewise.report import sections
from likewise.report.markup import Markup, element, join
from likewise.report.row_cards import RowCards
from likewise.report.sections import Section
from likewise.report.shown_questions import border_questions, check_questions
from likewise.report.view import as_seen, check_model, look

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
N_QUESTIONS = 6


def write_report(
    path: str | os.PathLike,
    model,
    X,
    *,
    constraints: Constraints | None = None,
    ids=None,
    images=None,
    texts=None,
    feature_names=None,
    questions=None,
    title: str = "What the answers did",
) -> None:
    """Write the results of a fitted ``GuidedClustering`` to one self-contained HTML file.

    The file holds the map of the rows before and after the answers, every cluster with its most
    typical rows, the most influential answers, those that contradict each other or are doubtful,
    how many are satisfied, how the choice was made, and what to ask next. It has no scripts and no
    network access, and follows the reader's light or dark setting. However large X is, at most
    20,000 rows are used and about 3,000 drawn; the same model gives the same file.

    Parameters
    ----------
    path : str or path
        The file to write, whole or not at all.
    model : GuidedClustering
        Fitted to X.
    X : array-like, CSR matrix or dataframe of shape (n_samples, n_features)
        The rows the model was fitted to.
    constraints : Constraints, default=None
        The answers the model was fitted to; without them the page cannot show any.
    ids : array-like of shape (n_samples,), default=None
        Names of the rows; by default the ids of the constraints, or row numbers.
    images : array of shape (n_samples, h, w) or (n_samples, h, w, 3), default=None
        An image of every row: bytes, numbers from 0 to 1, or any others, darkest to lightest.
    texts : sequence of n_samples str, default=None
        The text of every row.
    feature_names : sequence of n_features str, default=None
        Names of the columns of X; by default those of a dataframe.
    questions : sequence, default=None
        What to ask next: tuples of two or three rows, or objects with ``rows`` and ``why``. By
        default a few pairs between two clusters that no answer settles.
    title : str, default="What the answers did"
        The heading.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from likewise import Constraints, GuidedClustering
    >>> from likewise.datasets import load_iris
    >>> from likewise.report import write_report
    >>> iris = load_iris()
    >>> answers = Constraints.from_labels(iris.y, n_pairs=30, random_state=0)
    >>> model = GuidedClustering(3, random_state=0).fit(iris.X, constraints=answers)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder, "iris.html"), model, iris.X, constraints=answers)
    ...     Path(folder, "iris.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    check_model(model)
    model, X, readable, names = as_seen(model, X)
    report = check_model(model, X)
    if constraints is not None:
        constraints = check_constraints(constraints, n_samples=report.n_rows)
    cards = RowCards.of(report.n_rows, constraints, ids=ids, images=images, texts=texts)
    pulled = sections.hardest_pulled(model, constraints)
    view = look(
        model,
        X,
        wanted=sections.rows_of(constraints, pulled),
        feature_names=feature_names if names is None else names,
        readable=readable,
    )
    if questions is None:
        asked = border_questions(view, constraints, N_QUESTIONS)
    else:
        asked = check_questions(questions, report.n_rows)
    parts = [
        sections.maps(view, report, constraints, pulled),
        sections.clusters(view, model, cards),
        sections.answers(model, constraints, pulled, cards),
        sections.doubts(model, constraints, cards),
        sections.satisfaction(model, X, constraints),
        sections.choice(report),
        sections.next_questions(asked, cards),
    ]
    html = page(title, sections.summary(model, constraints), parts, n_clusters=model.n_clusters_)
    with replacing(path) as temporary:
        temporary.write_bytes(html.encode("utf-8", "replace"))  # half a surrogate pair becomes "?"


def page(title: str, summary: Markup, parts: list[Section], *, n_clusters: int) -> Markup:
    """The whole document."""
    style = resources.files("likewise.report").joinpath("page.css").read_text(encoding="utf-8")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(style + sections.picking_rules(n_clusters))),
    )
    links = [element("li", element("a", part.title, href=f"#{part.name}")) for part in parts]
    body = element(
        "body",
        element("a", "Skip to the report", href="#content", class_="skip"),
        element("header", element("h1", title), summary),
        element("nav", element("ul", *links), aria_label="Sections of the report"),
        element("main", *[_section(part) for part in parts], id="content"),
        element(
            "footer",
            element(
                "p",
                f"Written by likewise {__version__}. "
                "This file is self-contained: no network access.",
            ),
        ),
    )
    return join([Markup("<!doctype html>\n"), element("html", head, body, lang="en")])


def _section(part: Section) -> Markup:
    heading = element("h2", part.title, id=f"{part.name}-title")
    return element(
        "section", heading, part.body, id=part.name, aria_labelledby=f"{part.name}-title"
    )
