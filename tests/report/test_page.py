"""The page as text: what it says, and that nothing in it is the user's to run."""

import base64
import hashlib
import json
import re
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from likewise import ITML, GuidedClustering
from likewise.constraints import Constraints
from likewise.report import map_data, write_report
from likewise.report import view as views
from likewise.report.answer_sections import N_CONFLICTS, N_MATTERED
from likewise.report.row_cards import RowCards
from likewise.report.shown_questions import ShownQuestion
from tests.report.made import made_model
from tests.report.test_markup import read

TAGS = re.findall(
    r"\w+",
    "html head meta title style body a header h1 p dl div dt dd nav ul li main section h2 fieldset "
    "legend label input span figure svg path text figcaption article h3 table thead tr th tbody td "
    "bdi ol code img blockquote footer script canvas button",
)
HARMFUL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


@pytest.fixture
def report_of(tmp_path):
    """Write a report and read it back."""

    def write(model, X, **given):
        write_report(tmp_path / "report.html", model, X, **given)
        return (tmp_path / "report.html").read_text(encoding="utf-8")

    return write


def two_clusters(**changed):
    X = np.array([[0.0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]])
    constraints = Constraints(
        6, must_link=[(0, 1), (3, 4)], cannot_link=[(0, 3)], odd_one_out=[(0, 1, 4)],
        closer=[(3, 4, 0)], undecided=[(0, 1, 2)], annotators=["ann"] * 6,
    )  # fmt: skip
    labels = [0, 0, 0, 1, 1, 1]
    model = made_model(X, labels, constraints=constraints, **changed)
    return model, X, constraints


def test_large_numbers_are_written_out(report_of):
    X = np.array([[21_300.0, 0], [21_100, 1], [21_200, 0], [75_700, 9], [75_500, 8], [75_600, 9]])
    words = section(report_of(made_model(X, [0, 0, 0, 1, 1, 1]), X), "clusters")
    assert "75,600" in words
    assert "e+" not in words


def section(html, name):
    return read(re.search(rf'<section id="{name}".*?</section>', html, re.S)[0]).text


def test_every_part_is_there_and_says_what_the_model_found(report_of):
    model, X, c = two_clusters(doubtful_=[2], violated_=[3], conflicts=["a clash"], chosen=0)
    html = report_of(model, X, constraints=c)
    header = read(html.partition("<nav")[0]).text
    assert "6 rows in 2 clusters, guided by 6 answers." in header
    assert "50% → 100%" in header
    assert "Cluster 1" in section(html, "clusters")
    answers = section(html, "answers")
    assert answers.startswith("Answers that matteredWhat leaving out each answer would change")
    assert "Of 4 of 6 answers," in answers  # one is doubtful, and one could not tell
    assert "Odd one out: row 4, not row 0 or row 1 (ann)." in answers
    assert "Can't tell" not in answers
    assert "cannot_link[0]" not in answers
    assert answers.count("violated") == 1
    doubts = section(html, "doubts")
    assert "a clash" in doubts
    assert "cannot_link[0] = (0, 3)" in doubts
    assert re.search(r"row 0 is in cluster 0 \(\d+%\), row 3 is in cluster 1 \(\d+%\)", doubts)
    assert "about the same rows: must_link[0] = (0, 1), must_link[1] = (3, 4)" in doubts
    assert re.search("row 5: cluster 1, .*; cluster 0, ", section(html, "rows"))
    choice = section(html, "choice")
    assert re.search("as it is 0.700 ± 0.020chosen", choice)
    assert "0.900 ± 0.010chosen" not in choice
    assert "Do row 5 and row 3 belong together?" in section(html, "next")


def test_shares_are_shown_by_kind_before_and_after(report_of):
    before = [0, 1, 0, 1, 1, 1]
    model, X, c = two_clusters(labels_before=before, satisfied_before=0.8)
    text = section(report_of(model, X, constraints=c), "satisfaction")
    assert re.search("all6.*80%.*100%.*together2.*50%.*100%.*apart1.*100%.*100%", text)
    assert re.search("odd one out1.*100%.*closer1", text)


def test_without_answers_the_page_says_so(report_of):
    X = np.array([[0.0], [1], [9]])
    html = report_of(made_model(X, [0, 0, 1]), X)
    assert "No answers were given" in read(html.partition("<nav")[0]).text
    for name in ("answers", "satisfaction"):
        assert "No answers were given." in section(html, name)
    assert 'id="show-answers"' not in html


def test_answers_that_the_report_was_not_given_are_asked_for(report_of):
    model, X, _ = two_clusters()
    assert "Pass constraints= to write_report" in section(report_of(model, X), "answers")


def test_answers_are_lines_on_both_maps_solid_for_together_and_dashed_for_apart(report_of):
    model, X, c = two_clusters()
    html = report_of(model, X, constraints=c)
    # Of the five that could be left out: two must-links, a cannot-link, an odd one out, a closer.
    for when in re.findall(r"<svg.*?</svg>", html, re.S):
        assert when.count("answer together") == 4
        assert when.count("answer apart") == 3


def test_a_doubtful_answer_that_others_imply_says_so(report_of):
    X = np.array([[0.0, 0], [0, 1], [1, 0], [9, 9]])
    c = Constraints(4, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (0, 3)])
    model = made_model(X, [0, 0, 0, 1], constraints=c, doubtful_=[2, 0], doubts_=np.full(4, 0.934))
    text = section(report_of(model, X, constraints=c), "doubts")
    assert text.count("other answers imply the opposite") == 2
    assert text.count("a model learned without it contradicts it: 93% sure") == 2


def test_answers_that_are_all_set_aside_change_nothing(report_of):
    model, X, c = two_clusters(doubtful_=list(range(6)))
    text = section(report_of(model, X, constraints=c), "answers")
    assert "Leaving out any single answer would change nothing." in text


def test_long_lists_are_cut_and_counted(report_of):
    n = 3 * N_MATTERED
    X = np.arange(2.0 * n).reshape(-1, 1)
    c = Constraints(2 * n, must_link=np.arange(2 * n).reshape(-1, 2))
    labels = np.arange(2 * n) // n
    model = made_model(X, labels, constraints=c, conflicts=[f"clash {i}." for i in range(50)])
    html = report_of(model, X, constraints=c)
    assert section(html, "answers").count("must_link[") == N_MATTERED
    doubts = section(html, "doubts")
    assert doubts.count("clash") == N_CONFLICTS
    assert f"And {50 - N_CONFLICTS} more." in doubts


def test_a_cluster_without_rows_is_named_and_shows_none(report_of):
    model, X, c = two_clusters(n_clusters_=3, cluster_centers_=np.zeros((3, 2)))
    assert "Cluster 20 rows, 0%" in section(report_of(model, X, constraints=c), "clusters")


def test_questions_can_be_given(report_of):
    model, X, c = two_clusters()
    questions = [ShownQuestion((1, 5), "Because."), (0, 1, 4)]
    text = section(report_of(model, X, constraints=c, questions=questions), "next")
    assert "Because." in text
    assert "Do row 1 and row 5 belong together?" in text
    assert "Which of row 0, row 1 and row 4 is the odd one out?" in text
    assert "Nothing left to ask: " in section(
        report_of(model, X, constraints=c, questions=[]), "next"
    )


@pytest.mark.parametrize("rows", [(1,), (0, 6), (-1, 2), (0, 1, 2, 3)], ids=str)
def test_a_question_about_other_rows_is_refused(report_of, rows):
    model, X, c = two_clusters()
    with pytest.raises(ValueError, match=r"questions\[0\] = .* must be two or three rows of X"):
        report_of(model, X, constraints=c, questions=[rows])


def test_pictures_and_texts_are_shown_as_such(report_of):
    model, X, c = two_clusters()
    html = report_of(model, X, constraints=c, images=np.random.RandomState(0).rand(6, 4, 4))
    assert len(re.findall(r'<img src="data:image/png;base64,[\w+/=]+" alt="image of', html)) > 6
    html = report_of(
        model, X, constraints=c, texts=["one  two"] * 5 + ["word " * 500], ids="abcdef"
    )
    text = section(html, "clusters")
    assert "one two" in text
    assert "word…f" in text
    assert "word " * 60 not in text


@pytest.mark.parametrize("what", ["ids", "texts"])
def test_one_of_everything_for_each_row_or_an_error(report_of, what):
    model, X, c = two_clusters()
    with pytest.raises(ValueError, match=f"{what} has 2 entries, but X has 6 rows"):
        report_of(model, X, constraints=c, **{what: ["a", "b"]})


def test_a_report_that_fails_leaves_the_old_file(tmp_path):
    model, X, _ = two_clusters()
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="images has shape"):
        write_report(path, model, X, images=np.zeros((2, 2)))
    assert path.read_text() == "old"


def test_the_same_model_gives_the_same_file(report_of):
    model, X, c = two_clusters()
    assert report_of(model, X, constraints=c) == report_of(model, X, constraints=c)


anything = st.text(max_size=20) | st.just(HARMFUL)


@settings(max_examples=30)
@given(st.lists(anything, min_size=6, max_size=6), anything, anything)
def test_no_text_of_the_user_becomes_a_tag_or_an_attribute(report_of, texts, title, annotator):
    model, X, c = two_clusters(why=texts[0], conflicts=texts, trial_names=texts[:2])
    names = [texts[1], texts[2] + "2"]
    html = report_of(
        model, X, constraints=c, texts=texts, ids=texts, feature_names=names, title=title
    )  # fmt: skip
    for page in (html, report_of(model, X, constraints=c, feature_names=names)):
        reader = read(page)
        assert set(reader.tags) <= set(TAGS)
        assert not [name for name, _ in reader.attributes if name.startswith("on")]
        links = [value for name, value in reader.attributes if name in ("href", "src")]
        assert all(link.startswith(("#", "data:image/png")) for link in links)
        assert reader.tags.count("script") == 2
        assert page.count("</script") == 2


def test_nothing_is_asked_of_the_network(report_of):
    model, X, c = two_clusters()
    html = report_of(model, X, constraints=c)
    assert any("default-src 'none'" in (value or "") for name, value in read(html).attributes)
    assert not re.search(r"https?:|@import|url\(", html)


def test_the_policy_names_the_script_by_its_hash_and_no_other(report_of):
    model, X, c = two_clusters()
    html = report_of(model, X, constraints=c)
    script = html.rpartition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src &#x27;sha256-{digest}&#x27;;" in html


def test_the_map_holds_every_row_with_its_place_cluster_and_membership(report_of):
    model, X, c = two_clusters()
    html = report_of(model, X, constraints=c, ids=[f"</script>{i}" for i in range(6)])
    text = html.partition('id="map-data">')[2].partition("</script>")[0]
    data = json.loads(text)
    assert data["names"][2] == "</script>2"
    assert data["rows"] is None
    clusters = np.frombuffer(base64.b64decode(data["cluster"]), "<u2")
    assert_array_equal(clusters, model.labels_)
    assert_array_equal(np.frombuffer(base64.b64decode(data["next"]), "<u2"), 1 - clusters)
    shares = np.frombuffer(base64.b64decode(data["share"]), "u1")
    own = model.predict_proba(X)[np.arange(6), model.labels_]
    assert np.abs(shares / 200 - own).max() <= 1 / 200
    places = np.frombuffer(base64.b64decode(data["after"]), "<u2").reshape(-1, 2)
    assert np.ptp(places, axis=0).max() == 65535


def test_a_page_of_many_rows_holds_a_sample_and_every_answered_row(report_of, monkeypatch):
    monkeypatch.setattr(views, "MAX_ROWS", 60)
    X = np.random.RandomState(0).randn(300, 3)
    c = Constraints(300, must_link=[(0, 299), (7, 150)])
    html = report_of(made_model(X, np.arange(300) % 2, constraints=c), X, constraints=c)
    assert "hold 60 of 300 rows: a sample, and all rows that answers refer to." in html
    data = json.loads(html.partition('id="map-data">')[2].partition("</script>")[0])
    rows = np.frombuffer(base64.b64decode(data["rows"]), "<u4")
    assert {0, 7, 150, 299} <= {*rows}
    assert len(rows) == 60


def test_texts_and_images_keep_to_their_budget(monkeypatch):
    rows = np.arange(50)
    cards = RowCards.of(50, None, ids=None, images=np.random.RandomState(0).rand(50, 32, 32),
                        texts=["word " * 100] * 50)  # fmt: skip
    monkeypatch.setattr(map_data, "TEXT_BUDGET", 1000)
    assert {len(text) for text in map_data.details_of(rows, cards)} == {20}
    monkeypatch.setattr(map_data, "TEXT_BUDGET", 500)
    assert map_data.details_of(rows, cards) is None
    monkeypatch.setattr(map_data, "PICTURE_BUDGET", 50 * 16**2)
    atlas = map_data.atlas_of(rows, cards)
    assert (atlas["w"], atlas["h"], atlas["columns"], atlas["of"]) == (16, 16, 8, None)
    monkeypatch.setattr(map_data, "PICTURE_BUDGET", 10 * 8**2)
    assert len(map_data.atlas_of(rows, cards)["of"]) == 10


def contrast(one, other):
    """The contrast of two colors as WCAG 2 defines it, from 1 to 21."""

    def luminance(color):
        channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(
            channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        return linear @ [0.2126, 0.7152, 0.0722]

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_words_and_dots_stand_out_from_what_is_behind_them(theme):
    style = resources.files("likewise.report").joinpath("page.css").read_text(encoding="utf-8")
    colors = dict(re.findall(r"--(\w+): (#\w{6});", style.split("@media")[theme]))
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    for behind in (colors["paper"], colors["panel"]):
        for name in ("ink", "soft", "link", "good", "bad"):
            assert contrast(colors[name], behind) >= 4.5, name
        for name in ("fill", *(f"c{i}" for i in range(10))):
            assert contrast(colors[name], behind) >= 3, name


@pytest.mark.parametrize("make", [ITML, lambda: KMeans(2), lambda: make_pipeline(KMeans(2))])
def test_a_report_of_another_estimator_is_refused_in_one_line(make, report_of, tmp_path):
    X = np.arange(12.0).reshape(6, 2)
    model = make().fit(X)
    words = rf"needs a fitted GuidedClustering, not a {type(model).__name__}. Fit one to the same"
    with pytest.raises(TypeError, match=words):
        report_of(model, X)
    assert not list(tmp_path.iterdir())


def test_a_report_of_a_pipeline_says_what_to_give_and_that_works(report_of):
    X = np.random.RandomState(0).normal(size=(20, 2))
    model = make_pipeline(StandardScaler(), GuidedClustering(2, random_state=0)).fit(X)
    with pytest.raises(TypeError, match=r"not a Pipeline. Pass its last step, model\[-1\]"):
        report_of(model, X)
    assert report_of(model[-1], model[:-1].transform(X)).startswith("<!doctype html>")


def test_a_report_needs_a_fitted_model_and_its_own_rows(report_of):
    X = np.random.RandomState(0).normal(size=(20, 2))
    with pytest.raises(NotFittedError, match=r"not fitted yet. Call fit first"):
        report_of(GuidedClustering(2), X)
    model = GuidedClustering(2, random_state=0).fit(X)
    for rows in (X[:7], np.vstack([X, X])):
        with pytest.raises(
            ValueError, match=rf"X has {len(rows)} rows, but the model was fitted to"
        ):
            report_of(model, rows)
    with pytest.raises(ValueError, match="expecting 2 features"):
        report_of(model, X[:, :1])


def test_a_report_says_when_nothing_is_left_to_ask(report_of):
    X = np.array([[0.0], [0.1], [9.0], [9.1]])
    answers = Constraints.from_partial_labels([0, 0, 1, 1])
    model = GuidedClustering(2, random_state=0).fit(X, constraints=answers)
    assert "Nothing left to ask" in report_of(model, X, constraints=answers)
