"""What all events of a session say about its rows: groups, memberships, links to learn from.

Everything follows from the events and is found again after each answer. Only what does not depend
on each of them is kept: the prepared rows that are thought about and their graph. Of many rows
half of these are drawn anew by what is known after 40 answers, 160 and so on.
"""

from collections.abc import Sequence

import numpy as np

from likewise.constraints import Constraints
from likewise.labeling.asked_again import asked_keys, pairs_confirmed, settle_looks
from likewise.labeling.decided_groups import pairs_that_hold
from likewise.labeling.doubtful_joins import contradicts_itself
from likewise.labeling.events import Event, counted
from likewise.labeling.knowledge import Knowledge, learn_quickly, with_likely_groups
from likewise.labeling.likely_groups import LikelyGroups, draw_groups
from likewise.labeling.machine_answers import JoinedBelief, join_machines, looks_from
from likewise.labeling.questions import CANT_TELL, TOGETHER
from likewise.labeling.rows_in_mind import RowsInMind, choose_rows
from likewise.labeling.settled_groups import (
    Settled,
    links_of_groups,
    not_outvoted,
    settle_groups,
)
from likewise.labeling.start_labels import StartLabels

ROWS_IN_MIND = 10_000  # rows thought about; with more, a sample
DRAWN_ANEW_AT = (40, 160, 640, 2560)  # answers of people; each draw is a new graph
LEAST_HEARD = 10  # pairs from which errors are believed in
MANY_ERRORS = 0.04  # share of wrong answers to pairs from which groups are the likeliest ones
SURE = 0.95  # chance from which a model takes a row's group from a machine
OUTVOTES = 1000.0  # weight of what most looks at the row that began a group say


class GroupsSoFar:
    """Groups and memberships by the events so far.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    start : StartLabels or None
        Clusters that the session began from.
    preparation : str
        Of the rows, as in `GuidedClustering`.
    seed : int
    machines : sequence of str, default=()
        Annotators that are machines: groups follow from people's answers alone.
    """

    def __init__(
        self,
        X,
        start: StartLabels | None,
        *,
        preparation: str,
        seed: int,
        machines: Sequence[str] = (),
    ):
        self.X, self.start, self.preparation, self.seed = X, start, preparation, seed
        self.machines = tuple(machines)
        self.n_samples = X.shape[0]
        self._mind: RowsInMind | None = None
        self._touched = np.empty(0, dtype=np.int64) if start is None else start.typical
        self._n_seen = 0  # events whose rows are among these
        self._n_draws = 0
        self._drawn: np.ndarray | None = None  # half of the rows, where it was drawn anew
        self._knowledge: Knowledge | None = None
        self._belief: JoinedBelief | None = None

    def forget(self, annotator: str) -> None:
        """After somebody said something: what was known is found anew when it is needed."""
        self._belief = None
        if annotator not in self.machines:
            self._knowledge = None

    def said_by_people(self, events: Sequence[Event]) -> Sequence[Event]:
        """All events but those of machines."""
        if not self.machines:
            return events
        return [event for event in events if event.annotator not in self.machines]

    def rows_in_mind(self, events: Sequence[Event]) -> RowsInMind:
        """The rows thought about, again where an event is about a row that was not."""
        if self.n_samples > ROWS_IN_MIND:
            self._draw_where_due(events)
        questions = [e.question for e in events[self._n_seen :] if e.question is not None]
        self._n_seen = len(events)
        if questions:
            new = [row for question in questions for row in question.all_rows]
            self._touched = np.union1d(self._touched, new).astype(np.int64)
        if self._mind is None or (self._mind.position[self._touched] < 0).any():
            rows = choose_rows(self.n_samples, ROWS_IN_MIND, self._touched, self.seed)
            uniform = None
            if self._drawn is not None:
                n_uniform = ROWS_IN_MIND - len(self._drawn)
                nothing = np.empty(0, dtype=np.int64)
                uniform = choose_rows(self.n_samples, n_uniform, nothing, self.seed)
                rows = np.union1d(uniform, np.union1d(self._drawn, self._touched))
            self._mind = RowsInMind(
                self.X, rows, preparation=self.preparation, seed=self.seed, uniform=uniform
            )
        return self._mind

    def _draw_where_due(self, events: Sequence[Event]) -> None:
        """Draw half of the rows anew after some answers, by these alone: a log opened again does
        as the session did."""
        if self._n_draws == len(DRAWN_ANEW_AT):
            return
        by_people = [
            i
            for i, event in enumerate(events)
            if event.kind == "answer" and event.annotator not in self.machines
        ]
        while self._n_draws < len(DRAWN_ANEW_AT):
            due = DRAWN_ANEW_AT[self._n_draws]
            if len(by_people) < due:
                return
            self._n_draws += 1
            self._knowledge = self._belief = None
            until_then = events[: by_people[due - 1] + 1]
            memberships = self._memberships_in_mind(until_then)
            if memberships is not None:
                mind = self.rows_in_mind(until_then)
                self._drawn = mind.draw_telling(memberships, ROWS_IN_MIND // 2, self._n_draws)
                self._mind = None
            self._knowledge = self._belief = None

    def knowledge(self, events: Sequence[Event]) -> Knowledge:
        """What the answers say about the rows thought about, by position among them."""
        mind = self.rows_in_mind(events)
        if self._knowledge is not None:
            return self._knowledge
        said = self.said_by_people(events)
        looks = settle_looks(counted(said), self.n_samples)
        answers = pairs_that_hold(looks.events, self.n_samples)
        if looks.left_open:
            is_open = np.isin(answers.signed_pairs()[0], list(looks.left_open)).any(axis=1)
            answers = answers.subset(~is_open)
        if looks.joined:
            weights = np.full(len(looks.joined), OUTVOTES)
            answers += Constraints(self.n_samples, must_link=looks.joined, weights=weights)
        answers = answers.restrict(mind.rows)
        if self.start is not None:
            answers = answers + self.start.links(mind)
        asked = mind.keys_at(asked_keys(said))
        knowledge = learn_quickly(mind.Z, mind.S, answers, asked=asked, walks=mind.walks)
        n_again, n_changed = pairs_confirmed(counted(said))
        if self.start is None and contradicts_itself(answers):
            likely = self._likely(looks.events, mind)
        else:
            likely = None
        if likely is not None:
            knowledge = with_likely_groups(knowledge, likely)
        self._knowledge = knowledge._replace(
            settled_rows=frozenset(mind.position[list(looks.settled)].tolist()),
            founders=tuple(founder.at(mind.position) for founder in looks.founders),
            is_uniform=mind.is_uniform,
            n_reviews=looks.n_again + n_again,
            n_changed=looks.n_changed + n_changed,
        )
        return self._knowledge

    def _likely(self, events: Sequence[Event], mind: RowsInMind) -> LikelyGroups | None:
        """Likely groups, where all answers are about pairs and enough of them are wrong."""
        looks = [(e.question.rows, e.choice) for e in events if e.question is not None]
        is_all_pairs = all(e.question is not None and e.question.kind == "pair" for e in events)
        heard = [(rows, choice) for rows, choice in looks if choice != CANT_TELL]
        if not is_all_pairs or len(heard) < LEAST_HEARD:
            return None
        rows = list(dict.fromkeys(row for pair, _ in heard for row in pair[::-1]))
        pairs = [
            (*mind.position[list(pair)].tolist(), 1.0 if choice == TOGETHER else -1.0)
            for pair, choice in heard
        ]
        likely = draw_groups(mind.walks, pairs, mind.position[rows], self.seed)
        return likely if likely.error_rate >= MANY_ERRORS else None

    def settled(self, events: Sequence[Event]) -> Settled:
        """Groups that are all apart, and how sure that is."""
        return settle_groups(self.knowledge(events))

    def belief(self, events: Sequence[Event]) -> JoinedBelief:
        """What people, the graph and machines say together about the rows thought about."""
        if self._belief is None:
            position = self.rows_in_mind(events).position
            looks = {
                name: looks_from([e for e in events if e.annotator == name], position)
                for name in self.machines
            }
            self._belief = join_machines(self.knowledge(events), self.settled(events), looks)
        return self._belief

    def memberships(self, events: Sequence[Event]) -> np.ndarray | None:
        """(n_samples, k) memberships in the groups; None before two of them are known."""
        memberships = self._memberships_in_mind(events)
        if memberships is None:
            return None
        return self.rows_in_mind(events).spread_to_all(memberships)

    def labels(self, events: Sequence[Event]) -> np.ndarray | None:
        """(n_samples,) the group with the largest membership; None before two are known."""
        memberships = self._memberships_in_mind(events)
        if memberships is None:
            return None
        return self.rows_in_mind(events).largest_of_all(memberships)

    def _memberships_in_mind(self, events: Sequence[Event]) -> np.ndarray | None:
        settled = self.settled(events)
        if settled.n_groups < 2:
            return None
        mind, memberships = self.rows_in_mind(events), settled.memberships
        if self.start is not None:
            memberships = self.start.weigh(settled, self.knowledge(events), mind)
        elif self.machines:
            memberships = self.belief(events).memberships
        return memberships

    def links(self, events: Sequence[Event], constraints: Constraints) -> Constraints:
        """What a model learns from: the groups that all answers together make."""
        settled, rows = self.settled(events), self.rows_in_mind(events).rows
        groups = np.full(self.n_samples, -1)
        if settled.n_groups < 2 or self.start is not None:
            groups[rows] = self.knowledge(events).groups
            return not_outvoted(constraints, groups)
        groups[rows] = settled.groups
        if self.machines:
            memberships = self.belief(events).memberships
            is_sure = memberships.max(axis=1) >= SURE
            groups[rows[is_sure]] = memberships[is_sure].argmax(axis=1)
        return links_of_groups(constraints, groups)
