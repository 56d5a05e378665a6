import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans

torch = pytest.importorskip("torch")

from likewise.deep import losses  # noqa: E402
from likewise.deep.torch_kmeans import improve, kmeans  # noqa: E402


def draw(seed, n=5, d=3, k=3):
    """Codes and centers in float64 that ask for gradients."""
    generator = torch.Generator().manual_seed(seed)
    made = [torch.randn(size, d, generator=generator, dtype=torch.float64) for size in (n, k)]
    return [one.requires_grad_() for one in made]


def weights(n):
    return torch.arange(1, n + 1, dtype=torch.float64) / n


def student(codes, centers):
    return losses.student_assignments(codes, centers, 1)


def unit(codes):
    return torch.nn.functional.normalize(codes, dim=1)


def of_three(similar, rule):
    """A loss of triples 0-1-2, 1-2-3 and 2-3-4 from a similarity of rows."""

    def loss(codes, centers):
        rows = similar(codes, centers)
        s = [losses.overlap(rows[i : i + 3], rows[j : j + 3]) for i, j in ((0, 1), (0, 2), (1, 2))]
        return rule(torch.stack(s, dim=1), weights(3))

    return loss


LOSSES = {
    "kl": lambda z, mu: losses.kl_loss(torch.full((5, 3), 1 / 3).double(), student(z, mu)),
    "kl-angular": lambda z, mu: losses.kl_loss(
        torch.eye(3).double()[[0, 1, 2, 0, 1]], losses.angular_assignments(unit(z), mu)
    ),
    "t-power-2": lambda z, mu: losses.student_assignments(z, mu, 2).square().sum(),
    "must-link": lambda z, mu: losses.must_link_loss(
        losses.overlap(student(z, mu)[:2], student(z, mu)[2:4]), weights(2)
    ),
    "cannot-link": lambda z, mu: losses.cannot_link_loss(
        losses.overlap(student(z, mu)[:2], student(z, mu)[2:4]), weights(2)
    ),
    "must-link-angular": lambda z, mu: losses.must_link_loss(
        losses.nearness(losses.cosines(unit(z)[:2], unit(z)[2:4]), 1), weights(2)
    ),
    "cannot-link-angular": lambda z, mu: losses.cannot_link_loss(
        losses.nearness(losses.cosines(unit(z)[:2], unit(z)[2:4]), 1.5), weights(2)
    ),
    "odd-one-out": of_three(student, losses.choice_loss),
    "closer": of_three(student, lambda s, w: losses.choice_loss(s[:, :2], w)),
    "undecided": of_three(student, losses.undecided_loss),
    "sizes": lambda z, mu: losses.size_loss(student(z, mu)),
    "difficulty": lambda z, mu: losses.difficulty_loss(
        student(z, mu), torch.tensor([1.0, 1.0, -0.1, 0.0, 1.0]).double()
    ),
}


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_the_gradient_of_every_loss_is_that_of_finite_differences(name, seed):
    assert torch.autograd.gradcheck(LOSSES[name], draw(seed), eps=1e-6, atol=1e-6)


@given(st.integers(0, 1000), st.sampled_from([1, 2]))
@settings(max_examples=20)
def test_assignments_and_their_targets_sum_to_one(seed, t_power):
    codes, centers = draw(seed)
    for q in (
        losses.student_assignments(codes, centers, t_power),
        losses.angular_assignments(unit(codes), centers),
    ):
        for rows in (q, losses.target_assignments(q)):
            assert_allclose(rows.detach().sum(dim=1), 1, atol=1e-12)


def test_students_assignments_of_three_points_are_those_done_by_hand():
    codes, centers = torch.tensor([[0.0], [1.0], [3.0]]), torch.tensor([[0.0], [3.0]])
    first = losses.student_assignments(codes, centers, 1)
    assert_allclose(first, [[10 / 11, 1 / 11], [5 / 7, 2 / 7], [1 / 11, 10 / 11]], rtol=1e-6)
    assert_allclose(losses.student_assignments(codes, centers, 2)[1], [25 / 29, 4 / 29], rtol=1e-6)


def test_the_target_is_sharper_and_favors_small_clusters():
    q = torch.tensor([[0.8, 0.2], [0.8, 0.2], [0.5, 0.5]])
    p = losses.target_assignments(q)
    assert p[0, 0] > 0.8
    assert p[2, 1] > 0.5  # 2.1 rows are in the first cluster, 0.9 in the second


def test_kl_is_zero_where_target_and_assignments_agree_and_positive_elsewhere():
    p, q = torch.tensor([[0.9, 0.1]]), torch.tensor([[0.6, 0.4]])
    assert_allclose(losses.kl_loss(p, p), 0, atol=1e-5)
    by_hand = 0.9 * math.log(0.9 / 0.6) + 0.1 * math.log(0.1 / 0.4)
    assert_allclose(losses.kl_loss(p, q), by_hand, atol=1e-5)


def test_a_right_angle_is_apart_enough_when_widened_by_two():
    cosine = torch.tensor([1.0, math.cos(math.pi / 4), 0.0, -1.0])
    assert_allclose(losses.nearness(cosine, 2.0), [1, 0.5, 0, 0], atol=1e-6)
    assert_allclose(losses.nearness(cosine, 1), [1, (1 + math.sqrt(0.5)) / 2, 0.5, 0], atol=1e-6)


def test_clusters_equally_far_from_each_other_are_apart_enough():
    for k in (2, 3, 10):
        cosine = torch.tensor([-1 / (k - 1)], dtype=torch.float64)
        near = losses.nearness(cosine, losses.widening_of(k, 10))
        assert_allclose(near, 0, atol=1e-6)
    assert losses.widening_of(20, 10) == 2.0  # no room for 20 in 10 dimensions


@pytest.mark.parametrize("loss", [losses.must_link_loss, losses.cannot_link_loss])
def test_pair_losses_stay_finite_at_certainty(loss):
    q = torch.eye(2).repeat(2, 1).requires_grad_()
    value = loss(losses.overlap(q[:2], q[[0, 0]]), torch.ones(2))
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(q.grad).all()


def test_a_choice_is_likelier_the_more_similar_the_named_pair():
    even, clear = torch.tensor([[0.5, 0.5, 0.5]]), torch.tensor([[0.9, 0.1, 0.1]])
    one = torch.ones(1)
    assert_allclose(losses.choice_loss(even, one), math.log(3), rtol=1e-6)
    by_hand = -math.log(1 / (1 + 2 * math.exp(-losses.TRIPLE_SHARPNESS * 0.8)))
    assert_allclose(losses.choice_loss(clear, one), by_hand, rtol=1e-5)
    assert_allclose(losses.undecided_loss(even, one), 0, atol=1e-12)
    assert_allclose(losses.undecided_loss(clear, one), np.var([0.9, 0.1, 0.1]), rtol=1e-6)


def test_sizes_cost_nothing_when_equal_and_ease_rewards_certainty():
    certain, even = torch.eye(2), torch.full((2, 2), 0.5)
    assert_allclose([losses.size_loss(certain), losses.size_loss(even)], 0, atol=1e-12)
    assert_allclose(losses.size_loss(certain[[0, 0]]), 0.5)
    easy = torch.ones(2)
    assert losses.difficulty_loss(certain, easy) < losses.difficulty_loss(even, easy)


def test_kmeans_is_as_good_as_scikit_learns(seed):
    rng = np.random.RandomState(seed)
    X = rng.randn(200, 3) + 6 * rng.randint(4, size=(200, 1))
    found = kmeans(torch.as_tensor(X), 4, n_init=10, generator=torch.Generator().manual_seed(seed))
    cost = ((X - found.centers.numpy()[found.labels]) ** 2).sum()
    peer = KMeans(4, n_init=10, random_state=seed).fit(X).inertia_
    assert cost <= peer * 1.001


def test_starts_that_do_not_fit_at_once_are_tried_one_by_one(monkeypatch):
    codes = torch.rand(50, 2, generator=torch.Generator().manual_seed(0))
    found = [kmeans(codes, 3, n_init=7, generator=torch.Generator().manual_seed(0))]
    monkeypatch.setattr("likewise.deep.torch_kmeans.LARGEST", 1)
    found.append(kmeans(codes, 3, n_init=7, generator=torch.Generator().manual_seed(0)))
    assert_allclose(found[0].centers, found[1].centers, rtol=1e-5)


def test_lloyds_steps_end_at_the_means_of_the_clusters():
    codes = torch.tensor([[0.0], [1.0], [10.0], [12.0]])
    found = improve(codes, torch.tensor([[[0.0], [1.0]]]), 100)
    assert_allclose(found.centers[:, 0].sort().values, [0.5, 11])
    assert found.labels[0] == found.labels[1] != found.labels[2] == found.labels[3]
