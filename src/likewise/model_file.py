"""Save a fitted estimator to one file, and load it again without running any code from it.

A file holds what an estimator is: the name of its class, its parameters and its fitted attributes,
and the same for estimators inside it. Arrays go into a tensor file (`files.tensor_file`),
everything else into its JSON document, as plain values or as a node `{"kind": ..., ...}`:

    estimator   one of ESTIMATORS, by name, with `params` and `state`
    record      one of RECORDS (small frozen types of the package), with its `fields`
    function    one of FUNCTIONS (the package's own kernels), with the `settings` bound to it
    dtype       of an array: a number type, by name
    constraints, array, fortran, strings, objects, masked, scalar, csr, tuple, dict, range, float

Classes and functions are looked up in the three tables of saved_types.py and nowhere else. There is
no pickle: the worst a forged file can do is to be a wrong model. A parameter that names a file or a
folder (PATHS) is not kept: a later `fit` would read what a stranger chose, and joblib's `memory`
runs it.
"""

import dataclasses
import importlib
import inspect
import math
import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from likewise import __version__
from likewise.constraints import Constraints
from likewise.files.tensor_file import ModelFileError, printable, read_tensors, write_tensors
from likewise.saved_types import ESTIMATORS, FUNCTIONS, PATHS, RECORDS

__all__ = ["ModelFileError", "feature_names_of", "id_column_of", "load_model", "save_model"]

FORMAT = 2  # raised when an older likewise could not read what this one writes
READABLE = (2,)  # 1: fitted learners had other attributes in place of `map_`

NUMBER_TYPES = ("float64", "float32", "int64", "int32", "bool", "object")  # of arrays
MAX_KEYS = 1000  # of a dict that are not text: numbers can be chosen to collide, texts cannot

_NOT_STATE = "_metadata_request"  # how a pipeline routes arguments to fit: not part of the fit
# What a document can raise that is not one of ours, on its way to becoming an estimator.
_MISFITS = (
    *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError),
    *(RecursionError, MemoryError),
)
_CSR_PARTS = ("data", "indices", "indptr")
_KINDS_OF_ANSWERS = (
    *("must_link", "cannot_link", "odd_one_out", "closer", "undecided", "undecided_pair"),
)


def save_model(
    model: BaseEstimator,
    path: str | os.PathLike,
    *,
    feature_names: Sequence[str] | None = None,
    id_column: str | None = None,
) -> None:
    """Save an estimator, fitted or not, to one file.

    The file is replaced as a whole when it is complete; an error or Ctrl-C leaves the old one.

    Parameters
    ----------
    model : estimator
        Any estimator of likewise; also scikit-learn's KMeans, StandardScaler and Pipeline, alone
        or with ours inside.
    path : str or path
        The file to write, by custom `*.likewise`.
    feature_names : sequence of str, default=None
        The columns that the model was fitted to, so that `likewise apply` finds them by name. None
        takes what the model knows of them itself.
    id_column : str, default=None
        The column that named the rows, so that `likewise apply` names new rows by it too.

    Raises
    ------
    TypeError
        Something in the model is code, a random generator or the name of a file, which no model
        file holds: a callable `start=`, a `RandomState`, a Pipeline's `memory`, a `checkpoint`.
        The message names the attribute.

    See Also
    --------
    load_model : The way back.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.cluster import KMeans
    >>> from likewise.model_file import load_model, save_model
    >>> model = KMeans(2, random_state=0).fit([[0.0], [0.1], [5.0], [5.1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.likewise")
    ...     loaded = load_model(f"{folder}/model.likewise")
    >>> bool((loaded.predict([[0.2], [4.0]]) == model.predict([[0.2], [4.0]])).all())
    True
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"save_model saves estimators, not a {type(model).__name__}.")
    arrays: dict[str, Any] = {}
    node = _encode(model, type(model).__name__, arrays)
    names = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
    document = {
        "format": FORMAT,
        "likewise": __version__,
        "features": None if names is None else [str(name) for name in names],
        "id_column": None if id_column is None else str(id_column),
        "model": node,
    }
    write_tensors(path, {n: a for n, a in arrays.items() if isinstance(a, np.ndarray)}, document)


def load_model(path: str | os.PathLike) -> Any:
    """Load an estimator that `save_model` saved. Nothing in the file is run.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator
        With the same class, parameters and fitted attributes; its results are the same to the bit.

    Raises
    ------
    ModelFileError
        The file is missing, damaged, not a model, or of a version that cannot be read. One line
        says which, and what to do.

    See Also
    --------
    save_model : Writes the file.

    Examples
    --------
    >>> import tempfile
    >>> from likewise import ITML, load_model, save_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(ITML(C=2.0), f"{folder}/model.likewise")
    ...     load_model(f"{folder}/model.likewise")
    ITML(C=2.0)
    """
    arrays, document = read_tensors(path)
    if not isinstance(document, dict) or not isinstance(document.get("format"), int):
        raise ModelFileError(f"{path} has arrays, but no model. Name a file made by save_model.")
    written_by = f"likewise {printable(document.get('likewise'), 40)}"
    if document["format"] > FORMAT:
        raise ModelFileError(f"{path} was saved by {written_by}, which is newer. Upgrade likewise.")
    if document["format"] not in READABLE:
        raise ModelFileError(
            f"{path} was saved by {written_by} in format {printable(document['format'], 40)}, "
            f"which is no longer read. Fit the model again, or load it with {written_by}."
        )
    try:
        model = _decode(document["model"], arrays, {})
    except _MISFITS as error:
        reason = printable(error)
        raise ModelFileError(
            f"{path}, saved by {written_by}, does not fit this version ({reason}). "
            f"Fit the model again, or load it with {written_by}."
        ) from None
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(f"{path} has no estimator in it. Name a file made by save_model.")
    return model


def feature_names_of(path: str | os.PathLike) -> list[str] | None:
    """The names of the columns that a saved model was fitted to; None if it had none."""
    _, document = read_tensors(path)
    names = document.get("features") if isinstance(document, dict) else None
    is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return names if is_list else None


def id_column_of(path: str | os.PathLike) -> str | None:
    """The column that named the rows that a saved model was fitted to; None if it had none."""
    _, document = read_tensors(path)
    name = document.get("id_column") if isinstance(document, dict) else None
    return name if isinstance(name, str) else None


def _encode(value: Any, where: str, arrays: dict[str, Any]) -> Any:
    """The JSON node of a value; its arrays are put into `arrays` under names that begin `where`."""
    if isinstance(value, np.generic):
        return {"kind": "scalar", "array": _store(np.asarray(value), where, arrays)}
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"kind": "float", "text": repr(value)}
    if type(value) is list:
        return [_encode(item, f"{where}[{i}]", arrays) for i, item in enumerate(value)]
    if type(value) is tuple:
        return {"kind": "tuple", "items": _encode(list(value), where, arrays)}
    if type(value) is dict:
        if wrong := _what_is_wrong_with(value):
            raise TypeError(f"{where} {wrong}")
        return {
            "kind": "dict",
            "keys": [_encode(k, f"{where}.keys", arrays) for k in value],
            "values": [_encode(v, f"{where}[{k!r}]", arrays) for k, v in value.items()],
        }
    if type(value) is range:
        return {"kind": "range", "ends": [value.start, value.stop, value.step]}
    if isinstance(value, np.ma.MaskedArray):
        return {
            "kind": "masked",
            "data": _encode(value.data, f"{where}.data", arrays),
            "mask": _encode(np.ma.getmaskarray(value), f"{where}.mask", arrays),
        }
    if isinstance(value, np.ndarray):
        return _encode_array(value, where, arrays)
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.number)):
        return {"kind": "dtype", "name": np.dtype(value).name, "is_class": isinstance(value, type)}
    if sparse.issparse(value):
        return _encode_csr(value, where, arrays)
    if isinstance(value, Constraints):
        return _encode_constraints(value, where, arrays)
    return _encode_named(value, where, arrays)


def _encode_array(value, where, arrays):
    if value.dtype == object:
        if all(type(item) is str for item in value.flat):  # the names of columns, in scikit-learn
            return {"kind": "strings", "array": _store(value.astype(str), where, arrays)}
        items = _encode(list(value.flat), where, arrays)
        return {"kind": "objects", "items": items, "shape": list(value.shape)}
    if value.flags.f_contiguous and not value.flags.c_contiguous:
        # Kept as it lies in memory: sums over it then run in the same order, to the same bit.
        return {"kind": "fortran", "array": _store(value, where, arrays)}
    return {"kind": "array", "array": _store(value, where, arrays)}


def _encode_csr(value, where, arrays):
    if value.format != "csr":
        raise TypeError(f"{where} is a sparse {value.format} matrix. Convert it to CSR first.")
    name = _store(value, where, arrays)  # itself, so that it is known when met again
    return {
        "kind": "csr",
        "name": name,
        "is_matrix": sparse.isspmatrix(value),
        "shape": list(value.shape),
        **{part: _store(getattr(value, part), f"{name}.{part}", arrays) for part in _CSR_PARTS},
    }


def _encode_constraints(value, where, arrays):
    positions = np.concatenate([value.positions(kind) for kind in _KINDS_OF_ANSWERS])
    answers = {kind: getattr(value, kind) for kind in _KINDS_OF_ANSWERS}
    for column in ("weights", "annotators", "asked_at", "screens", "seconds"):
        given = getattr(value, column)
        answers[column] = None if given is None else given[positions]
    answers |= {"n_samples": value.n_samples, "ids": value.ids}
    return {
        "kind": "constraints",
        "said": _encode(answers, where, arrays),
        "order": _encode(np.argsort(positions), f"{where}.order", arrays),
    }


def _encode_named(value, where, arrays):
    """An estimator, a record or a function, if it is in its table."""

    def encode_all(values):
        return {key: _encode(item, f"{where}.{key}", arrays) for key, item in values.items()}

    if name := _name_in(ESTIMATORS, type(value)):
        params = value.get_params(deep=False)
        for path in PATHS:
            if params.get(path) is not None:
                raise TypeError(
                    f"{where}.{path} names a file or a folder, which no model file holds. "
                    f"Save the model after set_params({path}=None)."
                )
        state = {k: v for k, v in vars(value).items() if k not in params and k != _NOT_STATE}
        params, state = encode_all(params), encode_all(state)
        return {"kind": "estimator", "name": name, "params": params, "state": state}
    if name := _name_in(RECORDS, type(value)):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"kind": "record", "name": name, "fields": encode_all(fields)}
    function = value.func if isinstance(value, partial) and not value.args else value
    if name := _name_in(FUNCTIONS, function):
        settings = {} if function is value else value.keywords
        return {"kind": "function", "name": name, "settings": encode_all(settings)}
    raise TypeError(f"{where} {_why_not(value)}")


def _why_not(value) -> str:
    generators = (np.random.RandomState, np.random.Generator, np.random.BitGenerator)
    if isinstance(value, generators):
        return "is a random generator, which no model file holds. Use an int, and fit again."
    if isinstance(value, BaseEstimator):
        return (
            f"is {type(value).__module__}.{type(value).__qualname__}, which is not among the "
            f"estimators a model file may hold: {', '.join(ESTIMATORS)}."
        )
    if callable(value):
        return "is code, and a model file holds none. Use one of the named choices, and fit again."
    return f"is a {type(value).__name__}, which a model file cannot hold. Set it to a plain value."


def _store(value, where, arrays):
    """The name under which an array is kept: one name for one array, however often it is met."""
    for name, known in arrays.items():
        if known is value:
            return name
    while where in arrays:
        where += "'"
    arrays[where] = value
    return where


def _decode(node: Any, arrays: dict[str, np.ndarray], met: dict[str, Any]) -> Any:
    """The value of a node. What was one array when saved is one again, through `met`."""
    if isinstance(node, list):
        return [_decode(item, arrays, met) for item in node]
    if not isinstance(node, dict):
        return node
    match node["kind"]:
        case "estimator":
            return _decode_estimator(node, arrays, met)
        case "record":
            return _find(RECORDS, node["name"])(**_decode_all(node["fields"], arrays, met))
        case "function":
            function = _find(FUNCTIONS, node["name"])
            settings = _decode_all(node["settings"], arrays, met)
            return partial(function, **settings) if settings else function
        case "constraints":
            answers = _decode(node["said"], arrays, met)
            return Constraints(**answers).subset(_decode(node["order"], arrays, met))
        case "array":
            return arrays[node["array"]]
        case "fortran":
            if node["array"] not in met:
                met[node["array"]] = np.asfortranarray(arrays[node["array"]])
            return met[node["array"]]
        case "csr":
            if node["name"] not in met:
                met[node["name"]] = _decode_csr(node, arrays)
            return met[node["name"]]
        case "strings":
            return arrays[node["array"]].astype(object)
        case "objects":
            objects = np.empty(len(node["items"]), dtype=object)
            for i, item in enumerate(node["items"]):  # one by one: numpy would unpack lists
                objects[i] = _decode(item, arrays, met)
            return objects.reshape(node["shape"])
        case "masked":
            data, mask = (_decode(node[part], arrays, met) for part in ("data", "mask"))
            if (mask.dtype, mask.shape) != (np.bool_, data.shape):
                raise ValueError(f"a mask of type {mask.dtype} and shape {mask.shape}")
            return np.ma.MaskedArray(data, mask=mask)
        case "scalar":
            return arrays[node["array"]][()]
        case "tuple":
            return tuple(_decode(node["items"], arrays, met))
        case "dict":
            keys, values = (_decode(node[part], arrays, met) for part in ("keys", "values"))
            if wrong := _what_is_wrong_with(keys):
                raise ValueError(f"a dict that {wrong}")
            return dict(zip(keys, values, strict=True))
        case "dtype":
            if node["name"] not in NUMBER_TYPES:
                raise ValueError(f"an array type {node['name']!r}")
            dtype = np.dtype(node["name"])
            return dtype.type if node["is_class"] else dtype
        case "range":
            return range(*node["ends"])
        case "float":
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[node["text"]]
    raise ValueError(f"a value of kind {node['kind']!r}")


def _decode_all(nodes, arrays, met):
    return {key: _decode(node, arrays, met) for key, node in nodes.items()}


def _decode_estimator(node, arrays, met):
    cls = _find(ESTIMATORS, node["name"])
    params = _decode_all(node["params"], arrays, met)
    for unknown in params.keys() - inspect.signature(cls).parameters.keys():
        raise ValueError(f"{node['name']} has no parameter {unknown!r}")
    for path in PATHS:
        if params.get(path) is not None:
            raise ValueError(f"{path} names a file or a folder, which no model file holds")
    estimator = cls(**params)
    taken = {*vars(estimator), _NOT_STATE}
    for key, value in _decode_all(node["state"], arrays, met).items():
        is_name = key.isidentifier() and not key.startswith("__") and key not in taken
        if not is_name or callable(getattr(cls, key, None)):
            raise ValueError(f"{key!r} is no fitted attribute of {node['name']}")
        vars(estimator)[key] = value
    return estimator


def _what_is_wrong_with(keys) -> str | None:
    """Why no model file holds a dict of these keys."""
    if sum(not isinstance(key, str) for key in keys) > MAX_KEYS:
        return f"has more than {MAX_KEYS} keys that are not text. Use arrays."
    for key in keys:  # a grid of parameters can name one of an inner estimator
        if isinstance(key, str) and key.rpartition("__")[2] in PATHS:
            return f"has the key {key!r}, which names files or folders. Take it out."
    return None


def _decode_csr(node, arrays):
    cls = sparse.csr_matrix if node["is_matrix"] else sparse.csr_array
    parts = tuple(arrays[node[part]] for part in _CSR_PARTS)
    matrix = cls(parts, shape=tuple(node["shape"]))
    matrix.check_format(full_check=True)  # an index outside would be read from beyond the array
    return matrix


def _name_in(table, thing):
    """The name of a class or function in a table, or None."""
    for name, dotted in table.items():
        same_name = dotted.rpartition(".")[2] == getattr(thing, "__name__", None)
        if same_name and _find(table, name) is thing:
            return name
    return None


def _find(table, name):
    if name not in table:
        raise ValueError(f"{name!r} is not in the list of what a model file may hold")
    module, _, attribute = table[name].rpartition(".")
    return getattr(importlib.import_module(module), attribute)
