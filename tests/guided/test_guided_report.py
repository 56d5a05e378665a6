"""What was tried and chosen, in plain words."""

import numpy as np

from likewise.guided.guided_report import GuidedReport, count_answers


def test_how_the_clusters_came_about_is_said_in_plain_words():
    def how(names, chosen, n_answers=30):
        none = np.empty(0, dtype=str)
        report = GuidedReport(
            *(90, 4, n_answers, "none", "", np.array(names), none, none, chosen, "", ""),
            *(np.zeros(90), 0.5, 1.0, 0, none),
        )
        return report.how

    assert "no answers" in how([], -1, n_answers=0)
    assert how([], -1).startswith("By the data alone")
    assert how(["the features as they are", "x"], 0).startswith("By the data alone")
    graph = "Learned from your answers, following the neighbor graph."
    assert how(["the neighbor graph of the features"], 0) == graph
    assert how(["a", "learned kernel (SKLR, diffusion start, C=3)"], 1) == graph
    assert "which features matter" in how(["a", "learned linear metric (ITML)"], 1)
    fields = ["the neighbor graph of the features", "smooth fields in ITML"]
    assert "near the known ones" in how(fields, 1)
    assert "nearest to" in how(["a", "nearest means in SKLR from a gaussian start"], 1)
    assert "which rows are alike" in how(["a", "learned kernel (SKLR, gaussian start, C=1)"], 1)


def test_one_answer_is_no_answers():
    assert [count_answers(n) for n in (0, 1, 2)] == ["0 answers", "1 answer", "2 answers"]
