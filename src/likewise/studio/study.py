"""A study: participants with a link each, a number of trials, catch questions, a code at the end.

A study is a TOML file:

    title = "Which birds belong together?"
    instructions = "You will see three birds. ..."
    participants = 20            # or names: ["p01", "p02"]
    trials = 60                  # of each participant, catch questions among them
    kinds = ["odd_one_out"]      # of questions that are chosen as people answer
    code = "BIRDS-2026"          # shown at the end; drawn for each participant without it
    shuffle = true               # the order of given questions, for each participant anew
    seed = 0

    [[questions]]                # given questions, asked before any are chosen
    kind = "odd_one_out"
    rows = [3, 17, 42]           # row numbers, or ids

    [[catch]]                    # given questions whose answer is known, spread over the trials
    kind = "pair"
    rows = [3, 4]
    answer = "together"

Everything follows from the file and from the log, so a study goes on after a restart.
"""

import csv
import random
import secrets
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from likewise.files.atomic_file import replacing
from likewise.labeling import Event, Question, check_kinds, check_question, in_force

MOST_PARTICIPANTS = 10_000
MOST_TRIALS = 100_000
N_POSITIONS = 9  # rows on a screen
KNOWN = {
    *("title", "instructions", "participants", "trials", "kinds", "code", "shuffle", "seed"),
    *("questions", "catch"),
}


class Catch(NamedTuple):
    """A question whose answer is known."""

    question: Question
    answer: Any


@dataclass(frozen=True)
class Study:
    """What participants see, and how much of it."""

    participants: tuple[str, ...]
    n_trials: int
    title: str = ""
    instructions: str = ""
    kinds: tuple[str, ...] = ("group",)
    code: str | None = None
    is_shuffled: bool = True
    seed: int = 0
    questions: tuple[Question, ...] = ()
    catches: tuple[Catch, ...] = ()

    def plan(self, name: str) -> list[Question | None]:
        """The questions of a participant in order; None is chosen when it is due."""
        rng = random.Random(f"{self.seed} {name}")
        given = list(self.questions)
        if self.is_shuffled:
            rng.shuffle(given)
        n_catches = min(len(self.catches), self.n_trials)
        given = given[: self.n_trials - n_catches]
        trials: list[Question | None] = [*given]
        trials += [None] * (self.n_trials - n_catches - len(given))
        catches = rng.sample(self.catches, n_catches)
        for i, catch in enumerate(catches):  # one in each equal part of the trials
            first = i * self.n_trials // n_catches
            last = (i + 1) * self.n_trials // n_catches
            trials.insert(rng.randrange(first, last), catch.question)
        return trials

    def next_trial(self, name: str, had: Sequence[Question]) -> int:
        """Which of the planned questions comes next, after those a participant had or has.

        Not by counting them: one that was chosen may have been put away again.
        """
        left, plan = Counter(had), self.plan(name)
        for planned in plan:
            if planned is not None and left[planned]:
                left[planned] -= 1
        n_chosen, left = left.total(), Counter(had)
        for i, planned in enumerate(plan):
            if planned is not None and left[planned]:
                left[planned] -= 1
            elif planned is None and n_chosen:
                n_chosen -= 1
            else:
                return i
        return self.n_trials

    def catch_of(self, question: Question) -> Catch | None:
        """The catch that a question is."""
        return next((catch for catch in self.catches if catch.question == question), None)


def read_study(path: str | Path, n_rows: int, ids: Sequence[str] | None = None) -> Study:
    """The study in a file; errors name the file and the place."""
    path = Path(path)
    try:
        cells = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no TOML file: {error}.") from None
    unknown = sorted(set(cells) - KNOWN)
    if unknown:
        raise ValueError(f"{path.name}: {unknown[0]} is unknown. Use {', '.join(sorted(KNOWN))}.")
    try:
        return study_of(cells, n_rows, ids)
    except (ValueError, TypeError, KeyError) as error:
        said = f"{error.args[0]} is missing." if isinstance(error, KeyError) else error
        raise ValueError(f"{path.name}: {said}") from None


def study_of(cells: Mapping[str, Any], n_rows: int, ids: Sequence[str] | None) -> Study:
    """A study from the cells of a file."""
    row_of = None if ids is None else {str(name): row for row, name in enumerate(ids)}
    people = cells["participants"]
    if isinstance(people, int) and not isinstance(people, bool):
        check_count("participants", people, MOST_PARTICIPANTS)
        width = len(str(people))
        people = [f"p{i + 1:0{width}}" for i in range(people)]
    if not isinstance(people, list) or not all(isinstance(p, str) and p.strip() for p in people):
        raise ValueError("participants must be a number, or a list of names.")
    if len(set(people)) < len(people) or not people:
        raise ValueError("participants must be different names, at least one.")
    check_count("trials", cells["trials"], MOST_TRIALS)
    questions = tuple(
        read_question(one, f"questions[{i}]", n_rows, row_of)
        for i, one in enumerate(cells.get("questions", []))
    )
    catches = []
    for i, one in enumerate(cells.get("catch", [])):
        question = read_question(one, f"catch[{i}]", n_rows, row_of)
        given = one["answer"]
        answer = question.check_choice(tuple(given) if isinstance(given, list) else given)
        catches.append(Catch(question, answer))
    return Study(
        tuple(people),
        cells["trials"],
        str(cells.get("title", "")),
        str(cells.get("instructions", "")),
        check_kinds(cells.get("kinds", ["group"])),
        None if cells.get("code") is None else str(cells["code"]),
        bool(cells.get("shuffle", True)),
        int(cells.get("seed", 0)),
        questions,
        tuple(catches),
    )


def check_count(name: str, count: Any, most: int) -> None:
    """A whole number from 1."""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= most:
        raise ValueError(f"{name} = {count!r} must be a whole number from 1 to {most}.")


def read_question(
    cells: Mapping[str, Any], place: str, n_rows: int, row_of: Mapping[str, int] | None
) -> Question:
    """A question by row numbers or ids."""

    def row(name: Any) -> int:
        if row_of is not None and str(name) in row_of:
            return row_of[str(name)]
        if isinstance(name, int) and not isinstance(name, bool):
            return name
        raise ValueError(f"{place}: there is no row {name!r}.")

    rows = tuple(row(name) for name in cells["rows"])
    groups = tuple(tuple(row(name) for name in group) for group in cells.get("groups", []))
    check_kinds((cells["kind"],))
    try:
        return check_question(Question(cells["kind"], rows, groups), n_rows)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


# Links and trials


class ParticipantLink(NamedTuple):
    """How a participant comes in, and what they get at the end."""

    name: str
    token: str
    code: str


def keep_links(study: Study, path: Path) -> list[ParticipantLink]:
    """The links of all participants: those of the file, and new ones for those it does not have."""
    known: dict[str, ParticipantLink] = {}
    if path.exists():
        with open(path, newline="", encoding="utf-8") as file:
            lines = [ParticipantLink(*line[:3]) for line in list(csv.reader(file))[1:]]
            known = {line.name: line for line in lines}
    links = []
    for name in study.participants:
        code = study.code or secrets.token_hex(4).upper()
        links.append(known.get(name) or ParticipantLink(name, secrets.token_urlsafe(16), code))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)  # who reads it can answer as anybody; replacing keeps permissions
    with replacing(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["participant", "token", "code", "link"])
        writer.writerows([*link, f"/?token={link.token}"] for link in links)
    return links


def write_trials(
    path: Path, study: Study, events: Sequence[Event], ids: Sequence[str] | None
) -> None:
    """One line per trial: what was shown where, what was answered, and how long that took."""
    positions = [f"position_{i + 1}" for i in range(N_POSITIONS)]
    head = ["participant", "trial", "kind", *positions, "choice", "chosen", "seconds", "at"]
    head += ["is_catch", "is_right", "is_repeat", "event"]
    with replacing(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        n_trials: dict[str, int] = {}
        for event in in_force(events):
            question = event.question
            if (
                event.kind != "answer"
                or question is None
                or event.annotator not in study.participants
            ):
                continue
            n_trials[event.annotator] = n_trials.get(event.annotator, 0) + 1
            shown = [name_of(row, ids) for row in question.shown[:N_POSITIONS]]
            shown += [""] * (N_POSITIONS - len(shown))
            catch = study.catch_of(question)
            is_right = "" if catch is None else int(catch.answer == event.choice)
            choice = event.choice if isinstance(event.choice, str | int) else list(event.choice)
            writer.writerow(
                [event.annotator, n_trials[event.annotator], question.kind, *shown, choice]
                + [chosen_rows(question, event.choice, ids), event.seconds, event.at]
                + [int(catch is not None), is_right, int(question.is_repeat), event.id]
            )


def chosen_rows(question: Question, choice: Any, ids: Sequence[str] | None) -> str:
    """The rows that a choice points at."""
    if isinstance(choice, str):
        return ""
    if question.kind == "group":
        return name_of(question.groups[choice][0], ids)
    if question.kind == "odd_one_out":
        return name_of(question.rows[choice], ids)
    return " ".join(name_of(question.rows[1:][i], ids) for i in choice)


def name_of(row: int, ids: Sequence[str] | None) -> str:
    """A row as the data call it."""
    return str(row) if ids is None else str(ids[row])
