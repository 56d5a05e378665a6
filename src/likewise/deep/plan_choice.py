"""Which way of training: by the answers, before the long run.

    images   the likelihood; how even clusters should be is tried in training  (code_training.py)
    rows     angles, Student's t, the likelihood: each is fitted to three quarters of the answers
             for a quarter of its epochs, and the others judge

Too few answers to judge by: the first of them.
"""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.base import clone

from likewise.constraints import Constraints
from likewise.deep.training_plan import TrainingPlan
from likewise.evaluation import answer_credits, select

TRIAL_SHARE = 0.25  # of the epochs
LEARNED_SHARE = 0.75  # of the answers


def plans_for(model) -> list[TrainingPlan]:
    """What `training="auto"` tries, the one without evidence first."""
    by_angles, by_student = TrainingPlan.named("angular"), TrainingPlan.named("student")
    likely = TrainingPlan.named("likelihood")
    likelihoods = [likely, replace(likely, sizes="answers")]
    autoencoders = [by_angles, by_student]
    if model.drop_share is not None or getattr(model.init_model, "decoder_", None):
        return autoencoders
    if model.image_shape is not None or getattr(model.init_model, "network_", None) is not None:
        return likelihoods
    return [*autoencoders, *likelihoods]


def choose_plans(model, X: np.ndarray, answers: Constraints, seed: int) -> list[TrainingPlan]:
    """The plan that predicts held-out answers best, or the likelihoods, which are tried later."""
    plans = plans_for(model)
    if all(plan.loss == "likelihood" for plan in plans):
        return plans

    def trial(plan: TrainingPlan, fit_part: Constraints, held_out: Constraints) -> np.ndarray:
        quick = clone(model).set_params(
            training=shorten(plan),
            init_model=model.init_model,
            held_out_share=0.0,
            checkpoint=None,
            random_state=seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that epochs ran out was meant
            quick.fit(X, constraints=fit_part)
        touched = held_out.touched_rows()
        return answer_credits(quick.predict_proba(X[touched]), held_out.restrict(touched))

    split = answers.split(LEARNED_SHARE, random_state=seed)
    chosen = select(plans, trial, answers, splits=[split], what="trying plans").chosen
    return [plans[chosen or 0]]


def shorten(plan: TrainingPlan) -> TrainingPlan:
    """The same with a quarter of the epochs."""
    return replace(plan, max_epochs=max(1, round(TRIAL_SHARE * plan.max_epochs)))
