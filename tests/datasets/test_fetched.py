import os

import numpy as np
import pytest
import sklearn.datasets
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from likewise.datasets import available, fetch, labelled_sets, load_iris, read_npz, thin_by_class
from likewise.datasets.bundled import BUNDLED
from likewise.datasets.catalog import CATALOG
from likewise.datasets.npz import FLOAT32_ABOVE, as_floats

TEXTS = ["plain", "", "grüße 日本", "two\nlines"]


@pytest.fixture(autouse=True)
def nothing_but_tmp(monkeypatch, tmp_path, request):
    """An empty cache and no folder, unless the test asks for the real one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("likewise.datasets.fetched.SYSTEM", tmp_path / "system")
    if "data" not in request.keywords:
        monkeypatch.delenv("LIKEWISE_DATA", raising=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with one small file of every layout."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.RandomState(0)
    np.savez(
        folder / "vehicle.npz",
        X=np.arange(36, dtype=np.int16).reshape(12, 3),
        y=np.repeat(np.arange(3, dtype=np.int16), 4),
        feature_names=np.array(["a", "b", "c"]),
        target_names=np.array(["bus", "opel", "saab"]),
    )
    np.savez(folder / "iris.npz", X=load_iris().X.astype("f4"), y=load_iris().y.astype("i2"))
    np.savez(folder / "usps_libsvm9298.npz", X=np.full((2, 4, 4), -997, "i2"), y=np.array([7, 0]))
    np.savez(
        folder / "mine.npz", X=np.array([[0.1], [0.2]]), y=np.array([0, 1]), part=np.int8([3, 4])
    )
    buffers = [text.encode() for text in TEXTS]
    np.savez(
        folder / "reuters_r8_text.npz",
        text=np.frombuffer(b"".join(buffers), np.uint8),
        offsets=np.cumsum([0] + [len(buffer) for buffer in buffers]),
        y=np.uint8([0, 1, 0, 1]),
    )
    bag = sparse.random(6, 5, density=0.4, format="csr", random_state=rng)
    np.savez(
        folder / "newsgroups20_bow2000.npz",
        data=np.arange(bag.nnz, dtype=np.uint8) + 200,
        indices=bag.indices.astype("i2"),
        indptr=bag.indptr,
        shape=np.array(bag.shape),
        y=np.zeros(6, "i2"),
    )
    np.savez(folder / "reuters10k_knn_graph.npz", edges_k3=np.int16([[0, 1]]), y=np.int16([0, 1]))
    monkeypatch.setenv("LIKEWISE_DATA", str(folder))
    return folder


def test_numbers_are_widened_and_named(folder):
    data = fetch("vehicle")
    assert_array_equal(data.X, np.arange(36.0).reshape(12, 3))
    assert (data.X.dtype, data.y.dtype) == (np.float64, np.int64)
    assert data.target_names == ("bus", "opel", "saab")
    assert data.feature_names == ("a", "b", "c")
    assert repr(data) == "Dataset('vehicle': 12 rows, 3 features, 3 classes)"


def test_a_decimal_kept_in_32_bits_comes_back_as_the_decimal(folder):
    assert available()["iris"] == "folder"
    assert_array_equal(fetch("iris").X, load_iris().X)


def test_images_are_flattened_and_scaled_back(folder):
    data = fetch("usps_libsvm9298")
    assert_array_equal(data.X, np.full((2, 16), -0.997))
    assert_array_equal(data.extras["image_shape"], [4, 4])


def test_a_file_of_your_own_is_found_too(folder):
    data = fetch("mine")
    assert_array_equal(data.X, [[0.1], [0.2]])
    assert_array_equal(data.extras["part"], [3, 4])
    assert data.extras["part"].dtype == np.int64


def test_texts_come_back_as_written(folder):
    assert fetch("reuters_r8_text").X == TEXTS


def test_a_bag_of_words_is_a_float_csr_matrix(folder):
    X = fetch("newsgroups20_bow2000").X
    assert sparse.issparse(X)
    assert X.format == "csr"
    assert X.dtype == np.float64
    with np.load(folder / "newsgroups20_bow2000.npz") as file:
        dense = np.zeros((6, 5))
        rows = np.repeat(np.arange(6), np.diff(file["indptr"]))
        dense[rows, file["indices"]] = file["data"]
    assert_array_equal(X.toarray(), dense)


def test_a_graph_has_no_rows(folder):
    data = fetch("reuters10k_knn_graph")
    assert data.X is None
    assert_array_equal(data.extras["edges_k3"], [[0, 1]])
    assert data.n_rows == 2


def test_large_arrays_stay_in_32_bits():
    large = np.broadcast_to(np.uint8(3), (FLOAT32_ABOVE // 4 + 1, 4))
    assert as_floats(large).dtype == np.float32
    assert as_floats(large[:9]).dtype == np.float64


def test_available_says_where_each_set_would_come_from(folder):
    where = available()
    assert list(where) == sorted(where)
    assert set(where) == {*CATALOG, *BUNDLED, "mine"}
    expected = {"vehicle": "folder", "mine": "folder", "wine": "bundled", "digits": "bundled"}
    expected |= {"glass": "download", "protein_xing": "nowhere"}
    assert {name: where[name] for name in expected} == expected


def test_the_bundled_sets_need_no_folder():
    for name in ("iris", "wine", "breast_cancer_wdbc", "digits"):
        assert fetch(name).name == name


def test_a_misspelled_name_gets_the_right_one_in_its_error():
    with pytest.raises(ValueError, match=r"no data set 'vehicles'. Did you mean 'vehicle'\?"):
        fetch("vehicles")
    with pytest.raises(ValueError, match=r"no data set '\.\./x'. available\(\) lists them"):
        fetch("../x")


def one_line(message):
    return "\n" not in message and "LIKEWISE_DATA" in message


def test_a_set_that_is_nowhere_ends_in_one_line_that_names_the_variable():
    with pytest.raises(FileNotFoundError) as caught:
        fetch("protein_xing")
    assert one_line(str(caught.value))
    assert "protein_xing.npz" in str(caught.value)


def test_a_variable_that_names_no_folder_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("LIKEWISE_DATA", str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError, match=r"LIKEWISE_DATA=.*gone is not a folder"):
        fetch("iris")


# ---- the download, with OpenML played by the test


@pytest.fixture
def openml(monkeypatch):
    """What OpenML answers: set .reply to (X, labels) or to an error."""

    class Played:
        reply = OSError("no network\nat all")

        def __init__(self):
            self.asked = []

        def __call__(self, data_id, **options):
            self.asked.append(data_id)
            if isinstance(self.reply, Exception):
                raise self.reply
            return self.reply

    played = Played()
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", played)
    return played


def test_a_failed_download_ends_in_one_line(openml):
    with pytest.raises(
        FileNotFoundError, match=r"its download failed .no network at all"
    ) as caught:
        fetch("vehicle")
    assert one_line(str(caught.value))


def test_a_download_that_is_not_the_copy_we_know_is_not_kept(openml, tmp_path):
    openml.reply = (np.zeros((3, 2)), np.array(["a", "b", "a"]))
    with pytest.raises(FileNotFoundError, match=r"OpenML's set 54 is not the copy we know"):
        fetch("vehicle")
    assert not (tmp_path / "cache" / "likewise").exists()
    assert available()["vehicle"] == "download"


@pytest.mark.parametrize(
    ("labels", "codes"),
    [(["van", "bus", "van"], [1, 0, 1]), (["10", "9", "10"], [1, 0, 1]), ([3, 1, 3], [1, 0, 1])],
)
def test_a_true_download_is_kept_and_read_the_next_time(labels, codes, openml, monkeypatch):
    X = np.array([[0.1, 2], [3, 4], [5, 6]])
    openml.reply = (X, np.array(labels, dtype=object))
    entry = CATALOG["isolet"]._replace(checksum="")  # every sum begins with nothing
    monkeypatch.setitem(CATALOG, "isolet", entry)
    for where in ("download", "cache", "cache"):
        assert available()["isolet"] == where
        data = fetch("isolet")
        assert_array_equal(data.X, X)
        assert_array_equal(data.y, codes)
    assert openml.asked == [300]


# ---- files that are no data sets


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04" + b"\0" * 40, b"\x80\x04N."])
def test_a_damaged_file_ends_in_one_line_that_names_it(content, folder):
    (folder / "glass.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"glass\.npz is not a readable \.npz file") as caught:
        fetch("glass")
    assert "\n" not in str(caught.value)


def test_every_truncation_of_a_file_is_an_error_of_ours(folder):
    whole = (folder / "vehicle.npz").read_bytes()
    for length in range(0, len(whole), 29):
        (folder / "vehicle.npz").write_bytes(whole[:length])
        with pytest.raises(ValueError, match="vehicle"):
            fetch("vehicle")


def test_no_changed_byte_gets_past_the_named_error(folder):
    whole = (folder / "vehicle.npz").read_bytes()
    rng = np.random.RandomState(0)
    n_noticed = 0
    for place in rng.randint(len(whole), size=200):
        changed = bytearray(whole)
        changed[place] = rng.randint(256)
        (folder / "vehicle.npz").write_bytes(changed)
        try:
            fetch("vehicle")
        except ValueError as error:
            n_noticed += "vehicle.npz" in str(error)
    assert n_noticed > 60  # the others changed a date or a name, or nothing


def test_a_pickle_inside_a_file_is_refused(folder):
    np.savez(folder / "glass.npz", X=np.array([object()]), y=np.zeros(1, int))
    with pytest.raises(ValueError, match=r"glass\.npz is not a readable \.npz file"):
        fetch("glass")


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"X": np.zeros((3, 2)), "y": np.zeros(2, int)}, "X has 3 rows, y has 2"),
        ({"X": np.zeros(3), "y": np.zeros(3, int)}, "not rows of numbers"),
        ({"X": np.array([["a"]])}, "not rows of numbers"),
        ({"X": np.zeros((1, 1)), "y": np.array([0.5])}, "not class codes"),
        ({"X": np.zeros((1, 1)), "y": np.array([-1])}, "not class codes"),
        ({"text": np.zeros(3, np.uint8)}, "offsets"),
        ({"text": np.full(3, 255, np.uint8), "offsets": np.array([0, 3])}, "decode"),
        ({"indptr": np.zeros(3, int)}, "data"),
    ],
)
def test_a_file_in_another_layout_says_what_is_wrong(arrays, reason, folder):
    np.savez(folder / "odd.npz", **arrays)
    with pytest.raises(ValueError, match=rf"odd\.npz does not contain a data set: .*{reason}"):
        fetch("odd")


# ---- all labelled sets


def test_labelled_sets_are_the_ones_at_hand_in_order(folder):
    names = [data.name for data in labelled_sets()]
    assert names == ["breast_cancer_wdbc", "digits", "iris", "mine", "usps_libsvm9298"] + [
        "vehicle",
        "wine",
    ]
    assert [data.name for data in labelled_sets(kinds=("text",))] == ["reuters_r8_text"]
    with pytest.raises(ValueError, match="kinds has 'image'"):
        next(labelled_sets(kinds=("image",)))


def test_large_sets_are_thinned_alike_every_time():
    first, second = (list(labelled_sets(100, random_state=5)) for _ in range(2))
    for one, two in zip(first, second, strict=True):
        assert one.checksum() == two.checksum()
        assert one.n_rows == 100
        whole = fetch(one.name)
        assert_array_equal(whole.X[one.extras["rows"]], one.X)
        assert one.n_classes == whole.n_classes
    assert [data.n_rows for data in labelled_sets(None)] == [569, 1797, 150, 178]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.data())
def test_thinning_keeps_every_class_near_its_share(counts, data):
    y = np.random.RandomState(0).permutation(np.repeat(np.arange(len(counts)) * 3, counts))
    n_rows = data.draw(st.integers(len(counts), len(y)))
    rows = thin_by_class(y, n_rows, random_state=0)
    assert len(rows) == n_rows
    assert (np.diff(rows) > 0).all()
    kept = np.array([np.count_nonzero(y[rows] == c) for c in np.unique(y)])
    shares = np.array(counts) * n_rows / len(y)
    assert (kept >= 1).all()
    assert (kept <= counts).all()
    assert (kept <= np.maximum(1, np.ceil(shares))).all()
    owed = np.clip(1 - shares, 0, None).sum()  # what classes of less than one row took from others
    assert (kept >= np.floor(shares) - np.ceil(owed)).all()


@pytest.mark.parametrize("n_rows", [1, 5])
def test_thinning_to_an_impossible_number_is_an_error(n_rows):
    with pytest.raises(ValueError, match=f"{n_rows} rows cannot be chosen out of 4 in 2 classes"):
        thin_by_class(np.array([0, 1, 0, 1]), n_rows)


# ---- the real folder

real = pytest.mark.skipif("LIKEWISE_DATA" not in os.environ, reason="LIKEWISE_DATA is not set")


@real
@pytest.mark.data
@pytest.mark.parametrize("name", sorted(CATALOG))
def test_the_file_we_know_has_the_checksum_in_the_catalog(name):
    if available()[name] != "folder":
        pytest.skip(f"{name}.npz is not in LIKEWISE_DATA")
    assert fetch(name).checksum().startswith(CATALOG[name].checksum)


@real
@pytest.mark.data
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer_wdbc"])
def test_folder_and_bundle_give_the_same_set(name):
    if available()[name] != "folder":
        pytest.skip(f"{name}.npz is not in LIKEWISE_DATA")
    ours, bundled = fetch(name), BUNDLED[name]()
    assert ours.checksum() == bundled.checksum()
    assert ours.target_names == bundled.target_names


def test_a_file_can_be_read_from_anywhere(folder):
    assert_array_equal(read_npz(folder / "mine.npz", name="x", divisor=2).X, [[0.05], [0.1]])


def test_a_file_that_unpacks_to_far_more_than_it_takes_is_refused_unread(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((300, 1000)), y=np.zeros(300, int))
    assert read_npz(tmp_path / "bomb.npz").n_rows == 300
    monkeypatch.setattr("likewise.datasets.npz._UNPACKED_ANYWAY", 10**6)
    monkeypatch.setattr(np, "load", pytest.fail)
    with pytest.raises(ValueError, match=r"not a readable .npz file \(0.0 MB that unpack to 2 MB"):
        read_npz(tmp_path / "bomb.npz")


def test_decimals_are_found_in_parts_as_they_are_at_once(monkeypatch):
    X = np.random.RandomState(0).rand(7, 3).astype(np.float32)
    at_once = as_floats(X)
    monkeypatch.setattr("likewise.datasets.npz._VALUES_AT_ONCE", 4)
    assert np.array_equal(as_floats(X), at_once)
    assert np.array_equal(at_once, [[float(str(x)) for x in row] for row in X])


def test_what_zip_says_of_a_damaged_file_is_cut_short(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(30))
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[26:28] = b"\xff\x0f"  # the length of the first name in the file
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(ValueError, match="not a readable") as caught:
        read_npz(tmp_path / "a.npz")
    assert len(str(caught.value)) < 300 + len(str(tmp_path))
