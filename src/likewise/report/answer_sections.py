"""The sections about answers: those that mattered, those to review, and what to ask next."""

from collections.abc import Sequence

import numpy as np

from likewise.constraints import Constraints
from likewise.evaluation import percent, satisfied_answers
from likewise.report.drawing import bar
from likewise.report.influence import Influence
from likewise.report.markup import Markup, element, join
from likewise.report.row_cards import RowCards
from likewise.report.sections import WORDS, Section, count, more, no_answers
from likewise.report.shown_questions import ShownQuestion
from likewise.report.view import View, clusters_of, margins, runners_up

N_MATTERED = 12  # answers listed and drawn on the map
N_DOUBTFUL = 12
N_CONFLICTS = 20
N_ROWS = 12  # doubtful ones
N_OTHERS = 3  # answers about the same rows


def answers(model, constraints: Constraints | None, ranked: Influence | None, cards) -> Section:
    """The answers that the result would miss most, in words."""
    title = "Answers that mattered"
    if constraints is None or not constraints.n_answers or ranked is None:
        return Section("answers", title, element("p", no_answers(model)))
    if not len(ranked.positions):
        words = "Leaving out any single answer would change nothing."
        return Section("answers", title, element("p", words))
    violated = set(map(int, model.violated_))
    was_satisfied = satisfied_before(model, constraints)
    items = []
    shown = list(zip(ranked.positions, ranked.n_moved, ranked.shifts))[:N_MATTERED]
    largest = max(ranked.shifts.max(), 1e-12)
    for position, n_moved, shift in shown:
        if position in violated:
            mark = element("span", "violated", class_="mark bad")
        else:
            words = "satisfied" if was_satisfied[position] else "satisfied, was violated before"
            mark = element("span", words, class_="mark good")
        change = f"about {count(int(n_moved), 'row')} elsewhere"
        change = change if n_moved else "no row elsewhere, memberships move"
        meter = element("p", bar(shift / largest, change), " ", mark, class_="pull")
        items.append(_answer(constraints, int(position), cards, meter))
    n_moving = int(np.count_nonzero(ranked.n_moved))
    judged = f"{ranked.n_judged:,} of " if ranked.n_judged < constraints.n_answers else ""
    note = (
        f"What leaving out each answer would change, by a quick model that spreads the clusters "
        f"from the rows that answers refer to over the data as they were. Of "
        f"{judged}{count(constraints.n_answers, 'answer')}, {n_moving:,} would each move a row to "
        "another cluster. The bar shows how far memberships move. Answers about rows that others "
        "refer to as well change little; doubtful ones were not used."
    )
    body = join([element("p", note), element("ol", *items, class_="items")])
    return Section("answers", title, body)


def doubts(view: View, model, constraints: Constraints | None, cards: RowCards) -> Section:
    """Contradictions, doubtful answers with what speaks against them, and who gave them."""
    messages = [str(message) for message in model.report_.conflicts]
    parts: list[Markup | None] = [element("h3", "Contradictions")]
    if messages:
        items = [element("li", element("code", message)) for message in messages[:N_CONFLICTS]]
        parts.append(element("p", "They cannot all be true. Drop or correct one in each line."))
        parts.append(element("ul", *items))
        parts.append(more(len(messages) - len(items)))
    else:
        parts.append(element("p", "None: all answers can be true at the same time."))
    parts.append(element("h3", "Doubtful"))
    doubtful = [int(position) for position in model.doubtful_]
    if doubtful and constraints is not None:
        items = [
            _answer(constraints, p, cards, _against(view, model, constraints, p, cards))
            for p in doubtful[:N_DOUBTFUL]
        ]
        note = (
            "Answers contradicted by the other answers and the data, most doubtful first. They "
            "were set aside: nothing was learned from them."
        )
        parts += [
            element("p", note),
            element("ol", *items, class_="items"),
            more(len(doubtful) - len(items)),
        ]
    else:
        words = f"{count(len(doubtful), 'answer')}." if doubtful else "None."
        parts.append(element("p", words))
    if model.report_.people:
        parts.append(element("h3", "People"))
        parts += [
            element("p", "How reliable each one is: the share of answers that were meant."),
            element("p", model.report_.people),
        ]
    return Section("doubts", "Answers to review", join(parts))


def doubtful_rows(view: View, titles: Sequence[str], cards: RowCards) -> Section:
    """The rows that could as well be in another cluster."""
    title = "Rows to check"
    if len(titles) < 2:
        return Section("rows", title, element("p", "There is one cluster alone."))
    gaps, second = margins(view), runners_up(view)
    items = []
    for i in np.argsort(gaps, kind="stable")[:N_ROWS]:
        row, shares = int(view.rows[i]), view.memberships[i]
        own, other = int(view.labels[i]), int(second[i])
        words = [cards.name(row), f": cluster {titles[own]}, {percent(shares[own])}; "]
        words.append(f"cluster {titles[other]}, {percent(shares[other])}. ")
        link = element("a", "On the map", href="#map", data_point=int(i))
        items.append(element("li", element("p", *words, link), cards.cards([row])))
    note = "Rows whose membership in their cluster is closest to that in another."
    return Section("rows", title, join([element("p", note), element("ol", *items, class_="items")]))


def next_questions(questions: Sequence[ShownQuestion], cards: RowCards) -> Section:
    """What an answer would help with most, and how to answer."""
    title = "What to ask next"
    if not questions:
        words = "Nothing left to ask: the answers settle every row that lies between two clusters."
        return Section("next", title, element("p", words))
    items = []
    for question in questions:
        names = [cards.name(row) for row in question.rows]
        if len(names) == 2:
            words = join(["Do ", names[0], " and ", names[1], " belong together?"])
        else:
            words = join(
                ["Which of ", names[0], ", ", names[1], " and ", names[2], " is the odd one out?"]
            )
        why = element("p", question.why, class_="why") if question.why else None
        items.append(element("li", element("p", words), cards.cards(question.rows), why))
    note = [
        "Answers to these questions would say most about where the clusters meet. To answer such "
        "questions in the browser, with the map beside them: ",
        element("code", "likewise studio DATA"),
        ".",
    ]
    body = join([element("p", *note), element("ol", *items, class_="items")])
    return Section("next", title, body)


def hardest_pulled(model, constraints: Constraints | None) -> list[int]:
    """Positions of the answers that pulled hardest on the space; of equals, those first that were
    violated."""
    if constraints is None:
        return []
    was_satisfied = satisfied_before(model, constraints)
    order = np.lexsort((was_satisfied, -model.pulls_))[:N_MATTERED]
    return [int(position) for position in order if model.pulls_[position] > 0]


def satisfied_before(model, constraints: Constraints) -> np.ndarray:
    """(n_answers,) whether the clusters before satisfied a pair; True for triples."""
    return satisfied_answers(None, constraints, model.report_.labels_before) != 0


def _against(view: View, model, constraints: Constraints, position: int, cards) -> Markup:
    """What speaks against an answer: where its rows are, a model without it, other answers."""
    rows = constraints.points_of(position)
    labels = clusters_of(model)
    at = {int(row): i for i, row in enumerate(view.rows)}
    places = []
    for row in rows:
        share = percent(view.memberships[at[row], labels[row]]) if row in at else "–"
        places.append(join([cards.name(row), f" is in cluster {labels[row]} ({share})"]))
    reasons = [join([join([", ", place]) if i else place for i, place in enumerate(places)])]
    doubt = float(model.doubts_[position])
    if np.isfinite(doubt):
        words = f"a model learned without it contradicts it: {percent(doubt)} sure"
        reasons.append(element("span", words))
    others = np.delete(np.arange(constraints.n_answers), position)
    rest = constraints.subset(others).restrict(touched := constraints.touched_rows())
    pair = np.searchsorted(touched, rows)[None, :2]
    implied = rest.closure().known(pair)[0]
    wanted = {"must_link": 1, "cannot_link": -1}.get(constraints.answer(position).kind, 0)
    if wanted and implied == -wanted:
        reasons.append(element("span", "other answers imply the opposite"))
    elif wanted and implied == wanted:
        reasons.append(element("span", "other answers imply the same"))
    same = [p for p in map(int, others) if set(rows) & set(constraints.points_of(p))][:N_OTHERS]
    if same:
        named = ", ".join(constraints.describe(p) for p in same)
        reasons.append(join(["about the same rows: ", element("code", named)]))
    items = [element("li", reason) for reason in reasons]
    return element("ul", *items, class_="against", aria_label="What speaks for and against it")


def _answer(constraints: Constraints, position: int, cards: RowCards, *extra: Markup) -> Markup:
    answer = constraints.answer(position)
    kind, rows, annotator = answer.kind, answer.points, answer.annotator
    first, *between = WORDS[kind].split("{")
    words: list[object] = [first]
    for part in between:
        number, _, text = part.partition("}")
        words += [cards.name(rows[int(number)]), text]
    statement = element("p", *words, f" ({annotator})." if annotator else ".")
    code = element("p", element("code", constraints.describe(position)), class_="why")
    return element("li", statement, cards.cards(rows), *extra, code)
