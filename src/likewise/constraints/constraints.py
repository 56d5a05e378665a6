"""Constraints: all answers of people about the rows of X, in one frozen table.

One answer is a kind and the rows it refers to:

    must_link    (a, b)       these two belong together
    cannot_link  (a, b)       these two do not
    odd_one_out  (a, b, odd)  d(a, b) < d(a, odd) and d(a, b) < d(b, odd)
    closer       (a, b, c)    d(a, b) < d(a, c), and no more than that
    undecided    (a, b, c)    asked, and "can't tell": roughly equidistant
    undecided_pair  (a, b)    asked, and "can't tell" whether they belong together: nothing learns
                              from it, but it says something about people and rows

Answers keep the order they came in, repeats included: they are votes. The table knows how many rows
X has and nothing else about it. Beside the answers there may be exclusive groups, rules about
clusters (exclusive_groups.py). It has no length, shape or array form on purpose: scikit-learn's
cross-validation would slice such a thing by rows (docs/decisions/0001).
"""

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from likewise.constraints import (
    answer_cells,
    answer_words,
    exclusive_groups,
    io,
    label_draws,
    labels,
    splitting,
    table_checks,
)
from likewise.constraints import table as tables
from likewise.constraints.answer_arrays import AnswerArrays
from likewise.constraints.closure import Closure, close
from likewise.constraints.conflicts import Conflicts
from likewise.constraints.splitting import Split
from likewise.constraints.table import KINDS, AnswerTable
from likewise.files.html_table import html_table


class Constraints(AnswerArrays):
    """Store people's answers about the rows of X.

    Immutable, also after pickle and copy, and equal by content.

    Parameters
    ----------
    n_samples : int, default=None
        Number of rows of X. Optional when ``ids`` is given.
    must_link, cannot_link : array-like of shape (n, 2), default=None
        Pairs of rows that belong together, or do not: row numbers, or ids as text where ``ids`` is
        given.
    odd_one_out : array-like of shape (n, 3), default=None
        ``(a, b, odd)``: of the three, the last is the odd one out.
    closer : array-like of shape (n, 3), default=None
        ``(a, b, c)``: b is closer to a than c is.
    undecided : array-like of shape (n, 3), default=None
        The question was which is the odd one out, and the answer "can't tell".
    undecided_pair : array-like of shape (n, 2), default=None
        The question was whether two rows belong together, and the answer "can't tell". Nothing is
        learned from it.
    weights : array-like of shape (n_answers,), default=None
        How much each answer counts, 1 when not given, in the order of ``answers()``: the order of
        the six parameters above. Each is 0 or between 1e-30 and 1e30.
    annotators : array-like of shape (n_answers,), default=None
        Who gave each answer; "" where unknown.
    asked_at : array-like of shape (n_answers,), default=None
        When, as datetimes or ISO 8601 text; kept in UTC.
    screens : array-like of shape (n_answers,), default=None
        A name for the look that each answer came from, "" where unknown. Answers of one look are
        not independent: ``split`` keeps them together.
    seconds : array-like of shape (n_answers,), default=None
        How long that look took; NaN where unknown.
    exclusive : list of lists of rows, default=None
        Groups of rows no two of which may be in one cluster, such as the records of one source:
        rules about clusters and no answers. Clusterers that cannot keep them say so.
    ids : array-like of shape (n_samples,), default=None
        A name for each row, used in files, frames and messages, and to name rows in answers.

    Examples
    --------
    >>> from likewise import Constraints
    >>> c = Constraints(6, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 5)], closer=[(0, 1, 4)])
    >>> c
    <Constraints on 6 rows: 2 must_link, 1 cannot_link, 1 closer>
    >>> c.closure().known([(0, 2), (0, 5), (3, 4)])
    array([ 1, -1,  0], dtype=int8)
    >>> clash = c + Constraints(6, cannot_link=[(0, 2)])
    >>> print(clash.conflicts()[0])
    cannot_link[1] = (0, 2) contradicts the must-link path 0-1-2.
    """

    __slots__ = ("_conflicts", "_table", "exclusive", "ids", "n_samples")
    __hash__ = None  # type: ignore[assignment]

    n_samples: int
    ids: np.ndarray | None
    exclusive: tuple[np.ndarray, ...]  # row numbers, ascending; each group once
    _table: AnswerTable
    _conflicts: Conflicts | None  # found when asked for, once: all else is frozen

    def __init__(
        self,
        n_samples: int | None = None,
        *,
        must_link=None,
        cannot_link=None,
        odd_one_out=None,
        closer=None,
        undecided=None,
        undecided_pair=None,
        weights=None,
        annotators=None,
        asked_at=None,
        screens=None,
        seconds=None,
        exclusive=None,
        ids=None,
    ):
        ids = table_checks.check_ids(ids, None)
        n_samples = table_checks.check_n_samples(n_samples, ids)
        links, triples = (must_link, cannot_link), (odd_one_out, closer, undecided)
        by_kind = dict(zip(KINDS, (*links, *triples, undecided_pair)))
        table = table_checks.from_arrays(
            by_kind,
            n_samples,
            ids,
            weights=weights,
            annotators=annotators,
            asked_at=asked_at,
            screens=screens,
            seconds=seconds,
        )
        groups = exclusive_groups.check_groups(exclusive, n_samples, ids)
        self._freeze(n_samples, table, ids, groups)

    def _freeze(
        self,
        n_samples: int,
        table: AnswerTable,
        ids: np.ndarray | None,
        exclusive: exclusive_groups.Groups,
    ) -> None:
        for array in (*table, ids):
            if array is not None:
                array.flags.writeable = False
        slots = {"n_samples": n_samples, "_table": table, "ids": ids, "exclusive": exclusive}
        for slot, value in slots.items():
            object.__setattr__(self, slot, value)
        object.__setattr__(self, "_conflicts", None)

    @classmethod
    def _of(
        cls,
        n_samples: int,
        table: AnswerTable,
        ids: np.ndarray | None,
        exclusive: exclusive_groups.Groups = (),
    ) -> "Constraints":
        """A table already checked, without checking it again."""
        constraints = cls.__new__(cls)
        constraints._freeze(n_samples, table, ids, exclusive)
        return constraints

    def __setattr__(self, name, value):
        raise AttributeError(f"Constraints are frozen: {name} cannot be set. Create new ones.")

    def __delattr__(self, name):
        raise AttributeError(f"Constraints are frozen: {name} cannot be deleted.")

    def __reduce__(self):
        return _rebuild, (self.n_samples, tuple(self._table), self.ids, self.exclusive)

    def __eq__(self, other):
        if not isinstance(other, Constraints):
            return NotImplemented
        pairs = zip((*self._table, self.ids), (*other._table, other.ids))
        return (
            self.n_samples == other.n_samples
            and all(tables.equal_arrays(a, b) for a, b in pairs)
            and exclusive_groups.equal_groups(self.exclusive, other.exclusive)
        )

    def __repr__(self) -> str:
        counts = np.bincount(self._table.codes, minlength=len(KINDS))
        described = ", ".join(f"{count} {kind}" for kind, count in zip(KINDS, counts) if count)
        if self.exclusive:
            n_groups = f"{len(self.exclusive)} exclusive group{'s'[: len(self.exclusive) > 1]}"
            described = f"{described}, {n_groups}" if described else n_groups
        return f"<Constraints on {self.n_samples} rows: {described or 'no answers'}>"

    def _repr_html_(self) -> str:
        """A table for notebooks: how many answers of each kind."""
        counts = np.bincount(self._table.codes, minlength=len(KINDS))
        rows = [(kind, int(count)) for kind, count in zip(KINDS, counts) if count]
        rows += [("exclusive groups", len(self.exclusive))] if self.exclusive else []
        title = f"{self.n_answers} answers about {self.n_samples} rows"
        return html_table(title, rows, ("kind", "answers"))

    def __add__(self, other: "Constraints") -> "Constraints":
        """All answers of both, repeats kept: they are votes."""
        if not isinstance(other, Constraints):
            return NotImplemented
        if self.n_samples != other.n_samples:
            raise ValueError(
                f"Constraints on {self.n_samples} and on {other.n_samples} rows cannot be added. "
                "Use with_rows() on the smaller one first."
            )
        if (
            self.ids is not None
            and other.ids is not None
            and not tables.equal_arrays(self.ids, other.ids)
        ):
            raise ValueError("Constraints whose rows have different ids cannot be added.")
        table = tables.concatenate(self._table, other._table)
        ids = self.ids if self.ids is not None else other.ids
        groups = exclusive_groups.in_order((*self.exclusive, *other.exclusive))
        return self._of(self.n_samples, table, ids, groups)

    # What the answers imply

    def closure(self) -> Closure:
        """What the pairs imply, as components and cannot-links between components."""
        return close(self.must_link, self.cannot_link, self.n_samples, self.exclusive)

    def conflicts(self) -> Conflicts:
        """Every contradiction, each with the answers that prove it. Never raises."""
        found = self._conflicts
        if found is None:
            found = Conflicts(self, self.closure())
            object.__setattr__(self, "_conflicts", found)
        return found

    # Subsets

    def subset(self, mask) -> "Constraints":
        """The answers that a mask or an array of positions picks, in that order.

        Exclusive groups are no answers: all of them stay.
        """
        picked = table_checks.as_picked("mask", mask, self.n_answers, "answers")
        table = tables.take(self._table, picked)
        return self._of(self.n_samples, table, self.ids, self.exclusive)

    def restrict(self, rows) -> "Constraints":
        """The answers about these rows alone, a mask or row numbers, renumbered to X[rows]."""
        rows = table_checks.as_picked("rows", rows, self.n_samples, "rows")
        table = tables.renumber(self._table, rows)
        groups = exclusive_groups.renumber_groups(self.exclusive, rows)
        return self._of(len(rows), table, None if self.ids is None else self.ids[rows], groups)

    def with_rows(self, n_samples: int, ids=None) -> "Constraints":
        """The same answers about a longer X, whose first rows are those of this one."""
        n_samples = table_checks.check_n_samples(n_samples, None)
        if n_samples < self.n_samples:
            raise ValueError(
                f"with_rows({n_samples}) is fewer than {self.n_samples}. Use restrict()."
            )
        new_ids = table_checks.extend_ids(self.ids, ids, self.n_samples, n_samples)
        return self._of(n_samples, self._table, new_ids, self.exclusive)

    def with_exclusive(self, groups) -> "Constraints":
        """The same answers, with these exclusive groups instead of those there are."""
        groups = exclusive_groups.check_groups(groups, self.n_samples, self.ids)
        return self._of(self.n_samples, self._table, self.ids, groups)

    def split(self, train_share: float = 0.8, *, random_state=None) -> Split:
        """Answers to fit, and answers to judge by that the first do not imply.

        Repeats of a question, whatever the answers, and answers from one screen stay on one side.
        Held-out answers that follow
        from the pairs of the fit part are dropped and counted.

        Parameters
        ----------
        train_share : float, default=0.8
            Share of the questions that goes to the fit part.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        Split
            Unpacks as ``fit_part, held_out``.
        """
        return splitting.split_once(self, train_share, random_state)

    def folds(self, n_splits: int, *, random_state=None) -> Iterator[Split]:
        """``n_splits`` splits; each question is held out in one of them."""
        return splitting.deal_questions(self, n_splits, random_state)

    def row_folds(self, n_splits: int, *, random_state=None) -> Iterator[Split]:
        """``n_splits`` splits by rows: answers about one part of them, and about none of that part.

        Held-out answers refer to rows that the fit part has never seen. Answers about rows of both
        kinds are in neither, so it takes many answers: of pairs one in ``n_splits`` is held out.
        """
        return splitting.deal_rows(self, self._table.points, n_splits, random_state)

    def questions(self) -> np.ndarray:
        """(n_answers,) the question that each answer belongs to: its rows, in any order.

        Answers from one screen are one question too.
        """
        return splitting.number_questions(self._table.points, self._table.screens)

    def implied_by(self, closure: Closure) -> np.ndarray:
        """(n_answers,) which answers the pairs of another set imply.

        A triple is implied when the rows it calls close are known to be together and the others
        apart. Chains of triples are not followed: people's answers always contain some
        contradictions, and from a contradiction everything follows.
        """
        return splitting.which_follow(self, closure)

    # Labels, tables and files

    @classmethod
    def from_labels(
        cls,
        y,
        *,
        n_must_link: int | None = None,
        n_cannot_link: int | None = None,
        n_odd_one_out: int | None = None,
        n_closer: int | None = None,
        n_undecided: int | None = None,
        n_pairs: int | None = None,
        noise: float = 0.0,
        random_state=None,
    ) -> "Constraints":
        """Draw the answers that someone who knows the labels would give.

        Distinct answers of each kind, drawn uniformly; ``n_pairs`` pairs are drawn whatever their
        classes and become must-links or cannot-links as the labels say.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            A class for every row: numbers, text or categories. A row that is unlabeled (-1, NaN,
            None, pd.NA, NaT or "") is an error; ``from_partial_labels`` takes those.
        n_must_link, n_cannot_link, n_odd_one_out, n_closer, n_undecided, n_pairs : int
            How many answers of each kind, none by default; at least one of them must be given.
        noise : float, default=0.0
            Share of the answers that are made wrong: links swap kind, another row becomes the odd
            one, "closer" swaps its last two, "undecided" becomes an odd one out. The same seed
            without noise gives the same answers in the same places, all right.
        random_state : int, RandomState or None, default=None

        Examples
        --------
        >>> from likewise import Constraints
        >>> Constraints.from_labels([0, 0, 0, 1, 1], n_must_link=2, n_odd_one_out=3, random_state=0)
        <Constraints on 5 rows: 2 must_link, 3 odd_one_out>
        """
        counts = (n_must_link, n_cannot_link, n_odd_one_out, n_closer, n_undecided, n_pairs)
        classes = labels.check_all_labelled(y)
        table = label_draws.draw_answers(classes, counts, noise, random_state)
        return cls._of(len(classes), table, None)

    @classmethod
    def from_partial_labels(cls, y) -> "Constraints":
        """Must-links and cannot-links that some labels imply.

        As few as say it all: a chain of must-links through each class, and one cannot-link between
        each two classes. ``closure()`` has the rest.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The class of each row: numbers, text or categories. -1, NaN, None, pd.NA, NaT and ""
            all mean unlabeled.

        Examples
        --------
        >>> from likewise import Constraints
        >>> Constraints.from_partial_labels(["red", None, "blue", "red", float("nan")])
        <Constraints on 5 rows: 1 must_link, 1 cannot_link>
        """
        classes = labels.class_codes(y)
        labelled = np.flatnonzero(classes != labels.UNLABELLED)
        must_link, cannot_link = label_draws.link_labelled(classes, labelled)
        return cls(len(classes), must_link=must_link, cannot_link=cannot_link)

    @classmethod
    def from_frame(cls, frame, *, n_samples: int | None = None, ids=None) -> "Constraints":
        """Read answers from a pandas, polars or pyarrow table (columns as in files).

        Parameters
        ----------
        frame : dataframe
            Columns kind, a, b, and where needed c, weight, annotator, asked_at, screen, seconds;
            others are not used. Kinds are also written "must-link", "same", "together",
            "different", "apart" and so on. Or labels of some rows: columns id (or row) and label.
        n_samples : int, default=None
            Rows of X; a, b, c are then row numbers unless ``ids`` is given too.
        ids : array-like of shape (n_samples,), default=None
            The name of each row of X; a, b, c are then names.
        """
        columns, place = io.read_frame(frame)
        return cls._from_columns(columns, place, "The frame", n_samples, ids)

    def to_frame(self, backend: io.Backend = "pandas"):
        """The answers as a dataframe; ``backend`` is "pandas", "polars" or "pyarrow"."""
        return io.write_frame(self._columns(), backend)

    @classmethod
    def read(cls, path, *, n_samples: int | None = None, ids=None) -> "Constraints":
        """Read an answer file: .csv, .jsonl or .parquet (with the extra ``io``).

        Malformed lines are one error with their numbers, and then nothing is read. Columns and
        parameters as in ``from_frame``.
        """
        columns, place = io.read_columns(path)
        return cls._from_columns(columns, place, Path(path).name, n_samples, ids)

    def write(self, path) -> None:
        """Write an answer file, by id when the rows have ids; its extension gives the format."""
        io.write_columns(self._columns(), path)

    def _columns(self) -> dict[str, list]:
        columns = tables.to_columns(self._table, self.ids)
        return exclusive_groups.add_lines(columns, self.exclusive, self.ids)

    @classmethod
    def _from_columns(cls, columns, place, source, n_samples, ids) -> "Constraints":
        ids = table_checks.check_ids(ids, None)
        n_samples = table_checks.check_n_samples(n_samples, ids)
        columns = answer_words.standard_columns(columns)
        if names := answer_words.label_columns(columns):
            y = answer_cells.read_labels(columns, names, n_samples, ids, place)
            return cls._of(n_samples, cls.from_partial_labels(y)._table, ids)
        extra = answer_words.extra_columns(columns, source)
        if extra:
            columns = {name: cells for name, cells in columns.items() if name not in extra}
            warnings.warn(
                f"{source}: not used for answers: {', '.join(extra)}.",
                UserWarning,
                stacklevel=3,
            )
        columns, place, groups = exclusive_groups.take_lines(columns, n_samples, ids, place)
        table = answer_cells.from_columns(columns, n_samples, ids, place)
        return cls._of(n_samples, table, ids, groups)


def _rebuild(n_samples, columns, ids, exclusive=()) -> Constraints:
    for rows in exclusive:
        rows.flags.writeable = False
    return Constraints._of(n_samples, AnswerTable(*columns), ids, tuple(exclusive))
