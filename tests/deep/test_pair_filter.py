import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

torch = pytest.importorskip("torch")

from likewise import Constraints, constraint_prices  # noqa: E402
from likewise.deep import pair_filter  # noqa: E402
from likewise.deep.pair_filter import filter_pairs, keep_by_price  # noqa: E402
from likewise.duals import centroid_prices  # noqa: E402
from likewise.duals.priced_pairs import pairs_of  # noqa: E402
from likewise.kernels import sq_distances  # noqa: E402


def test_the_most_costly_share_of_the_costly_is_left_out_and_the_free_are_not_used():
    prices = np.array([0.0, 5.0, 1.0, 3.0, 0.0, 2.0])
    assert_array_equal(keep_by_price(prices, 0.0), prices > 0)
    assert_array_equal(keep_by_price(prices, 0.5), [0, 0, 1, 0, 0, 1])
    assert_array_equal(keep_by_price(prices, 0.7), [0, 0, 1, 0, 0, 1])  # floor(2.8) = 2
    assert not keep_by_price(prices, 1.0).any()


def draw(seed, n_pairs=30):
    rng = np.random.RandomState(seed)
    codes = rng.randn(40, 2) + 2 * rng.randint(3, size=(40, 1))
    centers = codes[rng.choice(40, 3, replace=False)]
    answers = Constraints.from_labels(rng.randint(3, size=40), n_pairs=n_pairs, random_state=seed)
    return codes, centers, answers


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.3, 0.9]))
@settings(max_examples=15)
def test_what_is_kept_is_what_the_prices_of_the_duals_say(seed, share):
    codes, centers, answers = draw(seed)
    pairs = pairs_of(answers)
    kept, multipliers = filter_pairs(codes[pairs.points], centers, pairs, share, None)
    prices = constraint_prices(codes, answers, 3, solver="lp", centers=centers).prices
    assert_array_equal(kept, keep_by_price(prices, share))
    assert multipliers.shape == (len(pairs.ends), 3)


def lagrangian(codes, centers, pairs, multipliers):
    """What the points cost at best under these multipliers: never above the exact bound."""
    costs = sq_distances(codes[pairs.points], centers)
    penalized = costs + centroid_prices.penalties(multipliers, pairs, pairs.incidence)
    return penalized.min(axis=1).sum() + centroid_prices.constant(
        multipliers, pairs, pair_filter.EPS
    )


def test_climbing_goes_on_from_the_last_prices_towards_the_exact_ones(seed, monkeypatch):
    codes, centers, answers = draw(seed)
    pairs = pairs_of(answers)
    costs = sq_distances(codes[pairs.points], centers)
    exact = centroid_prices.price_by_lp(costs, pairs, pair_filter.EPS).bound
    monkeypatch.setattr(pair_filter, "LARGEST_PROGRAM", 0)
    monkeypatch.setattr(pair_filter, "N_CLIMBS", 10)
    reached, multipliers = [float(costs.min(axis=1).sum())], None
    for _ in range(6):
        _, multipliers = filter_pairs(codes[pairs.points], centers, pairs, 0.5, multipliers)
        reached.append(lagrangian(codes, centers, pairs, multipliers))
    assert (np.diff(reached) >= -1e-9).all()
    assert reached[-1] <= exact + 1e-9
    assert exact - reached[-1] < 0.4 * (exact - reached[0])
