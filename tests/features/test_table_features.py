import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise import load_model, save_model
from likewise.features import TableFeatures, readable_date
from likewise.features.column_encoders import readable_block

BY_NAME = "columns are found by their names, in any order, as ColumnTransformer finds them"


@parametrize_with_checks(
    [TableFeatures()],
    expected_failed_checks=lambda _: {"check_dataframe_column_names_consistency": BY_NAME},
)
def test_contract(estimator, check):
    check(estimator)


def made_table(n=60, seed=0):
    """Two classes that every kind of column tells, with gaps, an id and a constant."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "customer_id": [f"C{i:05d}" for i in rng.permutation(n)],
            "age": np.where(y, 60, 30) + rng.randn(n),
            "plan": np.where(y, "gold", rng.choice(["free", "trial"], n)),
            "joined": pd.Timestamp("2022-01-01")
            + pd.to_timedelta(rng.randint(0, 300, n) + 600 * y, "D"),
            "active": y == rng.choice([0, 1], n, p=[0.1, 0.9]),
            "note": [
                f"the {'parcel never came' if c else 'price is too high'} in week {rng.randint(99)}"
                for c in y
            ],
            "country": "DE",
            "label": y,
        }
    )
    frame.loc[rng.choice(n, 6, replace=False), "age"] = np.nan
    frame.loc[rng.choice(n, 6, replace=False), "plan"] = None
    return frame, y


FRAME, Y = made_table()


def kinds(table):
    return {column.name: column.kind for column in table.columns_}


def sq_distances(Z):
    return np.square(Z[:, None] - Z[None]).sum(axis=2)


def test_every_kind_of_column_is_known_and_the_useless_are_left_out_by_name():
    table = TableFeatures().fit(FRAME)
    assert kinds(table) == {
        "customer_id": "left out",
        "age": "number",
        "plan": "category",
        "joined": "date",
        "active": "flag",
        "note": "text",
        "country": "left out",
        "label": "left out",
    }
    reasons = {column.name: str(column) for column in table.columns_}
    assert "nearly every row has its own" in reasons["customer_id"]
    assert reasons["country"] == "country: left out, every row has 'DE'"
    assert "the classes to be found" in reasons["label"]
    assert reasons["age"] == "age: number, 6 missing"
    assert reasons["plan"] == "plan: category, 3 levels, 6 missing"


def test_clusters_of_a_mixed_table_are_found_in_its_features():
    Z = TableFeatures().fit_transform(FRAME)
    labels = KMeans(2, n_init=5, random_state=0).fit_predict(Z)
    assert adjusted_rand_score(Y, labels) == 1.0


def test_a_number_a_flag_and_a_category_by_hand():
    table = {"x": [0.0, 1.0, 2.0, 3.0, 100.0], "f": [True, False, True, False, None]}
    table["c"] = ["a", "b", "a", "b", None]
    Z = TableFeatures().fit_transform(table)
    bent = (np.array([0.0, 1.0, 2.0, 3.0, 100.0]) - 2) / 2  # median 2, quartiles 1 and 3
    bent /= np.hypot(1, bent / 3)
    assert_allclose(Z[:, 0], (bent - bent.mean()) / bent.std())
    assert_allclose(Z[:, 1], [1, -1, 1, -1, 0])
    a, b, none = np.sqrt(2) * np.array([[1, 0], [0, 1], [0, 0]])
    assert_allclose(Z[:, 2:], [a, b, a, b, none])


@pytest.mark.parametrize("n_levels", [2, 5, 40])
def test_a_category_weighs_as_one_column_whatever_its_number_of_levels(n_levels):
    n = 40 * 5
    frame = {
        "x": np.random.RandomState(0).randn(n),
        "c": [f"level {i % n_levels}" for i in range(n)],
    }
    table = TableFeatures().fit(frame)
    Z = table.transform(frame)
    number, category = Z[:, :1], Z[:, 1:]
    assert category.shape[1] == n_levels
    assert_allclose(sq_distances(category).mean(), sq_distances(number).mean())


def test_a_rare_level_lies_no_further_away_than_an_even_one():
    rare, even = (
        TableFeatures(features=["c"]).fit_transform({"c": ["a"] * (100 - k) + ["b"] * k})
        for k in (1, 50)
    )
    assert_allclose(sq_distances(rare).max(), sq_distances(even).max())
    assert_allclose(sq_distances(even).max(), 4.0)  # two standard deviations, squared


def test_dates_have_a_trend_and_the_cycles_that_they_span():
    days = pd.date_range("2020-01-01", periods=800, freq="D")
    table = TableFeatures().fit({"day": days, "hour": days + pd.to_timedelta(np.arange(800), "h")})
    names = table.get_feature_names_out()
    waves = [f"_{cycle}_{wave}" for cycle in ("year", "week") for wave in ("sin", "cos")]
    assert list(names[:5]) == ["day_trend", *(f"day{wave}" for wave in waves)]
    assert list(names[-2:]) == ["hour_day_sin", "hour_day_cos"]
    Z = table.transform({"day": days, "hour": days})[:, :5]
    first_of_january = Z[[0, 366, 731]]
    year = first_of_january[:, 1:3]
    assert np.ptp(year, axis=0).max() < 0.02  # winters lie together, years apart
    assert (np.diff(first_of_january[:, 0]) > 0).all()


def test_every_column_has_the_same_share_in_the_distances_and_texts_have_four():
    table = TableFeatures().fit(FRAME.dropna())
    Z = table.transform(FRAME.dropna())
    widths = [column.n_features for column in table.columns_ if column.n_features]
    blocks = np.split(Z, np.cumsum(widths)[:-1], axis=1)
    shares = [np.square(block - block.mean(axis=0)).sum(axis=1).mean() for block in blocks]
    by_kind = dict(zip((one.kind for one in table.columns_ if one.n_features), shares))
    assert 0.9 < by_kind.pop("flag") <= 1.0  # nearly even
    assert_allclose(by_kind.pop("text"), 4.0)  # a text says more than a cell
    assert_allclose(list(by_kind.values()), 1.0)


@settings(max_examples=20)
@given(seed=st.integers(0, 1000))
def test_the_order_of_rows_does_not_matter(seed):
    order = np.random.RandomState(seed).permutation(len(FRAME))
    frame = FRAME.drop(columns="note")  # directions of texts have their signs by chance
    one, other = TableFeatures().fit(frame), TableFeatures().fit(frame.iloc[order])
    assert one.columns_ == other.columns_
    assert_allclose(one.transform(frame), other.transform(frame), atol=1e-12)


@settings(max_examples=20)
@given(order=st.permutations(list(FRAME.columns.drop("note"))))
def test_the_order_of_columns_does_not_matter_to_distances(order):
    one = TableFeatures().fit(FRAME[order])
    other = TableFeatures().fit(FRAME.drop(columns="note"))
    assert kinds(one) == kinds(other)
    distances = sq_distances(one.transform(FRAME[order]))
    assert_allclose(distances, sq_distances(other.transform(FRAME)), atol=1e-10)
    assert_allclose(one.transform(FRAME), one.transform(FRAME[order]))


@settings(max_examples=20)
@given(names=st.lists(st.text("abcxyzäö", min_size=1), min_size=3, max_size=3, unique=True))
def test_the_names_of_levels_do_not_matter_to_distances(names):
    rename = dict(zip(("free", "trial", "gold"), names))
    frame = FRAME[["age", "plan"]]
    renamed = frame.assign(plan=[rename.get(plan) for plan in frame["plan"]])
    one, other = TableFeatures().fit_transform(frame), TableFeatures().fit_transform(renamed)
    assert_allclose(sq_distances(one), sq_distances(other), atol=1e-10)


def test_pandas_polars_pyarrow_and_dicts_become_the_same_numbers():
    table = TableFeatures().fit(FRAME)
    expected = table.transform(FRAME)
    polars = pl.from_pandas(FRAME)
    columns = {name: FRAME[name].tolist() for name in FRAME.columns}
    for same in (polars, polars.to_arrow(), columns):
        assert TableFeatures().fit(same).columns_ == table.columns_
        assert_allclose(table.transform(same), expected, atol=1e-12)


def test_text_cells_as_a_csv_file_has_them_become_the_same_numbers():
    cells = {
        name: ["" if value != value or value is None else str(value) for value in FRAME[name]]
        for name in FRAME.columns
    }
    table = TableFeatures().fit(FRAME)
    assert TableFeatures().fit(cells).columns_ == table.columns_
    assert_allclose(table.transform(cells), table.transform(FRAME), atol=1e-12)


@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("Unnamed: 0", list(range(5, 25)), "it numbers the rows"),
        ("x", list(range(100, 120)), "it numbers the rows"),
        ("account", [4_000_111_122_223_333 + 7 * i for i in range(20)], "its own long number"),
        ("customerId", [int(i) for i in np.random.RandomState(0).randint(0, 9999, 80)], "an id"),
        ("email", [f"a{i}@b.com" for i in range(20)], "it names rows"),
        ("name", [f"Ann{i} Smith" for i in range(200)] + ["Ann1 Smith"], "it names rows"),
        ("Full Name", [f"Smith, Mr. John of {i}" for i in range(20)], "it names rows"),
        (
            "weight",
            [f"{i}.5" for i in range(15)] + ["12 kg", ">50"],
            "16 of 17 cells are numbers",
        ),
        ("Class", ["a", "b"] * 10, "the classes to be found"),
        ("target", [0, 1] * 10, "the classes to be found"),
        ("empty", [None] * 20, "it is empty"),
        ("blank", [""] * 20, "it is empty"),
        ("one", [3.5] * 20, "every row has 3.5"),
        ("lists", [[1, 2]] * 20, "it holds lists, no single values"),
        ("sets", [{1}] * 20, "it holds cells of type set, no single values"),
        ("raw", [b"\xff", b"a"] * 10, "it holds bytes that are no text"),
        ("mixed", [1, "a", None, b"x"] * 5, "cells of several types (int, str, bytes)"),
    ],
)
def test_a_column_that_would_mislead_is_left_out_with_its_reason(name, cells, reason):
    frame = {name: cells, "x2": np.random.RandomState(0).randn(len(cells))}
    column = TableFeatures().fit(frame).columns_[0]
    assert (column.name, column.kind) == (name, "left out")
    assert reason in column.why


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("price", [10, 250, 31, 47, 1_000, 12, 55, 71, 80, 99, 105, 7], "number"),
        ("day_ts", [1_700_000_000 + 86_413 * i for i in range(20)], "number"),
        ("shop_id", [1, 2, 3, 4] * 10, "category"),
        ("coupon", ["SUMMER", None] * 10, "category"),
        ("zip", ["01099", "10115", "01099", "80331"] * 5, "category"),
        ("rain", ["yes", "no", "", "yes"] * 5, "flag"),
        ("smoker", [0, 1, 1, 0] * 5, "flag"),
        ("agrees", ["Yes", "y", "TRUE", "no", "N", "0"] * 5, "flag"),
        ("veil", ["n", "y", "t", "f"] * 5, "category"),
        ("amount", ["1,250.50", "99", "$3,000", "12"] * 5, "number"),
        ("share", ["12 %", "7 %", "n/a", "55.5 %"] * 5, "number"),
        ("betrag", ["1.250,50", "99", "3,5", "12"] * 5, "number"),
        ("day", ["31.12.2024", "01.02.2025", "03.02.2025", ""] * 5, "date"),
        ("us_day", ["02/03/2024", "12/31/2024", "01/01/2025", "?"] * 5, "date"),
        ("wait", pd.to_timedelta([1, 2, 5, 9], "h"), "number"),
    ],
)
def test_a_column_is_taken_for_what_it_is(name, cells, kind):
    assert kinds(TableFeatures().fit({name: cells})) == {name: kind}


def test_decimal_commas_thousands_and_signs_have_their_values():
    cells = ["1.250,50", "99", "3,5", "-1,0"]
    Z = TableFeatures().fit_transform({"x": cells, "same": [1250.5, 99, 3.5, -1]})
    assert_allclose(Z[:, 0], Z[:, 1])


def test_columns_are_chosen_by_hand():
    table = TableFeatures(exclude=["age"], as_category=["note"], as_text=["plan"]).fit(FRAME)
    chosen = kinds(table)
    assert (chosen["age"], chosen["note"], chosen["plan"]) == ("left out", "category", "text")
    assert [c.why for c in table.columns_ if c.name == "age"] == ["as asked"]
    table = TableFeatures(features=["label", "age"]).fit(FRAME)
    assert {name for name, kind in kinds(table).items() if kind != "left out"} == {"age", "label"}


def test_a_name_that_is_not_there_is_an_error_with_the_nearest_one():
    with pytest.raises(ValueError, match=r"exclude names 'agee'.*Did you mean 'age'"):
        TableFeatures(exclude=["agee"]).fit(FRAME)
    with pytest.raises(TypeError, match=r"must be a list: \['age'\]"):
        TableFeatures(exclude="age").fit(FRAME)
    with pytest.raises(ValueError, match="both in as_text and in as_category"):
        TableFeatures(as_text=["plan"], as_category=["plan"]).fit(FRAME)


def test_unseen_levels_are_a_warning_that_names_them():
    table = TableFeatures().fit(FRAME)
    new = FRAME.iloc[:2].assign(plan=["platinum", "gold"])
    with pytest.warns(UserWarning, match="'plan' has levels.*: 'platinum'"):
        Z = table.transform(new)
    at = [i for i, name in enumerate(table.get_feature_names_out()) if name.startswith("plan=")]
    assert_array_equal(Z[0, at], 0)
    assert Z[1, at].any()


def test_missing_columns_are_an_error_that_names_all_of_them():
    table = TableFeatures().fit(FRAME)
    with pytest.raises(ValueError, match="lack 'age', 'plan', used in fit"):
        table.transform(FRAME.drop(columns=["age", "plan", "label"]))
    more = FRAME.drop(columns="label").assign(extra=1)
    assert_allclose(table.transform(more), table.transform(FRAME))


def test_new_cells_that_do_not_fit_are_all_listed():
    table = TableFeatures().fit(FRAME)
    new = FRAME.iloc[:3].assign(age=["old", 5, "young"])
    with pytest.raises(ValueError, match=r"row 0: 'old' is not a number; .*row 2: 'young'"):
        table.transform(new)


def test_typing_errors_among_many_numbers_are_all_listed():
    cells = [str(i * 1.5) for i in range(50)]
    cells[7], cells[30] = "12..5", "x"
    with pytest.raises(ValueError, match=r"row 7: '12..5' is not a number like .*row 30: 'x'"):
        TableFeatures().fit({"x": cells})
    assert kinds(TableFeatures(as_category=["x"]).fit({"x": cells})) == {"x": "category"}


def test_infinite_numbers_are_all_listed():
    with pytest.raises(ValueError, match=r"row 1: inf is not a number; .*row 2: -inf"):
        TableFeatures().fit({"x": [1.0, np.inf, -np.inf]})


def test_a_table_with_nothing_to_use_says_what_became_of_its_columns():
    with pytest.raises(ValueError, match=r"a: left out, every row has 1; b: left out, it"):
        TableFeatures().fit({"a": [1, 1], "b": [None, None]})


def test_one_row_alone_says_so():
    with pytest.raises(ValueError, match=r"There is one row \(n_samples=1\), and nothing"):
        TableFeatures().fit({"a": [1.0], "b": ["x"]})


def test_one_row_is_used_when_its_columns_are_named():
    Z = TableFeatures(features=["a", "b"]).fit_transform({"a": [1.0], "b": ["x"]})
    assert Z.shape == (1, 2)
    assert np.isfinite(Z).all()


def test_two_columns_of_one_name_are_an_error():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(ValueError, match="2 columns have the name 'a'"):
        TableFeatures().fit(frame)


def test_columns_of_different_lengths_are_an_error():
    with pytest.raises(ValueError, match="'b' has 1 cells, and 'a' has 2"):
        TableFeatures().fit({"a": [1, 2], "b": [1]})


def test_many_levels_share_one_beyond_fifty():
    cells = [f"l{i}" for i in range(60) for _ in range(1 + (i < 50))] * 2
    table = TableFeatures().fit({"c": cells})
    assert table.columns_[0].n_features == 51
    assert table.get_feature_names_out()[-1] == "c=infrequent_sklearn"


def test_outliers_stay_within_reach():
    x = np.append(np.random.RandomState(0).randn(200), 1e9)
    Z = TableFeatures().fit_transform({"x": x})
    assert np.abs(Z).max() < 6
    assert np.std(Z[:-1]) > 0.9


def test_rows_in_blocks_are_the_same_as_all_at_once(monkeypatch):
    table = TableFeatures().fit(FRAME)
    expected = table.transform(FRAME)
    monkeypatch.setattr("likewise.features.table_features.BLOCK_ROWS", 7)
    assert_allclose(table.transform(FRAME), expected)
    with pytest.raises(ValueError, match="row 13: 'x' is not a number"):
        table.transform(FRAME.assign(age=[30.0] * 13 + ["x"] + [30.0] * 46))


def test_another_transformer_takes_the_texts():
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.preprocessing import FunctionTransformer

    dense = make_pipeline(
        HashingVectorizer(n_features=4), FunctionTransformer(lambda X: X.toarray())
    )
    table = TableFeatures(text_features=dense).fit(FRAME)
    assert {c.name: c.n_features for c in table.columns_}["note"] == 4


def test_a_fitted_table_is_the_same_after_a_file(tmp_path):
    frame = FRAME.drop(columns="note")
    table = TableFeatures(exclude=["label"]).fit(frame)
    save_model(table, tmp_path / "t.likewise")
    loaded = load_model(tmp_path / "t.likewise")
    assert loaded.columns_ == table.columns_
    assert_array_equal(loaded.transform(frame), table.transform(frame))
    assert_array_equal(loaded.get_feature_names_out(), table.get_feature_names_out())


def test_directions_of_many_texts_come_from_some_of_them_whatever_their_order(monkeypatch):
    monkeypatch.setattr("likewise.features.column_encoders.FIT_TEXTS", 30)
    one = TableFeatures().fit(FRAME[["note"]])
    other = TableFeatures().fit(FRAME[["note"]].iloc[::-1])
    assert_allclose(np.abs(one.transform(FRAME)), np.abs(other.transform(FRAME)), atol=1e-8)


def test_long_names_of_a_few_levels_are_no_texts():
    cells = ["married with two children", "lives all alone now", "widow of a soldier"] * 3
    assert kinds(TableFeatures().fit({"c": [*cells, "single and in love"]})) == {"c": "category"}


@pytest.mark.parametrize(
    ("formats", "ways"),
    [
        (("%Y-%m-%d", "%d.%m.%Y", "%b %d, %Y"), 3),
        (("%m/%d/%Y", "%d/%m/%Y"), 2),  # no format reads both
    ],
)
def test_dates_in_several_styles_are_left_out_and_each_style_is_shown(formats, ways):
    days = pd.date_range("2025-01-13", periods=90)  # the first is none in the other order
    n = len(formats)
    cells = [day.strftime(formats[i % n]) for i, day in enumerate(days)]
    table = {"size": np.arange(90) ** 1.5, "paid": cells}
    why = TableFeatures().fit(table).columns_[1].why
    assert f"its dates are written in {ways} ways" in why
    for row in range(n):
        assert f"like {cells[row]!r} (column 'paid', row {row})" in why
    assert "write all in one way" in why
    repeated = {name: list(column) * 10 for name, column in table.items()}  # no category either
    assert TableFeatures().fit(repeated).columns_[1].kind == "left out"
    as_asked = TableFeatures(as_category=["paid"]).fit(repeated)
    assert as_asked.columns_[1].kind == "category"


def test_a_date_in_another_style_is_named_beside_one_of_the_others():
    cells = [f"2025-{month:02d}-{day:02d}" for month in range(1, 4) for day in range(1, 15)]
    cells[7] = "08.01.2025"
    with pytest.raises(ValueError, match=r"is not a date like the others, such as '2025-0"):
        TableFeatures().fit({"size": np.arange(42) ** 1.5, "paid": cells})


def test_a_categorical_column_is_a_category_whatever_its_levels_are():
    rng = np.random.default_rng(0)
    codes, size = rng.integers(1, 4, 40), rng.normal(size=40)
    frame = pd.DataFrame(
        {"code": pd.Categorical(codes), "size": size, "bin": pd.cut(rng.normal(size=40), 3)}
    )
    table = TableFeatures().fit(frame)
    assert kinds(table) == {"code": "category", "size": "number", "bin": "category"}
    numbers = frame.assign(code=codes, bin=frame["bin"].astype(str))  # as a file has them
    assert_allclose(table.transform(numbers), table.transform(frame))
    frame = pl.DataFrame({"code": pl.Series(list("abba") * 5, dtype=pl.Enum(["a", "b", "c"]))})
    assert kinds(TableFeatures().fit(frame)) == {"code": "category"}


def test_periods_are_dates_from_their_first_moment():
    periods = pd.period_range("2020-01", periods=30, freq="M")
    by_period = TableFeatures().fit_transform(pd.DataFrame({"month": periods}))
    by_date = TableFeatures().fit_transform(pd.DataFrame({"month": periods.to_timestamp()}))
    assert_allclose(by_period, by_date)


def test_a_lazy_frame_is_to_be_collected():
    with pytest.raises(TypeError, match=r"Call its collect\(\) first"):
        TableFeatures().fit(pl.DataFrame({"a": [1, 2]}).lazy())


def test_a_column_that_is_missing_is_compared_with_those_that_are_there():
    table = TableFeatures().fit({"age": [1.5, 2.5, 4.0]})
    with pytest.raises(ValueError, match="Is 'Age' meant by 'age'"):
        table.transform({"Age": [1.5]})
    many = {f"column {i}": [1.0] for i in range(500)}
    with pytest.raises(ValueError, match="and 480 more") as caught:
        table.transform(many)
    assert len(str(caught.value)) < 700


def test_a_constant_is_written_as_people_write_it():
    for value, shown in ((30.4, "30.4"), (3.0, "3"), (1e22, "1e+22")):
        columns = TableFeatures().fit({"a": [value] * 3, "b": [1.5, 2.5, 4.0]}).columns_
        assert columns[0].why == f"every row has {shown}"


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (["3/4/2025", "5/6/2025"] * 3, "month first"),
        (["3/4/2025", "25/6/2025"] * 3, "day first"),
        (["2025-03-04", "2025-06-25"] * 3, ""),
    ],
)
def test_dates_with_slashes_say_which_number_is_the_month(cells, why):
    column = TableFeatures().fit({"joined": cells, "x": list(range(0, 12, 2))}).columns_[0]
    assert (column.kind, column.why) == ("date", why)


def test_y_is_a_coordinate_beside_x_and_a_class_otherwise():
    y = [3, 4, 5, 5, 4, 3] * 4
    for other, kind in (("x", "number"), ("X", "number"), ("age", "left out")):
        frame = {other: np.random.RandomState(0).randn(24), "y": y}
        assert TableFeatures().fit(frame).columns_[1].kind == kind


def test_rows_without_any_value_are_counted_and_the_first_is_named():
    frame = {"age": [31.0, None, 44.0, None, 20.0], "plan": ["a", "", "b", None, "a"]}
    with pytest.warns(UserWarning, match=r"^2 of 5 rows have no value .* first at .*row 1\."):
        TableFeatures().fit(frame)


def test_every_midnight_of_two_centuries_is_read_as_its_own_day():
    days = np.arange(np.datetime64("1900-01-01"), np.datetime64("2100-01-01")).astype("M8[s]")
    (column,) = TableFeatures().fit({"joined": days}).encoded_
    years = readable_block(column, days)[:, 0]
    assert [readable_date(year) for year in years] == days.astype("M8[D]").astype(str).tolist()
