"""Numbers as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.files.number_cells import describe_units, read_numbers, without_unit


def read(*cells):
    return [read_numbers(dict(enumerate(cells)), "")[0].get(i) for i in range(len(cells))]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,250", "$99", "3.5", "-$2"], [1250, 99, 3.5, -2]),
        (["12 %", "7%", "0"], [12, 7, 0]),
        (["(1,234.50)", "($3)", "$ 5", "7-"], [-1234.5, -3, 5, -7]),
        (["\u22123,5", "+2", "1,5e+03", "1.234,5"], [-3.5, 2, 1500, 1234.5]),
        (["1\u202f234,50 \u20ac", "12\u00a0000\u00a0000", "5"], [1234.5, 12_000_000, 5]),
        (["1'234.50", "1\u2019000", "CHF 7"], [1234.5, 1000, 7]),
        (["1 234,5", "12 000", "7"], [1234.5, 12_000, 7]),
        (["1,23,456.5", "12,34,567"], [123_456.5, 1_234_567]),
        (["5 kg", "7.5 kg", "8"], [5, 7.5, 8]),
        (["EUR 5", "7 EUR"], [5, 7]),
    ],
)
def test_what_people_write_has_its_value(cells, numbers):
    assert read(*cells) == numbers


@pytest.mark.parametrize(
    "cells",
    [
        ["007", "12"],  # codes
        ["R1", "R2"],
        ["K 5", "Q1 2024"],
        ["555 1234", "555 4321"],
        ["12 Main Street", "3rd"],
        ["USD", "kg", "%", "()", "-", ""],
    ],
)
def test_codes_and_words_are_no_numbers(cells):
    assert read(*cells) == [None] * len(cells)


def test_a_phone_number_of_two_groups_is_no_number():
    assert read("555 123", "555 987") == [None, None]


@pytest.mark.parametrize(
    ("cells", "units"),
    [
        (["$ 5", "\u20ac 7", "$ 9"], "2 units, as '$ 5', '\u20ac 7'"),
        (["500 g", "1 kg"], "2 units"),
        (["12 %", "0.5", "3 %"], "2 units, as '12 %', '0.5'"),
    ],
)
def test_several_units_are_not_one_column_of_numbers(cells, units):
    assert None in read(*cells)
    assert units in describe_units(dict(enumerate(cells)))


@pytest.mark.parametrize("cells", [["5 kg", "7"], ["0", "7 %"], ["red", "blue"], []])
def test_one_unit_or_none_is_nothing_to_say(cells):
    assert describe_units(dict(enumerate(cells))) == ""


@given(st.decimals(-(10**9), 10**9, places=2), st.sampled_from([("", ""), ("$", ""), ("", " %")]))
def test_thousands_and_signs_change_no_number(number, around):
    before, after = around
    plain, grouped = f"{before}{number}{after}", f"{before}{number:,}{after}"
    assert read(plain, grouped) == [float(number)] * 2


@given(st.text(max_size=12))
def test_no_text_without_a_digit_is_a_number(text):
    bare, _ = without_unit(text)
    numbers, _ = read_numbers({0: text}, "")
    assert not numbers or any(sign.isdigit() for sign in bare)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["900", "1.2k", "3.4M", "2B", "7bn", "-4k"], [900, 1200, 3.4e6, 2e9, 7e9, -4000]),
        (["$1.5K", "$ 2M"], [1500, 2e6]),
        (["290 K", "300 K"], [290, 300]),  # kelvin
        (["12A", "k", "1.2 parsecs"], []),
    ],
)
def test_thousands_and_millions_may_be_shortened(cells, numbers):
    assert list(read_numbers(dict(enumerate(cells)), "")[0].values()) == pytest.approx(numbers)
