"""A participant of a study: instructions, trials, a code, and nothing else."""

import numpy as np

from likewise.labeling import Question
from likewise.studio import RowGallery, StudioSettings, Visitors
from likewise.studio.study import Study


def test_a_participant_reads_answers_and_gets_a_code(visit, served):
    X = np.repeat(9.0 * np.eye(3), 10, axis=0)
    X += np.random.default_rng(0).normal(size=X.shape)
    gallery = RowGallery("Points", "table", 30, columns={"x": X[:, 0], "y": X[:, 1]})
    pairs = tuple(Question("pair", (row, row + 10)) for row in range(3))
    study = Study(("p1",), 3, "Points", "Look at both.\n\nThen decide.", questions=pairs)
    visitors = Visitors("the-token")
    visitors.bind("link-p1", "p1")
    settings = StudioSettings(study=study, codes={"p1": "K7F2"}, learns=False)
    place = served(X, gallery, settings=settings, visitors=visitors, kinds=("pair",))
    person = visit(place.link.replace("the-token", "link-p1"))
    page = person.page
    page.get_by_role("heading", name="Instructions").wait_for()
    assert page.locator(".entering .text").all_inner_texts() == ["Look at both.", "Then decide."]
    page.get_by_role("button", name="Begin").press("Enter")
    for trial in (1, 2, 3):
        question = person.question()
        assert page.locator(".trials").inner_text() == f"Trial {trial} of 3"
        assert page.locator("nav, .map, .progress, .why, select").count() == 0
        person.press("n")
        person.wait_past(question["id"])
    page.get_by_text("K7F2").wait_for()
    assert [event.choice for event in place.events("answer")] == ["apart"] * 3
    page.reload()
    page.get_by_text("K7F2").wait_for()
