import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import SKLR, ChoiceKernel, Constraints
from likewise.datasets import load_iris, load_wine
from likewise.kernel_learning.start_kernels import fit_start


@pytest.fixture(scope="module")
def wine():
    data = load_wine()
    return (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), data.y


@pytest.mark.parametrize("start", ["gaussian", "diffusion", "linear"])
def test_without_answers_the_kernel_is_that_of_the_start(start, wine):
    X, _ = wine
    space = ChoiceKernel(start=start).fit(X)
    assert space.n_answers_used_ == 0
    Z = fit_start(start, X).transform(X)
    assert_allclose(space.kernel(X), Z @ Z.T, atol=1e-8)


def test_a_few_triples_bring_the_clusters_to_the_classes(wine):
    X, y = wine
    answers = Constraints.from_labels(y, n_odd_one_out=60, random_state=0)
    Z = ChoiceKernel(random_state=0).fit(X, constraints=answers).transform(X)
    labels = KMeans(3, n_init=5, random_state=0).fit_predict(Z)
    assert adjusted_rand_score(y, labels) > 0.9


def test_choices_and_margins_share_their_start_but_no_settings(wine):
    X, _ = wine
    assert_array_equal(ChoiceKernel().fit(X).transform(X), SKLR().fit(X).transform(X))
    assert not {"loss", "margin", "bounds", "rank_by"} & set(ChoiceKernel().get_params())
    assert not {"sharpness", "annotator_noise"} & set(SKLR().get_params())
    assert not hasattr(SKLR, "choice_chances")


def test_sparse_rows_give_what_dense_ones_do(wine):
    X, y = wine
    X = np.where(np.abs(X) > 1, X, 0)
    answers = Constraints.from_labels(y, n_odd_one_out=30, random_state=0)
    dense, sparse = (
        ChoiceKernel(start="rbf", C=0.3, sharpness=2.0, random_state=0).fit(
            rows, constraints=answers
        )
        for rows in (X, csr_array(X))
    )
    assert_allclose(sparse.kernel(csr_array(X)), dense.kernel(X), atol=1e-6)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"C": 0.0}, "C=0.0 must be > 0"),
        ({"sharpness": 0.0}, "sharpness=0.0 must be > 0"),
        ({"start": "guess"}, "start='guess' is unknown"),
    ],
)
def test_a_wrong_setting_is_one_error_that_names_it(setting, message):
    with pytest.raises(ValueError, match=message):
        ChoiceKernel(**setting).fit(load_iris().X)


def test_chances_say_how_likely_every_answer_is(wine):
    X, y = wine
    kinds = {"n_odd_one_out": 80, "n_closer": 30, "n_must_link": 30, "n_cannot_link": 30}
    answers = Constraints.from_labels(y, **kinds, n_undecided=10, random_state=0)
    fresh = Constraints.from_labels(y, **kinds, n_undecided=10, random_state=1)
    space = ChoiceKernel(random_state=0).fit(X, constraints=answers)
    assert space.gap_ <= space.tol
    chances = space.choice_chances(X, fresh)
    assert_allclose(chances.sum(axis=1), 1)
    for kind in ("odd_one_out", "closer", "must_link", "cannot_link"):
        assert chances[fresh.positions(kind), 0].mean() > 0.7
    assert (chances[fresh.positions("closer", "must_link", "cannot_link"), 2] == 0).all()
    opposite = Constraints(len(X), must_link=fresh.cannot_link, cannot_link=fresh.must_link)
    pairs = Constraints(len(X), must_link=fresh.must_link, cannot_link=fresh.cannot_link)
    together = space.choice_chances(X, pairs)[pairs.positions("must_link"), 0]
    apart = space.choice_chances(X, opposite)[opposite.positions("cannot_link"), 0]
    assert_allclose(together, 1 - apart)
    Z = space.transform(X)
    near = np.square(Z[pairs.must_link[:, 0]] - Z[pairs.must_link[:, 1]]).sum(axis=1)
    odds = space.choice_scale_ * (space.threshold_ - near)
    assert_allclose(np.log(together / (1 - together)), odds, atol=1e-8)


def test_metric_kernel_duals_and_violated_answers_agree(wine):
    X, y = wine
    answers = Constraints.from_labels(y, n_odd_one_out=60, noise=0.1, random_state=0)
    space = ChoiceKernel(C=1.0, sharpness=2.0, random_state=0).fit(X, constraints=answers)
    assert (space.C_, space.sharpness_, space.n_answers_used_) == (1.0, 2.0, 60)
    start = fit_start("gaussian", X).transform(X)
    assert_allclose(start @ space.metric_ @ start.T, space.kernel(X), atol=1e-8)
    assert_allclose(space.kernel(X), space.transform(X) @ space.transform(X).T, atol=1e-8)
    chances = space.choice_chances(X, answers)
    is_likeliest = chances[:, 0] == chances.max(axis=1)
    assert_allclose(np.flatnonzero(~is_likeliest), space.violated_)
    assert len(space.violated_)
    assert (space.duals_[space.violated_] >= 0.5).all()  # C times the chance of another answer
    assert ((space.duals_ > 0) & (space.duals_ < 1)).all()
    assert len(space.slips_) == 0


def test_the_unit_of_the_data_does_not_matter(wine):
    X, y = wine
    answers = Constraints.from_labels(y, n_pairs=40, n_odd_one_out=40, random_state=0)

    def chances(rows):
        space = ChoiceKernel(start="linear", random_state=0).fit(rows, constraints=answers)
        return space.choice_chances(rows, answers)

    assert_allclose(chances(16 * X), chances(X), rtol=1e-6)


def test_pairs_pull_by_their_distance_from_the_threshold(wine):
    X, y = wine
    answers = Constraints.from_labels(y, n_must_link=30, n_cannot_link=30, random_state=0)
    space = ChoiceKernel(C=0.5, sharpness=3.0, random_state=0).fit(X, constraints=answers)
    Z, (pairs, sign) = space.transform(X), answers.signed_pairs()
    sq_unit = 2 * fit_start("gaussian", X).transform(X).var(axis=0).sum()
    sq_dists = np.square(Z[pairs[:, 0]] - Z[pairs[:, 1]]).sum(axis=1)
    chance = expit(sign * 3.0 / sq_unit * (space.threshold_ - sq_dists))
    assert_allclose(space.duals_, 0.5 * (1 - chance), atol=1e-6)


def test_a_fit_without_pairs_has_no_threshold_to_judge_them_by(wine):
    X, y = wine
    answers = Constraints.from_labels(y, n_odd_one_out=30, random_state=0)
    space = ChoiceKernel(random_state=0).fit(X, constraints=answers)
    with pytest.raises(ValueError, match="without pairs"):
        space.choice_chances(X, Constraints(len(X), must_link=[(0, 1)]))


def test_the_fit_names_the_annotator_who_guesses(wine):
    X, y = wine
    careful = Constraints.from_labels(y, n_odd_one_out=120, random_state=0).odd_one_out
    rng = np.random.RandomState(0)
    guessed = np.array([rng.choice(len(X), 3, replace=False) for _ in range(60)])
    answers = Constraints(
        len(X),
        odd_one_out=np.concatenate([careful, guessed]),
        annotators=["careful"] * 120 + ["lazy"] * 60,
    )
    space = ChoiceKernel(annotator_noise=True, random_state=0).fit(X, constraints=answers)
    reliability = dict(zip(space.annotators_, space.reliabilities_))
    assert reliability["careful"] > 0.9
    assert reliability["lazy"] < 0.4
    assert (space.slips_ >= 120).mean() > 0.9
    assert space.trust_[:120].mean() > space.trust_[120:].mean() + 0.3


def test_a_warning_gives_the_gap_after_too_few_steps(wine):
    X, y = wine
    answers = Constraints.from_labels(y, n_odd_one_out=60, random_state=0)
    with pytest.warns(ConvergenceWarning, match="relative duality gap of"):
        ChoiceKernel(C=10.0, sharpness=2.0, max_iter=2).fit(X, constraints=answers)


@parametrize_with_checks([ChoiceKernel(), ChoiceKernel(start="linear")])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
