"""Several people answered: who is reliable, and what becomes of the answers of who is not."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score

from likewise import Constraints, GuidedClustering
from likewise.datasets import load_wine
from likewise.guided.people import judge_people, outvoted_pairs


@pytest.fixture(scope="module")
def wine():
    data = load_wine()
    return (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), np.asarray(data.y)


def panel(y, guessing, kind="pairs", n=60, seed=0):
    """Answers of people who guess in a share of them."""
    rng = np.random.default_rng(seed)
    answers = Constraints(len(y))
    for number, (name, share) in enumerate(guessing.items()):
        drawn = Constraints.from_labels(y, random_state=10 * seed + number, **{f"n_{kind}": n})
        guessed = rng.random(n) < share
        if kind == "pairs":
            pairs, sign = drawn.signed_pairs()
            sign = np.where(guessed, rng.choice([-1, 1], n), sign)
            said = {"must_link": pairs[sign > 0], "cannot_link": pairs[sign < 0]}
        else:
            triples = drawn.odd_one_out.copy()
            triples[guessed] = rng.permuted(triples[guessed], axis=1)
            said = {"odd_one_out": triples}
        answers += Constraints(len(y), **said, annotators=[name] * n)
    return answers


@pytest.mark.parametrize("kind", ["pairs", "odd_one_out"])
def test_somebody_who_guesses_is_found_and_all_their_answers_are_set_aside(wine, kind):
    X, y = wine
    answers = panel(y, {"ann": 0.0, "bob": 0.0, "eve": 1.0}, kind)
    people = judge_people(X, answers, 0)
    assert people.names.tolist() == ["ann", "bob", "eve"]
    assert people.reliabilities[:2].min() > 0.8
    assert people.reliabilities[2] < 0.35
    assert not people.is_kept[answers.annotators == "eve"].any()
    assert people.is_kept[answers.annotators != "eve"].all()


def test_the_model_is_the_one_without_them(wine):
    X, y = wine
    answers = panel(y, {"ann": 0.0, "bob": 0.0, "eve": 1.0})
    model = GuidedClustering(3, random_state=0).fit(X, constraints=answers)
    without = answers.subset(answers.annotators != "eve")
    other = GuidedClustering(3, random_state=0).fit(X, constraints=without)
    assert adjusted_rand_score(model.labels_, other.labels_) > 0.95
    assert_array_equal(model.annotators_, ["ann", "bob", "eve"])
    by_eve = np.flatnonzero(answers.annotators == "eve")
    assert set(by_eve) <= set(model.doubtful_.tolist())
    assert (model.doubts_[by_eve] == 1).all()
    assert (model.pulls_[by_eve] == 0).all()
    assert "people: eve" in str(model.report_)
    assert "about as good as guessing" in str(model.report_)


def test_of_somebody_who_slips_mostly_slips_are_set_aside(wine):
    X, y = wine
    answers = panel(y, {"ann": 0.0, "bob": 0.0, "eve": 0.4}, "odd_one_out", n=90)
    people = judge_people(X, answers, 0)
    assert 0.3 < people.reliabilities[2] < 0.85
    a, b, odd = answers.odd_one_out.T
    is_wrong = ~((y[a] == y[b]) & (y[odd] != y[a]))
    dropped = ~people.is_kept
    assert is_wrong[dropped].mean() > 0.7
    assert dropped[is_wrong].mean() > 0.6


def test_careful_people_keep_every_answer(wine):
    X, y = wine
    people = judge_people(X, panel(y, {"ann": 0.0, "bob": 0.0}), 0)
    assert people.is_kept.all()


def test_one_person_or_few_answers_are_not_judged(wine):
    X, y = wine
    assert judge_people(X, panel(y, {"ann": 0.0}), 0) is None
    assert judge_people(X, panel(y, {"ann": 0.0, "bob": 0.0}, n=9), 0) is None
    assert judge_people(X, Constraints.from_labels(y, n_pairs=60, random_state=0), 0) is None
    model = GuidedClustering(3, random_state=0).fit(X, constraints=panel(y, {"ann": 0.0}))
    assert model.annotators_ is None
    assert model.report_.people == ""


def test_everybody_gets_a_clustering_of_their_own(wine):
    X, y = wine
    merged = np.where(y == 2, 1, y)
    ann = Constraints.from_labels(y, n_pairs=60, random_state=0)
    bob = Constraints.from_labels(merged, n_pairs=60, random_state=1)
    named = [
        Constraints(
            len(y), must_link=c.must_link, cannot_link=c.cannot_link, annotators=[name] * 60
        )
        for name, c in (("ann", ann), ("bob", bob))
    ]
    models = GuidedClustering(random_state=0).fit_by_annotator(X, constraints=named[0] + named[1])
    assert list(models) == ["ann", "bob"]
    assert adjusted_rand_score(y, models["ann"].labels_) > 0.8
    assert adjusted_rand_score(merged, models["bob"].labels_) > adjusted_rand_score(
        y, models["bob"].labels_
    )
    with pytest.raises(ValueError, match="name nobody"):
        GuidedClustering().fit_by_annotator(X, constraints=ann)


def seen_by_all(y, merged, kind, seed=0):
    drawn = [
        Constraints.from_labels(classes, random_state=10 * seed + i, **{f"n_{kind}": 60})
        for i, classes in enumerate((y, y, merged))
    ]
    answers = Constraints(len(y))
    for name, one in zip(("ann", "bob", "eve"), drawn):
        kinds = {kind: getattr(one, kind) for kind in ("must_link", "cannot_link", "odd_one_out")}
        answers += Constraints(len(y), **kinds, annotators=[name] * 60)
    return answers


@pytest.mark.parametrize("kind", ["pairs", "odd_one_out"])
def test_who_joins_two_groups_keeps_all_other_answers(wine, kind):
    X, y = wine
    answers = seen_by_all(y, np.minimum(y, 1), kind)
    model = GuidedClustering(3, random_state=0).fit(X, constraints=answers)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert "; eve sees clusters" in model.report_.people
    assert " as one (" in model.report_.people
    set_aside = np.intersect1d(model.doubtful_, np.flatnonzero(answers.annotators == "eve"))
    pairs, sign = answers.signed_pairs()
    if kind == "pairs":
        across = (y[pairs].min(axis=1) == 1) & (y[pairs].max(axis=1) == 2) & (sign > 0)
        assert np.isin(np.flatnonzero(across), set_aside).mean() > 0.8
    assert len(set_aside) < 40  # of 60


def test_camps_are_told(wine):
    X, y = wine
    rng = np.random.default_rng(0)
    answers = Constraints(len(y))
    for _ in range(60):
        a, b = rng.choice(len(y), 2, replace=False)
        for name, classes in (("ann", y), ("bob", y), ("dan", y % 2), ("eve", y % 2)):
            kind = "must_link" if classes[a] == classes[b] else "cannot_link"
            answers += Constraints(len(y), **{kind: [(a, b)]}, annotators=[name])
    model = GuidedClustering(3, random_state=0).fit(X, constraints=answers)
    assert "camps by the questions they share: ann, bob | dan, eve" in model.report_.people


def test_pairs_that_others_contradict_at_least_as_often_are_outvoted():
    answers = Constraints(
        8,
        must_link=[(0, 1), (1, 0), (2, 3), (4, 5), (6, 7)],
        cannot_link=[(0, 1), (3, 2), (5, 4)],
        annotators=["ann", "bob", "ann", "ann", "ann", "eve", "eve", "mad"],
    )
    who_counts = answers.annotators != "mad"
    outvoted = outvoted_pairs(answers, who_counts)
    found = {(a.kind, a.points, a.annotator) for a, out in zip(answers.answers(), outvoted) if out}
    assert found == {
        ("cannot_link", (0, 1), "eve"),  # two against one
        ("must_link", (2, 3), "ann"),  # one against one
        ("cannot_link", (3, 2), "eve"),
        ("cannot_link", (5, 4), "mad"),  # does not count
    }


def test_slips_that_contradict_others_do_not_join_groups(wine):
    """Everybody puts 60 rows with one of three; a twentieth of them wrongly."""
    X, y = wine
    rng = np.random.default_rng(0)
    shown = [int(np.flatnonzero(y == c)[0]) for c in range(3)]
    rows = np.setdiff1d(np.arange(len(y)), shown)[::2]
    answers = Constraints(len(y))
    for name in ("ann", "bob", "eve"):
        for row in rng.permutation(rows)[:60].tolist():
            said = y[row] if rng.random() > 0.05 else rng.integers(3)
            apart = [(row, shown[c]) for c in range(3) if c != said]
            answers += Constraints(
                len(y),
                must_link=[(row, shown[said])],
                cannot_link=apart,
                annotators=[name] * 3,
                screens=[f"{name} {row}"] * 3,
            )
    model = GuidedClustering(3, random_state=0).fit(X, constraints=answers)
    assert adjusted_rand_score(y, model.labels_) > 0.85
