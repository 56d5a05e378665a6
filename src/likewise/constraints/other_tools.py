"""Answers that people gave to other tools: dedupe's training file and splink's table of labels.

dedupe  JSON with the lists ``match`` and ``distinct``; each entry is two whole records, so rows are
        recognized by their content
splink  a table with ``unique_id_l``, ``unique_id_r`` and ``clerical_match_score``, the chance
        of a match that a person gave: 1 and 0 are sure; the weight is twice the distance from 1/2
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from likewise.constraints import io
from likewise.constraints.constraints import Constraints
from likewise.files.cell_values import id_text, is_missing
from likewise.files.problem_list import as_sentence

SPLINK_COLUMNS = ("unique_id_l", "unique_id_r", "clerical_match_score")


def read_dedupe_training(training, records) -> Constraints:
    """Read dedupe's training pairs: matches as must-links, distinct records as cannot-links.

    Parameters
    ----------
    training : path or dict
        The file that dedupe's ``write_training`` wrote, or what it holds.
    records : list of dicts or dataframe
        The rows of X, with the fields that dedupe saw. A row is recognized by these; of rows that
        are the same in all of them the first is taken.

    Returns
    -------
    Constraints

    Examples
    --------
    >>> from likewise.constraints import read_dedupe_training
    >>> records = [{"name": "Ann"}, {"name": "Anne"}, {"name": "Bob"}]
    >>> training = {"match": [[{"name": "Ann"}, {"name": "Anne"}]], "distinct": []}
    >>> read_dedupe_training(training, records).must_link
    array([[0, 1]])
    """
    source = "training"
    if isinstance(training, str | os.PathLike):
        source = Path(training).name
        try:
            training = json.loads(Path(training).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{source} is not JSON: {error}") from None
    if not isinstance(training, Mapping) or not {"match", "distinct"} & set(training):
        raise ValueError(f"{source} has neither match nor distinct, as a training file of dedupe.")
    if hasattr(records, "columns"):
        columns, _ = io.read_frame(records)
        names = list(columns)
        records = [dict(zip(names, cells)) for cells in zip(*columns.values())]
    by_fields: dict[tuple[str, ...], dict[str, int]] = {}

    def row_of(record: Mapping) -> int | None:
        fields = tuple(sorted(record))
        if fields not in by_fields:
            rows: dict[str, int] = {}
            for row, known in enumerate(records):
                rows.setdefault(_content(known, fields), row)
            by_fields[fields] = rows
        return by_fields[fields].get(_content(record, fields))

    links: dict[str, list[tuple[int, ...]]] = {"match": [], "distinct": []}
    problems = []
    for kind, pairs in links.items():
        for i, entry in enumerate(training.get(kind, [])):
            two = _plain_value(entry)
            if len(two) != 2 or not all(isinstance(record, Mapping) for record in two):
                problems.append(f"{source}: {kind}[{i}] is not two records")
                continue
            rows = [row_of(record) for record in two]
            for record, row in zip(two, rows):
                if row is None:
                    problems.append(f"{source}: {kind}[{i}] has {dict(record)!r}, no row of X")
            if None not in rows and rows[0] != rows[1]:
                pairs.append(tuple(row for row in rows if row is not None))
    if problems:
        raise ValueError(as_sentence(problems))
    return Constraints(len(records), must_link=links["match"], cannot_link=links["distinct"])


def read_splink_labels(labels, ids, *, sources=None) -> Constraints:
    """Read a table of splink's clerical labels: pairs, weighted by how sure each one is.

    Parameters
    ----------
    labels : dataframe or path
        Columns ``unique_id_l``, ``unique_id_r``, ``clerical_match_score``, and where rows come from
        several tables ``source_dataset_l`` and ``source_dataset_r``; others are not used.
    ids : array-like of shape (n_samples,)
        The unique id of each row of X.
    sources : array-like of shape (n_samples,), default=None
        The table of each row of X, where ids repeat between tables.

    Returns
    -------
    Constraints
        Scores above 1/2 are must-links, those below cannot-links, 1/2 is an undecided pair.

    Examples
    --------
    >>> import pandas as pd
    >>> from likewise.constraints import read_splink_labels
    >>> labels = pd.DataFrame(
    ...     {"unique_id_l": [1, 1], "unique_id_r": [2, 3], "clerical_match_score": [0.9, 0.0]}
    ... )
    >>> answers = read_splink_labels(labels, ids=[1, 2, 3])
    >>> answers, answers.weights
    (<Constraints on 3 rows: 1 must_link, 1 cannot_link>, array([0.8, 1. ]))
    """
    is_path = isinstance(labels, str | os.PathLike)
    columns, place = io.read_columns(labels) if is_path else io.read_frame(labels)
    missing = [name for name in SPLINK_COLUMNS if name not in columns]
    if missing:
        raise ValueError(f"The labels lack {', '.join(missing)}, which splink's tables have.")
    names = _keys(ids, sources)
    row_of = {key: row for row, key in enumerate(names)}
    if len(row_of) < len(names):
        raise ValueError("ids are not unique. Pass sources= with the table of each row.")
    sides = []
    for side in "lr":
        tables = None if sources is None else columns.get(f"source_dataset_{side}")
        if sources is not None and tables is None:
            raise ValueError(f"The labels lack source_dataset_{side}. Leave sources out.")
        sides.append(_keys(columns[f"unique_id_{side}"], tables))
    kinds: dict[str, list] = {"must_link": [], "cannot_link": [], "undecided_pair": []}
    weights: dict[str, list[float]] = {kind: [] for kind in kinds}
    problems = []
    for i, (left, right, cell) in enumerate(zip(*sides, columns["clerical_match_score"])):
        for key in (left, right):
            if key not in row_of:
                problems.append(f"{place(i)}: {' of '.join(key)} is not one of the ids")
        score = np.nan if is_missing(cell) else float(cell)
        if not 0 <= score <= 1:
            problems.append(f"{place(i)}: clerical_match_score is {cell!r}, not between 0 and 1")
        if problems:
            continue
        kind = "must_link" if score > 0.5 else "cannot_link" if score < 0.5 else "undecided_pair"
        kinds[kind].append((row_of[left], row_of[right]))
        weights[kind].append(abs(2 * score - 1))
    if problems:
        raise ValueError(as_sentence(problems))
    return Constraints(len(names), **kinds, weights=[w for kind in kinds for w in weights[kind]])


def _keys(ids: Iterable, sources: Iterable | None) -> list[tuple[str, ...]]:
    if sources is None:
        return [(id_text(name),) for name in ids]
    return [(id_text(name), id_text(source)) for name, source in zip(ids, sources)]


def _plain_value(value: Any) -> Any:
    """What dedupe's JSON holds: tuples and sets are written as objects of two entries."""
    if isinstance(value, Mapping) and set(value) == {"__class__", "__value__"}:
        return value["__value__"]
    return value


def _content(record: Mapping, fields: tuple[str, ...]) -> str:
    """The fields of a record as text, empty cells alike."""
    cells = {}
    for name in fields:
        cell = _plain_value(record.get(name))
        if isinstance(cell, list | tuple | set | frozenset):
            cell = sorted(map(str, cell))
        cells[name] = None if not isinstance(cell, list) and is_missing(cell) else cell
    return json.dumps(cells, sort_keys=True, default=str)
