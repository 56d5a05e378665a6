"""The report: one HTML file that shows what the answers did, and needs nothing but a browser.

It runs one script, ours, which its Content-Security-Policy names by its hash, and has no network
access: so even a bug in the escaping could not run code in a user's text. Without scripts the maps
are pictures; choosing a cluster on them is done by radio buttons and the style sheet.
"""

import base64
import hashlib
import os
from dataclasses import replace
from importlib import resources

import numpy as np

from likewise import __version__
from likewise.constraints import Constraints, check_constraints
from likewise.files.atomic_file import replacing
from likewise.report import answer_sections, sections
from likewise.report.answer_sections import N_MATTERED
from likewise.report.descriptions import describe
from likewise.report.drawing import color_rules
from likewise.report.influence import rank_answers
from likewise.report.map_section import map_section, picking_rules, title_of
from likewise.report.markup import Markup, element, join
from likewise.report.picture import MAX_SIDE
from likewise.report.row_cards import RowCards
from likewise.report.row_facts import facts_of
from likewise.report.sections import Section
from likewise.report.shown_questions import border_questions, check_questions
from likewise.report.view import as_seen, check_model, draw_maps, look

N_QUESTIONS = 6
N_OTHER_IMAGES = 100  # beside those of clusters: of answers, rows and questions
IMAGE_BYTES = 700_000  # of pixels, of all images that are shown one by one
SMALLEST_SIDE = 24


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

    The file holds a map of the rows to zoom, search and click, every cluster with its name, what
    sets it apart and its most typical rows, the rows between clusters, the answers that mattered,
    those that contradict each other or are doubtful with what speaks against them, how many are
    satisfied, how the choice was made, and what to ask next. It has one small script of ours, no
    network access, and follows the reader's light or dark setting. However large X is, about 20,000
    rows are used: a sample, and all rows that answers refer to. The same model gives the same file.

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
    fitted, given = model, X
    model, X, readable, names = as_seen(model, X)
    report = check_model(model, X)
    if constraints is not None:
        constraints = check_constraints(constraints, n_samples=report.n_rows)
    cards = RowCards.of(report.n_rows, constraints, ids=ids, images=images, texts=texts)
    asked = None if questions is None else check_questions(questions, report.n_rows)
    view = look(
        model,
        X,
        wanted=_wanted(constraints, asked),
        feature_names=feature_names if names is None else names,
        readable=readable,
    )
    if asked is None:
        asked = border_questions(view, constraints, N_QUESTIONS)
    described = describe(
        view, fitted, given, texts=texts, n_rows=sections.N_PICTURES, name_columns=images is None
    )
    cards = replace(
        cards,
        facts=None if cards.can_show else facts_of(view, fitted, given, described),
        max_side=_side_of_images(cards, model.n_clusters_),
    )
    ranked = None
    if constraints is not None:
        heard = constraints.restrict(view.rows)  # the view has every row that answers refer to
        ranked = rank_answers(view.start, view.labels, heard, set_aside=model.doubtful_)
    mattered = [] if ranked is None else [int(p) for p in ranked.positions[:N_MATTERED]]
    titles = [title_of(about) for about in described]
    maps = draw_maps(view)
    parts = [
        map_section(view, maps, described, report.n_rows, constraints, mattered, cards),
        sections.clusters(view, described, report.n_rows, cards),
        answer_sections.doubtful_rows(view, titles, cards),
        answer_sections.answers(model, constraints, ranked, cards),
        answer_sections.doubts(view, model, constraints, cards),
        sections.satisfaction(model, X, constraints),
        sections.choice(report),
        answer_sections.next_questions(asked, cards),
    ]
    html = page(title, sections.summary(model, constraints), parts, n_clusters=model.n_clusters_)
    with replacing(path) as temporary:
        temporary.write_bytes(html.encode("utf-8", "replace"))  # half a surrogate pair becomes "?"


def _wanted(constraints: Constraints | None, asked) -> np.ndarray:
    """Rows that must be in view: those that answers and questions refer to."""
    rows = np.empty(0, dtype=int) if constraints is None else constraints.touched_rows()
    return np.union1d(rows, [row for question in asked or () for row in question.rows])


def _side_of_images(cards: RowCards, n_clusters: int) -> int:
    """Pixels a side that keep all images of the page within their share of 2 MB."""
    if cards.images is None:
        return MAX_SIDE
    n_channels = 1 if len(cards.images.shape) == 3 else 3
    n_images = N_OTHER_IMAGES + 16 * min(n_clusters, 15) + 10 * max(min(n_clusters, 60) - 15, 0)
    side = int(np.sqrt(IMAGE_BYTES / (n_images * n_channels)))
    return min(max(side, SMALLEST_SIDE), MAX_SIDE)


def page(title: str, summary: Markup, parts: list[Section], *, n_clusters: int) -> Markup:
    """The whole document."""
    style, script = read_part("page.css"), read_part("page.js")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(style + color_rules(n_clusters) + picking_rules(n_clusters))),
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
        element("script", Markup(script)),
    )
    return join([Markup("<!doctype html>\n"), element("html", head, body, lang="en")])


def policy(script: str) -> str:
    """What the page may do: run this one script, by its hash, and show images it contains."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def read_part(name: str) -> str:
    return resources.files("likewise.report").joinpath(name).read_text(encoding="utf-8")


def _section(part: Section) -> Markup:
    heading = element("h2", part.title, id=f"{part.name}-title")
    return element(
        "section", heading, part.body, id=part.name, aria_labelledby=f"{part.name}-title"
    )
