"""Maps and bars as SVG."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from likewise.report.drawing import HEIGHT, MARGIN, WIDTH, bar, map_svg, middle, place_in_picture

finite = st.floats(-1e6, 1e6)


@given(hnp.arrays(float, st.tuples(st.integers(1, 20), st.just(2)), elements=finite))
def test_every_point_is_inside_the_drawing(points):
    placed = place_in_picture(points)
    assert ((placed >= MARGIN) & (placed <= [WIDTH - MARGIN, HEIGHT - MARGIN])).all()


def test_both_axes_have_one_scale_and_up_is_up():
    placed = place_in_picture(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]))
    assert placed[1, 0] - placed[0, 0] == (HEIGHT - 2 * MARGIN) // 2
    assert placed[0, 1] - placed[2, 1] == HEIGHT - 2 * MARGIN
    assert_array_equal(place_in_picture(np.zeros((2, 2))), [[WIDTH // 2, HEIGHT // 2]] * 2)


def test_the_number_of_a_cluster_stands_on_one_of_its_dots():
    placed = np.array([[0, 0], [0, 9], [9, 0], [9, 9], [1, 1]])
    assert middle(placed, []).tolist() in placed.tolist()
    assert_array_equal(middle(np.array([[0, 0], [1, 0], [50, 9]]), []), [1, 0])


def test_numbers_keep_clear_of_each_other_where_they_can():
    placed = np.array([[0, 0], [1, 0], [50, 9]])
    assert_array_equal(middle(placed, [np.array([0, 5])]), [50, 9])
    assert_array_equal(middle(placed, [np.array([0, 5]), np.array([50, 5])]), [1, 0])


def test_a_map_has_a_dot_a_row_a_path_a_cluster_and_its_lines():
    points = np.random.RandomState(0).randn(30, 2)
    labels = np.arange(30) % 12
    svg = map_svg(points, labels, [("together", (0, 5)), ("apart", (1, 2))], "what it <shows>")
    assert len(re.findall(r"M\d+ \d+h0", svg)) == 30
    assert len(re.findall(r'class="dots ', svg)) == 12
    assert len(re.findall("dots square", svg)) == 2  # clusters 10 and 11 repeat two colors
    x, y = place_in_picture(points)[5]
    assert re.search(rf'L{x} {y}" class="answer together"', svg)
    assert svg.count("answer apart") == 1
    assert 'aria-label="what it &lt;shows&gt;"' in svg


@pytest.mark.parametrize(("share", "width"), [(0.5, "50.0"), (1.7, "100.0"), (-1.0, "0.0")])
def test_a_bar_is_as_long_as_its_share_within_bounds(share, width):
    assert f"width:{width}%" in bar(share, "some")


def test_without_a_share_the_words_stand_alone():
    assert bar(np.nan, "–") == '<span class="value">–</span>'
