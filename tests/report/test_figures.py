"""The report's pictures with matplotlib, and without it."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likewise.report import lay_out
from tests.report.made import made_model
from tests.report.test_page import two_clusters

plt = pytest.importorskip("matplotlib.pyplot", reason="figures need matplotlib")
from likewise.report import plot_map, plot_pulls, plot_trials, plot_typical_rows  # noqa: E402


@pytest.fixture(autouse=True)
def _without_a_screen():
    plt.switch_backend("agg")
    yield
    plt.close("all")


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_map_shows_every_row_in_its_cluster(when):
    X = np.random.RandomState(0).randn(9, 3)
    model = made_model(X, [0, 1, 2] * 3, labels_before=[0] * 9, map_rows=lambda rows: 2 * rows)
    ax = plot_map(model, X, when=when)
    sizes = [len(dots.get_offsets()) for dots in ax.collections]
    assert sizes == ([9] if when == "before" else [3, 3, 3])
    drawn = np.concatenate([dots.get_offsets() for dots in ax.collections])
    expected = lay_out(X) if when == "before" else lay_out(2 * X)
    assert_allclose(np.sort(drawn[:, 0]), np.sort(expected[:, 0]))


def test_the_map_is_drawn_on_the_given_axes_and_refuses_other_times():
    model, X, _ = two_clusters()
    ax = plt.subplots()[1]
    assert plot_map(model, X, ax=ax) is ax
    with pytest.raises(ValueError, match="when='during' must be"):
        plot_map(model, X, when="during")


def test_pulls_are_bars_with_the_strongest_on_top():
    model, _, c = two_clusters(violated_=[4])
    ax = plot_pulls(model, c)
    assert [bar.get_width() for bar in ax.patches] == [5, 4, 3, 2, 1]
    assert ax.get_yticklabels()[0].get_text() == "undecided[0] = (0, 1, 2)"
    assert ax.yaxis_inverted()
    colors = [bar.get_facecolor() for bar in ax.patches]
    assert colors[1] != colors[0] == colors[2]


def test_trials_are_points_with_errors_and_the_chosen_one_is_filled():
    model, *_ = two_clusters()
    ax = plot_trials(model)
    points = [line for line in ax.lines if line.get_marker() == "o"]
    assert [point.get_xdata()[0] for point in points] == [0.7, 0.9]
    assert [point.get_markerfacecolor() for point in points] == ["none", "C0"]


def test_typical_rows_are_pictures_by_cluster():
    model, X, _ = two_clusters()
    images = np.random.RandomState(0).rand(6, 4, 4)
    figure = plot_typical_rows(model, X, images, n_rows=4)
    drawn = [axis.images for axis in figure.axes]
    assert [len(pictures) for pictures in drawn] == [1, 1, 1, 0] * 2
    assert_allclose(drawn[0][0].get_array(), images[0])
    assert [axis.texts[0].get_text() for axis in figure.axes[::4]] == ["0", "1"]


def test_without_matplotlib_the_figures_name_the_extra_and_the_report_is_written(tmp_path):
    code = f"""
import sys
sys.modules["matplotlib"] = None
from tests.report.test_page import two_clusters
from likewise import report
model, X, c = two_clusters()
report.write_report({str(tmp_path / "report.html")!r}, model, X, constraints=c)
try:
    report.plot_map
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert "pip install 'likewise[plot]'" in done.stdout
    assert (tmp_path / "report.html").stat().st_size > 5000
