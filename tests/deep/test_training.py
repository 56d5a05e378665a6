import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

torch = pytest.importorskip("torch")

from likewise.constraints import Constraints  # noqa: E402
from likewise.deep import checkpoints, epochs, losses, pair_filter, training  # noqa: E402
from likewise.deep.batches import answers_by_kind, plan_answers, plan_kind, plan_rows  # noqa: E402
from likewise.deep.distributed import World  # noqa: E402
from likewise.deep.images import draw_warps, warp  # noqa: E402
from likewise.deep.mapping import network_map  # noqa: E402
from likewise.deep.networks import Autoencoder, start_weights, through  # noqa: E402
from likewise.deep.objective import Objective, kind_weights  # noqa: E402
from likewise.deep.state import make_problem, start_state  # noqa: E402
from likewise.deep.torch_kmeans import kmeans  # noqa: E402
from likewise.files.tensor_file import ModelFileError  # noqa: E402
from tests.deep.problems import (  # noqa: E402
    ALL_KINDS,
    PLAIN,
    RESUMED,
    TOGETHER,
    draw_blobs,
    fit,
    nothing,
)


def assert_equal_results(one, other):
    assert_array_equal(one.labels, other.labels)
    for left, right in zip(one.encoder + one.decoder, other.encoder + other.decoder):
        assert_array_equal(left[0], right[0])
        assert_array_equal(left[1], right[1])
    assert_array_equal(one.centers, other.centers)
    assert_array_equal(one.objective, other.objective)


def plain_idec(X, settings, seed):
    """IDEC written out: guo2017's loss, torch's Adam, nothing of the room's training."""
    rows = torch.as_tensor(X)
    generator = torch.Generator().manual_seed(seed)
    scale = float(np.sqrt(X.var(axis=0, dtype=np.float64).mean()))
    model = Autoencoder((4, 8, 3), on_sphere=False, offset=X.mean(axis=0), scale=scale)
    start_weights(model, generator)
    standard = (rows - rows.mean(dim=0)) / scale
    with torch.no_grad():
        codes = model.encode(rows)
        factor = (training.SPREAD / (codes - codes.mean(dim=0)).square().sum(dim=1).mean()).sqrt()
        model.encoder[-1].weight *= factor
        model.encoder[-1].bias *= factor
        model.decoder[0].weight /= factor
        start = kmeans(model.encode(rows), 3, n_init=training.N_INIT, generator=generator)
    centers = torch.nn.Parameter(start.centers)
    optimizer = torch.optim.Adam([*model.parameters(), centers], lr=settings.learning_rate)

    def assignments(codes):
        q = 1 / (1 + torch.cdist(codes, centers) ** 2)
        return q / q.sum(dim=1, keepdim=True)

    for _ in range(settings.max_epochs):
        with torch.no_grad():
            q = assignments(model.encode(rows))
            p = q**2 / q.sum(dim=0)
            p = p / p.sum(dim=1, keepdim=True)
        for at in plan_rows(len(X), settings.batch_size, generator, World(0, 1)):
            codes = model.encode(rows[at])
            back = through(model.decoder, codes)
            kl = (p[at] * torch.log(p[at] / (assignments(codes) + losses.IN_KL))).sum(dim=1).mean()
            loss = settings.kl_weight * kl + ((back - standard[at]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return assignments(model.encode(rows)).argmax(dim=1).numpy(), centers.detach().numpy()


def test_without_answers_it_is_plain_idec(seed):
    X, _ = draw_blobs(seed)
    labels, centers = plain_idec(X, PLAIN, seed)
    trained = fit(PLAIN, X, seed=seed)
    assert_array_equal(trained.labels, labels)
    assert_allclose(trained.centers, centers, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("loss", ["student", "angular"])
def test_answers_bring_the_clusters_to_the_classes(loss, seed):
    rng = np.random.RandomState(seed)
    X = rng.randn(120, 4).astype(np.float32)
    X[:, 0] *= 3  # the spread says nothing: the class is the sign of another column
    X[:, 1] += np.where(rng.rand(120) < 0.5, 1.0, -1.0)
    y = (X[:, 1] > 0).astype(int)
    answers = Constraints.from_labels(y, n_pairs=400, random_state=seed)
    settings = replace(
        PLAIN, n_clusters=2, widths=(32, 5), loss=loss, max_epochs=60, kl_weight=0.01
    )
    without = adjusted_rand_score(y, fit(replace(settings, max_epochs=1), X, seed=seed).labels)
    learned = adjusted_rand_score(y, fit(settings, X, answers, seed=seed).labels)
    assert learned > max(0.8, without + 0.3)


@pytest.mark.parametrize("loss", ["student", "angular"])
def test_a_must_link_alone_brings_its_rows_into_one_cluster(loss):
    X, _ = draw_blobs()
    labels = fit(PLAIN, X).labels
    i, j = 0, int(np.flatnonzero(labels != labels[0])[0])
    settings = replace(PLAIN, loss=loss, must_link_weight=30.0, max_epochs=40)
    trained = fit(settings, X, Constraints(60, must_link=[(i, j)]))
    assert trained.labels[i] == trained.labels[j]


def test_triples_alone_move_the_codes_as_they_say(seed):
    X, y = draw_blobs(seed)
    answers = Constraints.from_labels(1 - (y == 0), n_odd_one_out=60, random_state=seed)
    settings = replace(PLAIN, loss="angular", triple_weight=5.0, max_epochs=30, kl_weight=0.0)
    a, b, odd = answers.odd_one_out.T

    def share_kept(trained):
        z = network_map(trained, "angular").transform(X)
        near, far = (z[a] * z[b]).sum(1), np.maximum((z[a] * z[odd]).sum(1), (z[b] * z[odd]).sum(1))
        return np.mean(near > far)

    start = share_kept(fit(replace(settings, triple_weight=0.0, max_epochs=1), X, seed=seed))
    assert share_kept(fit(settings, X, answers, seed=seed)) > max(0.85, start + 0.1)


def test_the_same_seed_gives_the_same_result_and_another_gives_another():
    settings = replace(PLAIN, pretraining="short")
    once, again = fit(settings, answers=ALL_KINDS), fit(settings, answers=ALL_KINDS)
    assert_equal_results(once, again)
    assert not np.array_equal(once.centers, fit(settings, answers=ALL_KINDS, seed=1).centers)


# ---- the loss of a step


def start_clusters(answers, settings):
    X, _ = draw_blobs()
    device, world = torch.device("cpu"), World(0, 1)
    problem = make_problem(X, answers, nothing(), None, settings, device, world)
    state = start_state(X, settings, device, seed=0)
    training.start_clusters(problem, state)
    target = losses.target_assignments(training.look(problem, state)[1])
    objective = Objective(state.model, problem.rows, problem.answers, target, None, settings, world)
    return problem, state, objective


def step_loss(answers, settings):
    problem, state, objective = start_clusters(answers, settings)
    every = [torch.arange(len(one.positions)) for one in problem.answers.values()]
    value = objective.together(torch.arange(60), torch.zeros(0, 1), *every).item()
    return problem.rows, state.model, value


@pytest.mark.parametrize("loss", ["student", "angular"])
def test_a_steps_loss_is_the_sum_of_its_parts_done_by_hand(loss):
    settings = replace(TOGETHER, loss=loss, must_link_weight=2.0, triple_weight=3.0)
    rows, model, value = step_loss(ALL_KINDS, settings)
    with torch.no_grad():
        codes, back, q = model(rows)
        standard = model.autoencoder.standardize(rows)
        target = losses.target_assignments(q)
        total = float((back - standard).square().mean() + 0.1 * losses.kl_loss(target, q))

    def similarity(i, j, widening=1.0):
        if loss == "student":
            return float(q[i] @ q[j])
        angle = np.arccos(float(codes[i] @ codes[j]))
        return (1 + np.cos(widening * angle)) / 2 if angle <= np.pi / widening else 0.0

    def choice(*alike):
        z = losses.TRIPLE_SHARPNESS * np.array(alike)
        return -np.log(np.exp(z[0]) / np.exp(z).sum())

    wide = losses.widening_of(3, 3)
    must = [(0, 1, 0.5), (2, 3, 1.0), (4, 5, 1.5)]
    apart = [(0, 9, 2 / 3), (1, 8, 4 / 3)]
    odd = [(0, 1, 2, 2 / 3), (3, 4, 5, 4 / 3)]
    pairs = 2.0 * sum(-w * np.log(similarity(i, j)) for i, j, w in must)
    pairs += sum(-w * np.log(1 - similarity(i, j, wide)) for i, j, w in apart)
    triples = sum(
        w * choice(similarity(i, j), similarity(i, k), similarity(j, k)) for i, j, k, w in odd
    )
    triples += choice(similarity(6, 7), similarity(6, 8))
    triples += np.var([similarity(9, 10), similarity(9, 11), similarity(10, 11)])
    assert_allclose(value, total + pairs / 5 + 3 * triples / 4, rtol=1e-4)


def test_the_loss_of_one_kind_is_a_mean_over_the_answers_that_count_with_rows_of_must_links():
    answers = Constraints(60, must_link=[(0, 1), (2, 3)], cannot_link=[(4, 5)])
    settings = replace(PLAIN, must_link_weight=2.0, cannot_link_weight=3.0)
    problem, state, objective = start_clusters(answers, settings)
    with torch.no_grad():
        problem.answers["must_link"].weights[1] = 0.0  # filtered out
        _, back, q = state.model(problem.rows)
        error = (back - state.model.autoencoder.standardize(problem.rows)).square().mean(dim=1)
        none = torch.zeros(0, 1)
        must = objective.of_answers("must_link", torch.tensor([0, 1, 2]), none, 1 / 3)
        cannot = objective.of_answers("cannot_link", torch.tensor([0]), none, 1.0)
        filler = objective.of_answers("cannot_link", torch.tensor([1]), none, 1.0)
    assert_allclose(must, -2 * torch.log(q[0] @ q[1]) + error[0] + error[1], rtol=1e-5)
    assert_allclose(cannot, -3 * torch.log(1 - q[4] @ q[5]), rtol=1e-5)
    assert filler == 0


@pytest.mark.parametrize("wide", [False, True])
def test_codes_are_spread_where_they_are_too_close_and_no_row_changes(wide):
    problem, state, _ = start_clusters(nothing(), PLAIN)
    autoencoder = state.model.autoencoder
    with torch.no_grad():
        autoencoder.encoder[-1].weight.mul_(100.0 if wide else 0.01)
    codes, (_, back) = training.encode_rows(problem, state), autoencoder(problem.rows)
    training.spread_codes(problem, state)
    assert_allclose(autoencoder(problem.rows)[1].detach(), back.detach(), rtol=1e-3, atol=1e-4)
    spread = training.encode_rows(problem, state)
    if wide:
        assert_allclose(spread, codes)
    else:
        assert_allclose(spread.var(dim=0, correction=0).sum(), training.SPREAD, rtol=1e-3)


def test_without_answers_steps_apart_are_steps_together():
    assert_equal_results(fit(PLAIN), fit(TOGETHER))


def test_steps_apart_pull_must_links_together_and_push_cannot_links_apart():
    X, y = draw_blobs(spread=6.0)
    answers = Constraints.from_labels(y, n_pairs=150, random_state=0)
    ends, sign = answers.signed_pairs()

    def share_kept(*told):
        fits = (fit(replace(PLAIN, max_epochs=40), X, *told, seed=seed) for seed in range(3))
        labels = np.array([trained.labels for trained in fits])
        return np.mean((labels[:, ends[:, 0]] == labels[:, ends[:, 1]]) == (sign > 0))

    assert share_kept(answers) > share_kept() + 0.1


@pytest.mark.parametrize("size", [1, 3])
def test_each_answer_that_counts_is_seen_once_in_steps_of_its_kind(size):
    one = answers_by_kind(Constraints(60, must_link=[(i, i + 20) for i in range(11)]), "cpu")
    one["must_link"].weights[[2, 7]] = 0.0

    def seen(rank):
        generator = torch.Generator().manual_seed(0)
        return plan_kind(one["must_link"], 4, generator, World(rank, size))

    parts, shares = zip(*(seen(rank) for rank in range(size)))
    assert len({part.shape for part in parts}) == 1
    assert all(torch.equal(shares[0], one) for one in shares)
    assert_allclose(shares[0].sum() * parts[0].shape[1] * size, 9)
    every = torch.cat([part.flatten() for part in parts])
    assert sorted(every[every < 11].tolist()) == [0, 1, 3, 4, 5, 6, 8, 9, 10]
    one["must_link"].weights.zero_()
    assert len(seen(0)[0]) == 0


def test_a_pair_counts_as_much_as_a_pair_whatever_its_kind():
    answers = answers_by_kind(ALL_KINDS, "cpu")
    weights = kind_weights(answers, TOGETHER, 60, World(0, 1))
    assert_allclose([weights["must_link"], weights["cannot_link"]], [3 / 5, 2 / 5])
    assert_allclose(weights["odd_one_out"], 2 / 4)
    shared = kind_weights(answers, TOGETHER, 60, World(0, 2))
    assert shared["must_link"] == 2 * weights["must_link"]  # each of 3 steps has 1 of 2 to fill up


def test_answers_of_weight_zero_do_not_count():
    more = Constraints(60, must_link=[(0, 1), (5, 40)], weights=[1, 0])
    fewer = Constraints(60, must_link=[(0, 1)])
    assert_equal_results(fit(answers=more), fit(answers=fewer))


def test_kinds_of_weight_zero_do_not_count():
    nil = replace(PLAIN, must_link_weight=0.0, cannot_link_weight=0.0, triple_weight=0.0)
    assert_equal_results(fit(nil, answers=ALL_KINDS), fit(PLAIN))


@pytest.mark.parametrize("drop_share", [None, 0.2])
def test_codes_that_are_no_numbers_end_training_whatever_would_read_them(drop_share):
    X, y = draw_blobs()
    answers = Constraints.from_labels(y[::-1], n_pairs=40, random_state=0)
    held_out = Constraints.from_labels(y, n_pairs=40, random_state=1)
    lost = replace(TOGETHER, learning_rate=1e30, drop_share=drop_share, batch_size=60)  # one step
    trained = fit(lost, X, answers, held_out=held_out)
    assert_array_equal(np.isnan(trained.objective), [False, True])
    assert len(trained.n_kept) == 2


def test_a_filter_that_keeps_every_pair_equals_no_filter(monkeypatch):
    rng = np.random.RandomState(0)
    answers = Constraints.from_labels(rng.randint(3, size=60), n_pairs=30, random_state=0)
    filtered = fit(replace(PLAIN, drop_share=0.0), answers=answers)
    unfiltered = fit(PLAIN, answers=answers)
    assert not np.array_equal(filtered.centers, unfiltered.centers)  # some pairs cost nothing

    def all_costly(codes, centers, pairs, share, multipliers):
        return np.ones(len(pairs.ends), dtype=bool), multipliers

    monkeypatch.setattr(training, "filter_pairs", all_costly)
    assert_equal_results(fit(replace(PLAIN, drop_share=0.0), answers=answers), unfiltered)


def test_a_filter_that_keeps_no_pair_equals_no_pairs():
    answers = Constraints.from_labels(draw_blobs()[1], n_pairs=30, random_state=0)
    trained = fit(replace(PLAIN, drop_share=1.0, max_epochs=1), answers=answers)
    assert_array_equal(trained.n_kept, [0])
    with_pairs = fit(replace(PLAIN, max_epochs=1), answers=answers)
    without = fit(replace(PLAIN, max_epochs=1))
    assert trained.objective[0] < with_pairs.objective[0]
    assert_allclose(trained.objective, without.objective, rtol=0.05)


@pytest.mark.parametrize("shape", [None, (2, 2)])
def test_an_epoch_of_steps_apart_whose_pairs_are_all_left_out_learns_from_rows(shape):
    settings = replace(PLAIN, image_shape=shape, max_epochs=1)
    answers = Constraints(60, must_link=[(0, 1)], cannot_link=[(2, 3)])
    trained = fit(replace(settings, drop_share=1.0), answers=answers)
    assert_array_equal(trained.n_kept, [0])
    assert_equal_results(trained, fit(settings))


def test_contradictory_answers_end_in_finite_numbers():
    pairs = [(i, i + 1) for i in range(0, 40, 2)]
    answers = Constraints(60, must_link=pairs, cannot_link=pairs, undecided=[(0, 1, 2)])
    for loss in ("student", "angular"):
        trained = fit(replace(PLAIN, loss=loss, max_epochs=10), answers=answers)
        assert np.isfinite(trained.objective).all()
        assert np.isfinite(trained.centers).all()


def test_equal_rows_end_in_finite_numbers():
    for loss in ("student", "angular"):
        trained = fit(replace(PLAIN, loss=loss), np.ones((60, 4), dtype=np.float32))
        assert np.isfinite(trained.centers).all()


def test_sizes_and_ease_change_the_result():
    plain = fit()
    assert not np.array_equal(fit(replace(PLAIN, size_weight=5.0)).centers, plain.centers)
    eased = fit(ease=np.ones(60, dtype=np.float32))
    assert not np.array_equal(eased.centers, plain.centers)


def test_held_out_answers_choose_the_epoch(monkeypatch):
    monkeypatch.setattr(training, "PATIENCE", 3)
    X, y = draw_blobs(seed=2)
    held_out = Constraints.from_labels(y, n_pairs=60, random_state=1)
    answers = Constraints.from_labels(y, n_pairs=30, random_state=2)
    settings = replace(PLAIN, max_epochs=40, must_link_weight=5.0)
    trained = fit(settings, X, answers, held_out=held_out)
    best = int(np.argmax(trained.held_out))
    assert best > 0
    assert len(trained.objective) == best + 3 == len(trained.held_out) - 1
    assert_array_equal(trained.labels, fit(replace(settings, max_epochs=best), X, answers).labels)


def test_held_out_answers_may_choose_the_last_epoch():
    X, y = draw_blobs(seed=5)
    held_out = Constraints.from_labels(y, n_pairs=60, random_state=1)
    answers = Constraints.from_labels(y, n_pairs=30, random_state=2)
    settings = replace(PLAIN, max_epochs=8, must_link_weight=5.0)
    trained = fit(settings, X, answers, held_out=held_out, seed=5)
    assert np.argmax(trained.held_out) == 8 == len(trained.objective)
    assert_array_equal(trained.centers, fit(settings, X, answers, seed=5).centers)


def test_training_ends_when_hardly_a_row_changes():
    trained = fit(replace(PLAIN, max_epochs=50, tol=0.02))
    assert trained.converged
    assert len(trained.objective) < 50


def test_layer_wise_pretraining_finds_codes_that_rows_can_be_made_from():
    X, _ = draw_blobs()
    settings = replace(PLAIN, pretraining="layer-wise", pretraining_epochs=200, max_epochs=1)
    start = fit(replace(PLAIN, max_epochs=1, kl_weight=0.0)).objective[0]
    assert fit(settings, X).objective[0] < 0.7 * start


# ---- plans


@pytest.mark.parametrize(("n", "batch", "size"), [(10, 4, 1), (60, 20, 2), (7, 100, 3)])
def test_every_row_and_answer_is_seen_in_an_epoch(n, batch, size):
    def seen(plan, *given):
        return np.concatenate(
            [
                plan(*given, torch.Generator().manual_seed(0), World(rank, size)).flatten()
                for rank in range(size)
            ]
        )

    rows = seen(plan_rows, n, batch)
    assert set(rows) == set(range(n))
    answers = seen(plan_answers, n, 3)
    assert sorted(answers[answers < n]) == list(range(n))
    assert (answers <= n).all()


def test_no_warp_leaves_an_image_and_a_shift_moves_it():
    image = torch.zeros(1, 25)
    image[0, 12] = 1.0  # the middle of 5 x 5
    still = torch.zeros(1, 6)
    assert_allclose(warp(image, still, (5, 5)), image, atol=1e-6)
    aside = still.clone()
    aside[0, 4] = 2.0  # twice SHIFT of the side: one pixel
    assert int(warp(image, aside, (5, 5)).argmax()) == 11
    numbers = draw_warps(100, torch.Generator().manual_seed(0))
    assert numbers.abs().max() <= 1


# ---- killed and resumed


class Killed(Exception):
    pass


@pytest.fixture
def kill_after(monkeypatch):
    """Raise in place of the save after some, as a kill between epochs would."""
    monkeypatch.setattr(checkpoints, "CHECKPOINT_SECONDS", 0.0)
    save = checkpoints.Checkpoint.save

    def set_up(n_saves):
        left = [n_saves]

        def counted(self, collect):
            save(self, collect)
            left[0] -= 1
            if left[0] == 0:
                raise Killed

        monkeypatch.setattr(checkpoints.Checkpoint, "save", counted)

    return set_up


@pytest.mark.parametrize("n_saves", [1, 2, 3, 6])
@pytest.mark.parametrize("loss", ["student", "angular"])
def test_a_resumed_run_ends_as_the_whole_one(loss, n_saves, kill_after, tmp_path, monkeypatch):
    monkeypatch.setattr(pair_filter, "LARGEST_PROGRAM", 0)  # so that the last prices are begun with
    monkeypatch.setattr(pair_filter, "N_CLIMBS", 3 if loss == "student" else 100)
    settings = replace(RESUMED, loss=loss, decay=True)
    X, y = draw_blobs()
    answers = Constraints.from_labels(
        np.random.RandomState(0).permutation(y), n_pairs=40, random_state=0
    )
    held_out = Constraints.from_labels(y, n_pairs=40, random_state=1)
    whole = fit(settings, X, answers, held_out=held_out)
    assert whole.n_kept.all()
    kill_after(n_saves)
    with pytest.raises(Killed):
        fit(settings, X, answers, held_out=held_out, checkpoint=tmp_path / "state")
    assert (tmp_path / "state").exists()
    kill_after(1000)
    resumed = fit(settings, X, answers, held_out=held_out, checkpoint=tmp_path / "state")
    assert_equal_results(resumed, whole)
    assert_array_equal(resumed.held_out, whole.held_out)
    assert not (tmp_path / "state").exists()


def test_a_checkpoint_of_another_problem_is_refused(kill_after, tmp_path):
    kill_after(3)
    with pytest.raises(Killed):
        fit(RESUMED, answers=ALL_KINDS, checkpoint=tmp_path / "state")
    with pytest.raises(ModelFileError, match="other rows, answers or settings"):
        fit(RESUMED, answers=ALL_KINDS.subset([0, 1]), checkpoint=tmp_path / "state")
    with pytest.raises(ModelFileError, match="other rows, answers or settings"):
        fit(replace(RESUMED, kl_weight=0.3), answers=ALL_KINDS, checkpoint=tmp_path / "state")
    ease = np.ones(60, dtype=np.float32)
    with pytest.raises(ModelFileError, match="other rows, answers or settings"):
        fit(RESUMED, answers=ALL_KINDS, ease=ease, checkpoint=tmp_path / "state")


# As one of two processes, and then alone until it is killed.
PROGRAM = """
import os, signal, sys
import numpy as np
from likewise.deep import checkpoints
from likewise.constraints import Constraints
from likewise.deep import DeepConstrainedClustering, TrainingPlan
from likewise.deep.distributed import leave
from tests.deep.problems import ALL_KINDS, PLAIN, RESUMED, TOGETHER, draw_blobs, fit

folder = sys.argv[1]
for settings in (PLAIN, TOGETHER):
    trained = fit(settings, answers=ALL_KINDS)
    name = f"{os.environ['RANK']}-{settings.answers_apart}.npz"
    told = {"centers": trained.centers, "weights": trained.encoder[0][0]}
    np.savez(f"{folder}/{name}", labels=trained.labels, objective=trained.objective, **told)
X, y = draw_blobs()
answers = Constraints.from_labels(y, n_pairs=90, random_state=0)
plan = TrainingPlan(pretraining="none", max_epochs=2)
model = DeepConstrainedClustering(3, encoder=(8, 3), training=plan, held_out_share=0.5)
model.fit(X, constraints=answers)  # seeds of their own
np.save(f"{folder}/{os.environ['RANK']}.npy", model.held_out_)
if os.environ["RANK"] == "1":
    sys.exit()
leave()
os.environ["WORLD_SIZE"] = "1"
checkpoints.CHECKPOINT_SECONDS = 0.0
save, left = checkpoints.Checkpoint.save, [4]
def counted(self, collect):
    save(self, collect)
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
checkpoints.Checkpoint.save = counted
fit(RESUMED, answers=ALL_KINDS, checkpoint=f"{folder}/state")
"""


def run_world(folder):
    """Two processes, started as torchrun starts them; the first is killed in the end."""
    (folder / "program.py").write_text(PROGRAM)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    world = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    root = Path(__file__).parents[2]
    world |= {"PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}", "OMP_NUM_THREADS": "1"}
    programs = [
        subprocess.Popen(
            [sys.executable, folder / "program.py", folder],
            env={**os.environ, **world, "RANK": rank, "LOCAL_RANK": rank},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in "01"
    ]
    for program, code in zip(programs, (-signal.SIGKILL, 0)):
        told = program.communicate(timeout=300)[1]
        assert program.returncode == code, told


def test_two_processes_end_as_one_does_and_a_killed_one_is_resumed(tmp_path):
    run_world(tmp_path)
    for settings in (PLAIN, TOGETHER):
        alone = fit(settings, answers=ALL_KINDS)
        for rank in "01":
            saved = np.load(tmp_path / f"{rank}-{settings.answers_apart}.npz")
            assert_array_equal(saved["labels"], alone.labels)
            assert_allclose(saved["centers"], alone.centers, rtol=1e-3, atol=1e-3)
            assert_allclose(saved["weights"], alone.encoder[0][0], rtol=1e-3, atol=1e-3)
            assert_allclose(saved["objective"], alone.objective, rtol=1e-3)
    assert_array_equal(*(np.load(tmp_path / f"{rank}.npy") for rank in "01"))
    resumed = fit(RESUMED, answers=ALL_KINDS, checkpoint=tmp_path / "state")
    assert_equal_results(resumed, fit(RESUMED, answers=ALL_KINDS))


# ---- on a GPU


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: GPU runs not tested")
def test_a_gpu_ends_near_the_cpu():
    X, y = draw_blobs(n=300, spread=1.0)
    answers = Constraints.from_labels(y, n_pairs=60, random_state=0)
    settings = replace(PLAIN, pretraining="short", max_epochs=10)
    on_gpu = training.train(X, answers, nothing(300), None, settings, device="cuda", seed=0)
    assert adjusted_rand_score(fit(settings, X, answers).labels, on_gpu.labels) > 0.95


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: GPU runs not tested")
@pytest.mark.parametrize("settings", [PLAIN, TOGETHER], ids=["apart", "together"])
def test_captured_steps_do_what_plain_ones_do(settings, monkeypatch):
    X, _ = draw_blobs()
    make_step = epochs.make_step
    captured = training.train(X, ALL_KINDS, nothing(), None, settings, device="cuda", seed=0)

    def plain_step(*given, captured):
        return make_step(*given, captured=False)

    monkeypatch.setattr(epochs, "make_step", plain_step)
    plain = training.train(X, ALL_KINDS, nothing(), None, settings, device="cuda", seed=0)
    assert_allclose(captured.objective, plain.objective, rtol=1e-3)
