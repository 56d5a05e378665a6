import contextlib
import copy
import importlib
import inspect
import json
import os
import pickle
import pkgutil
import warnings
import zipfile
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import likewise
from likewise import Constraints, kernels, model_file
from likewise.datasets import load_iris
from likewise.deep import TrainingPlan
from likewise.evaluation import AnswerSearchCV
from likewise.files.tensor_file import read_tensors, write_tensors
from likewise.maps import nystrom_map
from likewise.model_file import ModelFileError, load_model, save_model

ROWS = np.arange(150) % 3 == 0
X, y = load_iris().X[ROWS], load_iris().y[ROWS]
X_NEW = load_iris().X[~ROWS][:20]
ANSWERS = Constraints.from_labels(
    y, n_must_link=10, n_cannot_link=10, n_odd_one_out=30, n_closer=10, random_state=0
)
QUICK = TrainingPlan(pretraining_epochs=1, max_epochs=2, tol=1.0)
# Estimators that cannot be made without an argument; every other one is tried as it comes.
EXAMPLES = {
    "AnswerSearchCV": lambda cls: cls(
        KMeans(n_init=1, random_state=0), {"n_clusters": range(2, 4), "tol": [1e-4]}, n_splits=2
    ),
    "DeepConstrainedClustering": lambda cls: (
        pytest.importorskip("torch") and cls(3, encoder=(5, 2), training=QUICK, device="cpu")
    ),
    "sklearn.OneHotEncoder": lambda cls: cls(handle_unknown="ignore", sparse_output=False),
    "sklearn.KMeans": lambda cls: cls(3, n_init=2, random_state=0),
    "sklearn.Pipeline": lambda cls: cls([("scale", StandardScaler()), ("cluster", KMeans(3))]),
}


# tests/features saves and loads the others, with rows of their own.
OF_NUMBERS = sorted(model_file.ESTIMATORS.keys() - {"ImageFeatures", "TextFeatures"})


def find(dotted):
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


def make_fitted(name, X=X, output="default"):
    cls = find(model_file.ESTIMATORS[name])
    model = EXAMPLES.get(name, lambda cls: cls())(cls)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=0)
    if hasattr(model, "set_output"):
        model.set_output(transform=output)
    takes_answers = "constraints" in inspect.signature(model.fit).parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of answers it cannot use, of iterations: not asked here
        return model.fit(X, **({"constraints": ANSWERS} if takes_answers else {}))


def through_a_file(model, folder):
    """Saved, loaded, and saved again: the two files are the same to the byte."""
    save_model(model, folder / "first")
    loaded = load_model(folder / "first")
    save_model(loaded, folder / "second")
    assert (folder / "first").read_bytes() == (folder / "second").read_bytes()
    return loaded


class Holder(BaseEstimator):
    """Holds whatever a test puts into it."""

    def __init__(self, param=None):
        self.param = param


@pytest.fixture
def holder(monkeypatch):
    monkeypatch.setitem(model_file.ESTIMATORS, "Holder", f"{__name__}.Holder")
    monkeypatch.setattr(model_file.importlib, "import_module", import_with_this_module)
    return Holder


def import_with_this_module(name):
    import sys

    return sys.modules[__name__] if name == __name__ else REAL_IMPORT(name)


REAL_IMPORT = importlib.import_module


# ---- what is registered


def test_every_public_estimator_can_be_saved():
    registered = {find(dotted) for dotted in model_file.ESTIMATORS.values()}
    rooms = [likewise] + [
        importlib.import_module(f"likewise.{room.name}")
        for room in pkgutil.iter_modules(likewise.__path__)
        if room.name not in ("cli", "studio")  # no estimators, or an extra
    ]
    public = {
        getattr(room, name) for room in rooms for name in getattr(room, "__all__", ())
        if inspect.isclass(getattr(room, name)) and issubclass(getattr(room, name), BaseEstimator)
    }  # fmt: skip
    assert AnswerSearchCV in public
    # BoundClusterer holds people's answers, which are no part of a model: save its estimator_.
    missing = {cls.__name__ for cls in public - registered} - {"BoundClusterer"}
    assert not missing, f"add to ESTIMATORS in model_file.py: {missing}"


def test_every_registered_name_is_there():
    for table in (model_file.ESTIMATORS, model_file.RECORDS, model_file.FUNCTIONS):
        for name, dotted in table.items():
            assert dotted.startswith(("likewise.", "sklearn.")), name
            assert callable(find(dotted)), name


def methods_of(model):
    return [
        m
        for m in ("transform", "predict", "predict_proba", "kernel")
        if callable(getattr(model, m, None))
    ]


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_every_estimator_gives_the_same_results_after_a_file(name, tmp_path):
    model = make_fitted(name)
    loaded = through_a_file(model, tmp_path)
    assert type(loaded) is type(model)
    assert vars(loaded).keys() == vars(model).keys()
    assert repr(loaded.get_params()) == repr(model.get_params())
    for method in methods_of(model):
        args = (X_NEW, X) if method == "kernel" else (X_NEW,)
        ours, theirs = getattr(loaded, method)(*args), getattr(model, method)(*args)
        assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    if hasattr(model, "labels_"):
        assert_array_equal(loaded.labels_, model.labels_)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_feature_names_and_output_settings_stay(name, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = make_fitted(name, frame, output="pandas")
    loaded = through_a_file(model, tmp_path)
    assert_array_equal(loaded.feature_names_in_, ["a", "b", "c", "d"])
    assert loaded.feature_names_in_.dtype == object
    if hasattr(model, "transform"):
        ours, theirs = loaded.transform(frame), model.transform(frame)
        assert type(ours) is type(theirs)
        pd.testing.assert_frame_equal(pd.DataFrame(ours), pd.DataFrame(theirs))
    for method in ("predict", "transform"):
        if hasattr(loaded, method):
            with pytest.raises(ValueError, match="feature names"):
                getattr(loaded, method)(frame.rename(columns={"a": "z"}))


def test_an_unfitted_estimator_can_be_saved(tmp_path):
    loaded = through_a_file(KMeans(n_clusters=7, tol=1e-300), tmp_path)
    assert (loaded.n_clusters, loaded.tol) == (7, 1e-300)
    assert not hasattr(loaded, "labels_")


# ---- what an estimator may hold

SAMPLES = {
    "nothing": None,
    "numbers": [True, False, 0, -(10**30), 1.5, -0.0, 5e-324, float("inf"), float("-inf")],
    "text": ["", "a", "grüße 日本", "\x00\ud800"],
    "nested": {"a": (1, [2, {"b": ()}]), 3: None, (4, "c"): {}},
    "range": range(10, 0, -3),
    "scalars": [
        np.float32(0.1),
        np.int8(3),
        np.bool_(True),
        np.str_("x"),
        np.datetime64("2020-01"),
    ],
    "arrays": (np.arange(6.0).reshape(2, 3), np.array(3), np.zeros((0, 4)), np.array(["a", "bc"])),
    "objects": np.array([None, "a", 3, [1, 2]], dtype=object),
    "lists of objects": np.array([[1, "a"], [None, 2.5]], dtype=object),
    "names": np.array(["a", "b"], dtype=object),
}


def assert_same(a, b):
    assert type(a) is type(b)
    if isinstance(a, np.ma.MaskedArray):
        assert_same(a.filled(None), b.filled(None))
        assert_array_equal(a.mask, b.mask)
    elif isinstance(a, np.ndarray) and a.dtype == object:
        assert a.shape == b.shape
        assert_same(list(a.flat), list(b.flat))
    elif isinstance(a, np.ndarray | np.generic):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for one, two in zip(a, b):
            assert_same(one, two)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        assert_same(list(a.values()), list(b.values()))
    else:
        assert repr(a) == repr(b)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("place", ["param", "fitted_", "_private"])
def test_plain_values_come_back_as_they_were(place, sample, holder, tmp_path):
    model = holder()
    setattr(model, place, SAMPLES[sample])
    assert_same(getattr(through_a_file(model, tmp_path), place), SAMPLES[sample])


def test_nan_and_masked_columns_come_back(holder, tmp_path):
    column = np.ma.masked_all(3, dtype=object)
    column[1] = "a"
    model = holder([float("nan"), np.float32("nan")])
    model.column_ = column
    loaded = through_a_file(model, tmp_path)
    assert repr(loaded.param) == repr(model.param)
    assert_same(loaded.column_, column)


def test_an_array_keeps_its_order_in_memory(holder, tmp_path):
    model = holder(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    loaded = through_a_file(model, tmp_path)
    assert_array_equal(loaded.param, model.param)
    assert loaded.param.flags.f_contiguous
    assert not loaded.param.flags.c_contiguous


@pytest.mark.parametrize(
    "shared",
    [np.arange(1000.0), np.ones((20, 50), order="F"), sparse.csr_matrix(np.eye(50))],
    ids=["array", "fortran", "csr"],
)
def test_one_array_in_two_places_is_stored_once_and_stays_one(shared, holder, tmp_path):
    model = holder(shared)
    model.again_ = {"x": [shared]}
    loaded = through_a_file(model, tmp_path)
    assert loaded.again_["x"][0] is loaded.param
    names = list(read_tensors(tmp_path / "first").arrays)
    assert len(names) == (3 if sparse.issparse(shared) else 1)


@pytest.mark.parametrize("cls", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_rows_come_back(cls, holder, tmp_path):
    rows = cls(np.array([[0.0, 2, 0], [0, 0, 0], [1, 0, 3]], dtype=np.float32))
    loaded = through_a_file(holder(rows), tmp_path).param
    assert type(loaded) is type(rows)
    assert loaded.dtype == rows.dtype
    assert_array_equal(loaded.toarray(), rows.toarray())


def test_answers_come_back_in_their_order(holder, tmp_path):
    mixed = ANSWERS.subset(np.random.RandomState(0).permutation(ANSWERS.n_answers))
    full = Constraints(
        3,
        must_link=[(0, 1)],
        undecided=[(0, 1, 2)],
        weights=[0.5, 2],
        annotators=["ann", ""],
        asked_at=["2020-01-01T10:00", None],
        screens=["s1", ""],
        seconds=[2.5, None],
        ids=["x", "y", "z"],
    )
    for answers in (mixed, full, Constraints(4)):
        loaded = through_a_file(holder(answers), tmp_path).param
        assert loaded == answers
        assert_array_equal(loaded.kinds, answers.kinds)


@pytest.mark.parametrize(
    "start", ["gaussian", "diffusion", "rbf", "linear", "polynomial", "cosine"]
)
def test_the_kernels_of_the_package_come_back(start, holder, tmp_path):
    kernel = kernels.kernel_function(start, X)
    loaded = through_a_file(holder(kernel), tmp_path).param
    assert_array_equal(loaded(X_NEW, X), kernel(X_NEW, X))


def test_the_other_records_come_back(holder, tmp_path):
    nystrom = nystrom_map(partial(kernels.rbf, theta=2.0), X[:10])
    K = kernels.rbf(X, theta=2.0)
    cholesky = kernels.pivoted_cholesky(K.diagonal(), lambda i: K[:, i])
    precomputed = kernels.kernel_function("precomputed", K)
    loaded = through_a_file(holder([nystrom, cholesky, precomputed]), tmp_path).param
    assert_array_equal(loaded[0].transform(X_NEW), nystrom.transform(X_NEW))
    K_new = K[:3, cholesky.pivots]
    assert_array_equal(loaded[1].extend(K_new), cholesky.extend(K_new))
    assert_array_equal(loaded[2](K[:3]), K[:3])


# ---- what cannot be saved


def own_kernel(A, B):
    return A @ B.T


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (own_kernel, r"Holder\.param is code"),
        (lambda A: A, r"Holder\.param is code"),
        (partial(own_kernel, B=1), r"Holder\.param is code"),
        (partial(kernels.rbf, np.eye(2)), r"Holder\.param is code"),
        (kernels.kernel_function(own_kernel, X), r"Holder\.param is code"),
        ({"start": [0, own_kernel]}, r"Holder\.param\['start'\]\[1\] is code"),
        (dict, r"Holder\.param is code"),
        (np.random.RandomState(0), r"Holder\.param is a random generator.* Use an int"),
        (np.random.default_rng(0), r"Holder\.param is a random generator"),
        (PCA(), r"Holder\.param is sklearn\.decomposition\._pca\.PCA, which is not among"),
        (KMeans(random_state=np.random.RandomState(0)), r"Holder\.param\.random_state is a random"),
        ({1, 2}, r"Holder\.param is a set"),
        (b"bytes", r"Holder\.param is a bytes"),
        (3j, r"Holder\.param is a complex"),
        (np.zeros(2, complex), r"Array 'Holder\.param' has type complex128"),
        (sparse.csc_matrix(np.eye(2)), r"Holder\.param is a sparse csc matrix"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_no_file_holds_is_named_when_saving(value, message, holder, tmp_path):
    with pytest.raises(TypeError, match=message) as caught:
        save_model(holder(value), tmp_path / "model")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_only_estimators_are_saved(tmp_path):
    with pytest.raises(TypeError, match="save_model saves estimators, not a Constraints"):
        save_model(ANSWERS, tmp_path / "model")


def test_a_subclass_is_not_mistaken_for_its_parent(tmp_path):
    class KMeans2(KMeans):
        pass

    KMeans2.__name__ = "KMeans"
    with pytest.raises(TypeError, match="not among the estimators a model file may hold"):
        save_model(KMeans2(), tmp_path / "model")


def test_routing_requests_are_left_out(tmp_path):
    search = AnswerSearchCV(KMeans(), {"n_clusters": [2]})
    with sklearn.config_context(enable_metadata_routing=True):
        search.set_fit_request(constraints=True)
    assert load_model_after(search, tmp_path).n_splits == 5


def load_model_after(model, folder):
    save_model(model, folder / "model")
    return load_model(folder / "model")


# ---- files that cannot be loaded


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("a pickle was run",)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.likewise"
    save_model(make_fitted("sklearn.StandardScaler"), path)
    return path


def refusal(path):
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_foreign_files_end_in_one_line(tmp_path):
    refusal(tmp_path / "missing")
    refusal(tmp_path)
    (tmp_path / "empty").touch()
    refusal(tmp_path / "empty")
    (tmp_path / "pickle").write_bytes(pickle.dumps(Bomb()))
    refusal(tmp_path / "pickle")
    with zipfile.ZipFile(tmp_path / "zip", "w") as file:
        file.writestr("model.json", "{}")
    refusal(tmp_path / "zip")
    write_tensors(tmp_path / "tensors", {"x": np.zeros(2)}, {"made": "elsewhere"})
    assert "no model" in refusal(tmp_path / "tensors")
    write_tensors(tmp_path / "list", {}, [1, 2])
    assert "no model" in refusal(tmp_path / "list")


def rewrite(path, change):
    """Change the document of a file, with a checksum that fits: what a forger would do."""
    arrays, document = read_tensors(path)
    changed = copy.deepcopy(document)
    change(changed)
    write_tensors(path, arrays, changed)


def test_a_newer_file_asks_for_an_upgrade(saved):
    rewrite(saved, lambda d: d.update(format=model_file.FORMAT + 1, likewise="9.0"))
    assert "saved by likewise 9.0, which is newer. Upgrade likewise." in refusal(saved)


@pytest.mark.parametrize("older", [0, 1])
def test_an_older_file_that_is_not_read_says_what_to_do(older, saved):
    rewrite(saved, lambda d: d.update(format=older, likewise="0.0.1"))
    message = refusal(saved)
    assert f"in format {older}, which is no longer read" in message
    assert "Fit the model again, or load it with likewise 0.0.1." in message


def test_a_file_of_an_older_version_loads_with_the_defaults_of_today(saved):
    def forget(document):
        document["likewise"] = "0.0.9"
        del document["model"]["params"]["with_std"]

    rewrite(saved, forget)
    assert load_model(saved).with_std is True


def test_a_parameter_that_is_gone_is_named(saved):
    rewrite(saved, lambda d: d["model"]["params"].update(gone=1))
    assert "sklearn.StandardScaler has no parameter 'gone'" in refusal(saved)


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "Bomb", "likewise.cli", [], None])
@pytest.mark.parametrize("kind", ["estimator", "record", "function"])
def test_a_name_outside_the_tables_is_refused(kind, name, saved, monkeypatch):
    node = {"kind": kind, "name": name, "params": {}, "state": {}, "fields": {}, "settings": {}}
    rewrite(saved, lambda d: d.update(model=node))
    monkeypatch.setattr(model_file.importlib, "import_module", pytest.fail)
    refusal(saved)


@pytest.mark.parametrize("name", ["transform", "__class__", "__dict__", "fit", "not a name", ""])
def test_a_forged_attribute_is_refused(name, saved):
    rewrite(saved, lambda d: d["model"]["state"].update({name: 1}))
    assert "no fitted attribute" in refusal(saved)


@pytest.mark.parametrize(
    "node",
    [
        None,
        3,
        {"kind": "array", "array": "missing"},
        {"kind": "csr", "name": "x", "is_matrix": True, "shape": [2, 2]},
        {"kind": "function", "name": "rbf", "settings": {}},
        {"kind": "tuple", "items": []},
    ],
)
def test_a_model_that_is_no_estimator_is_refused(node, saved):
    rewrite(saved, lambda d: d.update(model=node))
    refusal(saved)


@pytest.mark.parametrize("indices", [[0, 99], [-1, 0]])
def test_a_sparse_matrix_that_points_outside_is_refused(indices, holder, tmp_path):
    save_model(holder(sparse.csr_matrix(np.eye(2))), tmp_path / "model")
    arrays, document = read_tensors(tmp_path / "model")
    name = next(name for name in arrays if name.endswith("indices"))
    arrays[name] = np.array(indices, dtype=np.int32)
    write_tensors(tmp_path / "model", arrays, document)
    refusal(tmp_path / "model")


def test_thousands_of_damaged_files_end_in_the_named_error(saved):
    whole = saved.read_bytes()
    rng = np.random.RandomState(0)
    for _ in range(1000):
        damaged = bytearray(whole)
        for place in rng.randint(len(whole), size=rng.randint(1, 4)):
            damaged[place] ^= 1 << rng.randint(8)
        if rng.uniform() < 0.2:
            damaged = damaged[: rng.randint(len(whole))]
        if bytes(damaged) == whole:  # two flips of one bit
            continue
        saved.write_bytes(damaged)
        refusal(saved)


JUNK = [None, True, -1, 10**25, 1e308, "", "array", "os.system", [], {}, [[]], {"kind": "dict"}]


def places_in(node, path=()):
    yield path
    if isinstance(node, dict | list):
        keys = node if isinstance(node, dict) else range(len(node))
        for key in keys:
            yield from places_in(node[key], (*path, key))


def test_thousands_of_forged_documents_give_an_estimator_or_the_named_error(
    holder, tmp_path, monkeypatch
):
    model = holder({"a": (1, [np.ones(2), float("nan")]), "b": range(3)})
    model.answers_ = ANSWERS
    model.kernels_ = [kernels.kernel_function(name, X) for name in ("gaussian", "rbf")]
    model.objects_ = np.array([None, "a"], dtype=object)
    model.column_ = np.ma.masked_all(2, dtype=object)
    model.sparse_ = sparse.csr_matrix(np.eye(3))
    model.inner_ = make_fitted("sklearn.Pipeline")
    save_model(model, tmp_path / "model")
    arrays, document = read_tensors(tmp_path / "model")
    places = [place for place in places_in(document) if place]
    rng = np.random.RandomState(0)
    n_loaded = 0
    for _ in range(2000):
        forged = copy.deepcopy(document)
        *parents, last = places[rng.randint(len(places))]
        node = forged
        for key in parents:
            node = node[key]
        node[last] = JUNK[rng.randint(len(JUNK))]
        monkeypatch.setattr(model_file, "read_tensors", lambda path, f=forged: (arrays, f))
        with contextlib.suppress(ModelFileError):
            assert isinstance(load_model("forged"), BaseEstimator)
            n_loaded += 1
    assert 200 < n_loaded < 1800


# ---- files and folders that a stranger would choose


def make_pipeline(**settings):
    return Pipeline([("scale", StandardScaler()), ("cluster", KMeans(2))], **settings)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (make_pipeline(memory="folder"), r"Pipeline\.memory names a file or a folder.*memory=None"),
        (
            AnswerSearchCV(make_pipeline(), {"memory": ["folder"]}),
            "param_grid has the key 'memory'",
        ),
        (
            AnswerSearchCV(make_pipeline(), [{}, {"cluster__checkpoint": ["file"]}]),
            r"param_grid\[1\] has the key 'cluster__checkpoint'",
        ),
        (AnswerSearchCV(make_pipeline(memory="folder"), {}), r"estimator\.memory names a file"),
    ],
)
def test_a_model_that_names_a_file_or_a_folder_is_not_saved(model, message, tmp_path):
    with pytest.raises(TypeError, match=message):
        save_model(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_the_checkpoint_of_a_network_is_not_saved(tmp_path):
    pytest.importorskip("torch")
    network = find(model_file.ESTIMATORS["DeepConstrainedClustering"])(checkpoint="file")
    with pytest.raises(TypeError, match=r"checkpoint=None"):
        save_model(network, tmp_path / "model")
    through_a_file(network.set_params(checkpoint=None), tmp_path)


GRID = {"kind": "dict", "keys": ["memory"], "values": [["folder"]]}


@pytest.mark.parametrize(
    "forge",
    [
        lambda node: node["params"].update(memory="folder"),
        lambda node: node["state"].update(memory="folder"),
        lambda node: node["params"]["steps"][1]["items"][1]["state"].update(memory_=GRID),
        lambda node: node["state"].update(_metadata_request=None),
    ],
)
def test_a_forged_folder_is_refused(forge, tmp_path):
    save_model(make_pipeline(), tmp_path / "model")
    rewrite(tmp_path / "model", lambda d: forge(d["model"]))
    refusal(tmp_path / "model")


def test_no_parameter_names_a_file_but_those_that_are_never_saved():
    """A new parameter with such a name needs a place in PATHS, or a reason here."""
    words = ("path", "file", "folder", "dir", "cache", "memory", "checkpoint", "url", "pickle")
    found = {
        name
        for dotted in (*model_file.ESTIMATORS.values(), *model_file.RECORDS.values())
        for name in inspect.signature(find(dotted)).parameters
        if any(word in name for word in words) and name != "profile"  # of a density
    }
    assert found == set(model_file.PATHS)


# ---- what takes long, or reaches the terminal


def test_more_numbers_as_keys_than_a_model_has_are_refused(holder, tmp_path):
    collide = {i * (2**61 - 1): None for i in range(model_file.MAX_KEYS + 1)}
    with pytest.raises(TypeError, match=r"Holder\.param has more than 1000 keys"):
        save_model(holder(collide), tmp_path / "model")
    texts = {str(i): None for i in range(2 * model_file.MAX_KEYS)}
    assert through_a_file(holder(texts), tmp_path).param == texts
    keys, values = list(collide), [None] * len(collide)
    node = {"kind": "dict", "keys": keys, "values": values}
    rewrite(tmp_path / "first", lambda d: d["model"]["params"].update(param=node))
    assert "more than 1000 keys" in refusal(tmp_path / "first")


@pytest.mark.parametrize("n_passes", [10**30, 101, 0, -1])
def test_a_forged_number_of_rounds_is_refused(n_passes, tmp_path):
    path = tmp_path / "model"
    save_model(make_fitted("SpectralReweighting"), path)
    rewrite(path, lambda d: d["model"]["state"]["map_"]["fields"].update(n_passes=n_passes))
    assert "n_passes" in refusal(path)


@pytest.mark.parametrize("document_format", [model_file.FORMAT, 0, 99])
@pytest.mark.parametrize(
    "version", ["\x1b[31m\x1b]0;owned\a\nERROR: all is lost" + "x" * 10_000, [{}]]
)
def test_the_version_of_a_file_reaches_the_terminal_as_one_short_line(
    version, document_format, saved
):
    rewrite(saved, lambda d: d.update(likewise=version, format=document_format, model=None))
    message = refusal(saved)
    assert message.isprintable()
    assert len(message) < 500 + len(str(saved))


def test_a_deeply_nested_document_is_refused(saved):
    arrays, document = read_tensors(saved)
    deep = document["model"]["state"]["mean_"]
    for _ in range(400):
        deep = {"kind": "tuple", "items": [deep]}
    document["model"]["state"]["mean_"] = deep
    write_tensors(saved, arrays, document)
    refusal(saved)


def test_a_save_that_fails_leaves_the_old_model(saved):
    before = saved.read_bytes()
    with pytest.raises(TypeError, match="random generator"):
        save_model(KMeans(random_state=np.random.RandomState(0)), saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_the_document_says_which_likewise_wrote_it(saved):
    document = read_tensors(saved).document
    assert document["likewise"] == likewise.__version__
    assert document["format"] == model_file.FORMAT
    json.dumps(document, allow_nan=False)
