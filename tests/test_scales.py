"""Numbers at the ends of what floats hold: computed with, or one line that says what to do."""

import importlib
import inspect
import warnings

import numpy as np
import pytest
from scipy import sparse

from likewise import Constraints, model_file
from likewise.datasets import load_iris
from likewise.numerics.rows import check_scale

ROWS = np.arange(150) % 5 == 0
X, y = load_iris().X[ROWS], load_iris().y[ROWS]
ANSWERS = Constraints.from_labels(
    y, n_must_link=5, n_cannot_link=5, n_odd_one_out=10, random_state=0
)
OURS = sorted(
    name for name, dotted in model_file.ESTIMATORS.items()
    if not name.startswith("sklearn.") and name != "AnswerSearchCV"  # as its estimator
    and ".features." not in dotted  # they take what is no numbers
)  # fmt: skip
ONCE_BROKEN = (
    *("KernelAlignment", "KernelMeanShift", "LSML", "LogDetPairs"),
    *("MMC", "RCA", "SKLR", "SpectralReweighting"),
)


def fit(name, X, constraints=ANSWERS):
    if name == "DeepConstrainedClustering":
        pytest.importorskip("torch")
    module, _, attribute = model_file.ESTIMATORS[name].rpartition(".")
    model = getattr(importlib.import_module(module), attribute)()
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=0)
    takes_answers = "constraints" in inspect.signature(model.fit).parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence, of answers of another kind
        return model.fit(X, **({"constraints": constraints} if takes_answers else {}))


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize(
    ("scale", "dtype", "message"),
    [
        (1e150, "f8", r"X has a number as large as [0-9.]+e\+150.*Divide X by a constant"),
        (1e300, "f8", r"X has a number as large as"),
        (1e30, "f4", r"with float32 nothing above 1e\+15"),
        (1e-150, "f8", r"X has no number larger than [0-9.]+e-150.*Multiply X by a constant"),
        (1e-300, "f8", r"X has no number larger than"),
    ],
)
def test_rows_whose_squares_are_no_floats_are_refused_in_one_line(name, scale, dtype, message):
    with pytest.raises(ValueError, match=message) as caught:
        fit(name, (X * scale).astype(dtype))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ONCE_BROKEN)
@pytest.mark.parametrize("scale", [1e-90, 1e-40, 1e40])
def test_rows_of_any_other_scale_are_fitted(name, scale):
    model = fit(name, X * scale)
    if hasattr(model, "transform"):
        assert np.isfinite(model.transform(X * scale)).all()


@pytest.mark.parametrize("name", ONCE_BROKEN)
@pytest.mark.parametrize("weight", [1e-30, 1e30])
def test_the_smallest_and_the_largest_weight_can_be_computed_with(name, weight):
    c = ANSWERS
    weights = np.full(c.n_answers, weight)
    pairs = {"must_link": c.must_link, "cannot_link": c.cannot_link}
    c = Constraints(len(X), **pairs, odd_one_out=c.odd_one_out, weights=weights)
    model = fit(name, X, c)
    if hasattr(model, "transform"):
        assert np.isfinite(model.transform(X)).all()


def test_a_kernel_that_overflows_is_named():
    with pytest.raises(ValueError, match=r"kernels\[1\] = 'polynomial' has values .*Standardize X"):
        fit("KernelAlignment", X * 1e90)


def test_a_new_row_may_be_as_small_as_it_likes():
    tiny, huge = np.full((1, 2), 1e-300), np.full((1, 2), 1e101)
    check_scale(tiny, is_fit=False)
    check_scale(np.zeros((3, 2)))
    check_scale(np.zeros((0, 2)))
    for rows in (huge, -huge, sparse.csr_matrix(huge)):
        with pytest.raises(ValueError, match="as large as 1e\\+101"):
            check_scale(rows, is_fit=False)
