import io
import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from safetensors.numpy import save_file

from likewise.files import tensor_file
from likewise.files.tensor_file import ModelFileError, read_tensors, write_tensors

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(-1e300, 1e300),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="="),
    hnp.unsigned_integer_dtypes(endianness="="),
    hnp.floating_dtypes(endianness="=", sizes=(16, 32, 64)),
    hnp.unicode_string_dtypes(endianness="=", max_len=6),
    hnp.byte_string_dtypes(max_len=6),
    hnp.datetime64_dtypes(endianness="="),
    hnp.timedelta64_dtypes(endianness="="),
)
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))


def assert_same_array(read, written):
    assert (read.dtype, read.shape) == (written.dtype, written.shape)
    assert read.tobytes() == written.tobytes()  # the bits: NaN payloads and -0.0 too
    assert read.flags.writeable
    assert read.flags.aligned


@pytest.fixture
def sample(tmp_path):
    path = tmp_path / "a.tensors"
    write_tensors(
        path, {"x": np.arange(12.0).reshape(3, 4), "s": np.array(["a", "bé"])}, {"k": [1, 2]}
    )
    return path


@settings(max_examples=100)
@given(st.dictionaries(st.text(min_size=1), arrays, max_size=4), json_values)
def test_what_is_read_equals_what_was_written(tmp_path, written, document):
    path = tmp_path / "a.tensors"
    write_tensors(path, written, document)
    read = read_tensors(path)
    assert read.document == document
    assert set(read.arrays) == set(written)
    for name in written:
        assert_same_array(read.arrays[name], written[name])


def test_views_and_foreign_byte_orders_are_stored_by_value(tmp_path):
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    views = {
        "strided": base[::2, 1::3],
        "transposed": base.T,
        "reversed": base[::-1],
        "broadcast": np.broadcast_to(np.float16(2), (3, 2)),
        "big": np.arange(5, dtype=">i4"),
        "strings": np.array([["ab", "c"], ["", "日本"]])[:, ::-1],
    }
    write_tensors(tmp_path / "a", views, None)
    read = read_tensors(tmp_path / "a").arrays
    for name, view in views.items():
        assert_array_equal(read[name], view)
        assert read[name].dtype == view.dtype.newbyteorder("=")


def test_narrow_text_is_kept_narrow(tmp_path):
    write_tensors(tmp_path / "a", {"s": np.full((1000, 10), "x" * 50)}, None)
    assert os.path.getsize(tmp_path / "a") < 502_000


def test_equal_content_gives_equal_files(tmp_path):
    one, two = np.arange(3), np.array(["a"])
    write_tensors(tmp_path / "a", {"x": one, "y": two}, {})
    write_tensors(tmp_path / "b", {"y": two, "x": one}, {})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    "array",
    [np.array([{}]), np.zeros(2, "f4,i4"), np.zeros(2, complex), np.zeros(2, np.longdouble)],
)
def test_an_array_that_cannot_be_kept_is_named_and_nothing_is_written(array, tmp_path):
    with pytest.raises(TypeError, match=r"Array 'weights' has type .* cannot be stored"):
        write_tensors(tmp_path / "a", {"weights": array}, None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["__metadata__", 3])
def test_a_name_that_cannot_be_kept_is_an_error(name, tmp_path):
    with pytest.raises(ValueError, match="Choose another"):
        write_tensors(tmp_path / "a", {name: np.zeros(1)}, None)


@pytest.mark.parametrize("document", [float("nan"), {"x": float("inf")}, {"x": object()}])
def test_a_document_that_json_cannot_hold_is_an_error_and_nothing_is_written(document, tmp_path):
    with pytest.raises((ValueError, TypeError), match="JSON"):
        write_tensors(tmp_path / "a", {}, document)
    assert list(tmp_path.iterdir()) == []


def test_a_document_too_long_to_be_read_back_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(tensor_file, "MAX_HEADER", 100)
    with pytest.raises(ValueError, match=r"the document takes \d+ characters.*Turn its long lists"):
        write_tensors(tmp_path / "a", {}, list(range(100)))
    assert list(tmp_path.iterdir()) == []


class Interrupted:
    """Stands for the disk: fails after having written a part."""

    def __init__(self, error):
        self.error = error

    def __call__(self, file, stored, metadata):
        file.write(b"half a file")
        raise self.error


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(error, sample, monkeypatch):
    before = sample.read_bytes()
    monkeypatch.setattr(tensor_file, "write_safetensors", Interrupted(error))
    with pytest.raises(type(error)):
        write_tensors(sample, {"x": np.zeros(1)}, {})
    assert sample.read_bytes() == before
    assert list(sample.parent.iterdir()) == [sample]


@pytest.mark.parametrize("n_arrays", [0, 1, 12])
def test_the_safetensors_package_reads_what_we_write(n_arrays):
    rng = np.random.RandomState(0)
    codes = ("?", "u1", "i1", "i2", "u2", "f2", "i4", "u4", "f4", "i8", "u8", "f8")
    shapes = [(), (0, 3), (5,), (2, 3, 4)]
    arrays = {
        f'{i} "é\n': np.asarray(rng.randint(0, 2, shapes[i % 4]), dtype=codes[i])
        for i in range(n_arrays)
    }
    metadata = {"words": 'of "any"\nkind: é𐍈'}
    file = io.BytesIO()
    tensor_file.write_safetensors(file, arrays, metadata)
    written = file.getvalue()
    read = safetensors.numpy.load(written)
    assert set(read) == set(arrays)
    for name, array in arrays.items():
        assert_same_array(read[name], array)
    length = int.from_bytes(written[:8], "little")
    header = json.loads(written[8 : 8 + length])
    assert header["__metadata__"] == metadata
    for name, array in arrays.items():  # memory maps of the file are aligned
        assert (8 + length + header[name]["data_offsets"][0]) % array.itemsize == 0


def test_more_names_than_can_be_read_back_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(tensor_file, "_MAX_WHOLE_HEADER", 1000)
    with pytest.raises(ValueError, match=r"30 arrays take a header of .*Use fewer arrays"):
        write_tensors(tmp_path / "a", {f"x{i}": np.zeros(1) for i in range(30)}, {})
    assert not list(tmp_path.iterdir())


def test_a_name_that_is_no_unicode_text_is_an_error_and_nothing_is_written(tmp_path):
    with pytest.raises(ValueError, match="surrogates not allowed"):
        write_tensors(tmp_path / "a", {"\ud800": np.zeros(1)}, {})
    assert not list(tmp_path.iterdir())


def test_reading_gives_copies_that_outlive_the_file(sample):
    read = read_tensors(sample).arrays["x"]
    sample.write_bytes(b"")
    assert_array_equal(read, np.arange(12.0).reshape(3, 4))


# ---- files that are not ours, or not ours any more


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("a pickle was run",)


def make_foreign(kind, path):
    if kind == "empty":
        path.touch()
    elif kind == "folder":
        path.mkdir()
    elif kind == "pickle":
        path.write_bytes(pickle.dumps(Bomb()))
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("x", "y")
    elif kind == "npz":
        with open(path, "wb") as file:
            np.savez(file, x=np.array([Bomb()], dtype=object))
    elif kind == "text":
        path.write_text("kind,a,b\nmust_link,0,1\n")
    elif kind == "other safetensors":
        save_file({"x": np.zeros(2)}, path)
    elif kind == "header too long":
        path.write_bytes(struct.pack("<Q", 2**63) + b"{}")
    elif kind == "bfloat16":
        header = b'{"x":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}'
        path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0\0")
    elif kind == "deep header":
        header = b'{"__metadata__":' + b"[" * 100_000
        path.write_bytes(struct.pack("<Q", len(header)) + header)


@pytest.mark.parametrize(
    "kind",
    ["missing", "empty", "folder", "pickle", "zip", "npz", "text", "other safetensors"]
    + ["header too long", "bfloat16", "deep header"],
)
def test_a_foreign_file_ends_in_one_line_that_names_it(kind, tmp_path):
    path = tmp_path / "foreign"
    make_foreign(kind, path)
    with pytest.raises(ModelFileError) as caught:
        read_tensors(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert message.endswith(".")


def write_forged(path, header, array):
    """A file whose checksum fits: what a forger would make."""
    arrays = {"x": array}
    save_file(arrays, path, metadata={tensor_file.LAYOUT: tensor_file.seal(arrays, header)})


def header_saying(dtypes):
    return json.dumps({"dtypes": dtypes, "document": None})


@pytest.mark.parametrize(
    "header",
    [
        "",
        "{",
        "null",
        '{"dtypes": {}}',
        '{"document": {}}',
        '{"dtypes": {}, "document": NaN}',
        pytest.param("[" * 100_000, id="deep"),
        header_saying([]),
        header_saying({"x": 3}),
        header_saying({"x": "O"}),
        header_saying({"x": "<f8"}),
        header_saying({"x": "<U3"}),
        header_saying({"x": "<U999999999"}),
        header_saying({"x": "<M8[us]"}),
        header_saying({"x": "<M8[parsec]"}),
    ],
)
def test_a_forged_header_ends_in_the_named_error(header, tmp_path):
    codes = np.arange(4, dtype=np.uint32).reshape(2, 2)
    write_forged(tmp_path / "honest", header_saying({"x": "<U2"}), codes)
    assert_array_equal(read_tensors(tmp_path / "honest").arrays["x"], ["\0\1", "\2\3"])
    write_forged(tmp_path / "forged", header, codes)
    with pytest.raises(ModelFileError, match=r"forged has a header that likewise never writes"):
        read_tensors(tmp_path / "forged")


def test_a_code_point_outside_unicode_is_an_error(tmp_path):
    codes = np.array([[0x110000]], dtype=np.uint32)
    write_forged(tmp_path / "a", header_saying({"x": "<U1"}), codes)
    with pytest.raises(ModelFileError, match="code point 1114112"):
        read_tensors(tmp_path / "a")


def test_every_truncation_is_noticed(sample):
    whole = sample.read_bytes()
    for length in range(len(whole)):
        sample.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            read_tensors(sample)
    sample.write_bytes(whole + b"\0")
    with pytest.raises(ModelFileError):
        read_tensors(sample)


@pytest.mark.parametrize(("old", "new"), [(b"F64", b"I64"), (b"[3,4]", b"[4,3]")])
def test_a_change_of_type_or_shape_alone_is_noticed(old, new, sample):
    whole = sample.read_bytes()
    assert whole.count(old) == 1
    sample.write_bytes(whole.replace(old, new))
    with pytest.raises(ModelFileError, match="checksum"):
        read_tensors(sample)


def test_a_flipped_bit_in_any_byte_is_noticed(sample):
    whole = sample.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        sample.write_bytes(changed)
        with pytest.raises(ModelFileError):
            read_tensors(sample)


# ---- sizes and types that a header claims


def container(header, body=b""):
    """A safetensors file of this header, a dict or text."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


# Every type that safetensors 0.8 names, and the bits of one value; those with no NumPy type last.
BITS = {
    **{"BOOL": 8, "U8": 8, "I8": 8, "U16": 16, "I16": 16, "F16": 16, "U32": 32, "I32": 32},
    **{"F32": 32, "U64": 64, "I64": 64, "F64": 64},
    **{"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8},
    **{"F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "BF16": 16, "C64": 64},
}


@pytest.mark.parametrize("dtype", [*BITS, "F128", "", None, 3, [], {}])
def test_an_array_of_any_type_is_read_or_refused_in_one_line(dtype, tmp_path):
    n_bytes = BITS.get(dtype, 8) if isinstance(dtype, str) else 8  # of eight values
    place = {"dtype": dtype, "shape": [8], "data_offsets": [0, n_bytes]}
    (tmp_path / "a").write_bytes(container({"x": place}, bytes(n_bytes)))
    with pytest.raises(ModelFileError, match=r"never writes|damaged|has no 'likewise") as caught:
        read_tensors(tmp_path / "a")
    assert "\n" not in str(caught.value)


def test_the_types_that_are_written_are_those_that_are_read(tmp_path):
    written = {code: np.arange(2).astype(code) for code in "?BHILbhilefd"}
    write_tensors(tmp_path / "a", written, None)
    for code, array in read_tensors(tmp_path / "a").arrays.items():
        assert_same_array(array, written[code])


X_PLACE = '"dtype": "U8", "shape": [2], "data_offsets": [0, 2]'


@pytest.mark.parametrize(
    "header",
    [
        f'{{"x": {{{X_PLACE}}}, "x": {{{X_PLACE}}}}}',
        '{"x": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}',
        '{"x": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]}}',
        '{"x": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]}}',
        '{"x": {"dtype": "U8", "shape": [2, 0], "data_offsets": [0, 2]}}',
        '{"x": {"dtype": "U8", "shape": [-1, -2], "data_offsets": [0, 2]}}',
        '{"x": {"dtype": "U8", "shape": [true, 2], "data_offsets": [0, 2]}}',
        '{"x": {"dtype": "U8", "shape": [2.0], "data_offsets": [0, 2]}}',
        '{"x": {"dtype": "U8", "shape": 2, "data_offsets": [0, 2]}}',
        '{"x": {"dtype": "U8", "shape": [2], "data_offsets": [0]}}',
        '{"x": {"dtype": "BOOL", "shape": [2], "data_offsets": [0, 2]}}',
        f'{{"x": {{{X_PLACE}}}, "__metadata__": {{"a": 1}}}}',
        f'{{"x": {{{X_PLACE}}}, "y": {{{X_PLACE}}}}}',
        f'{{"x": {{"dtype": "U8", "shape": [0, {10**18}], "data_offsets": [0, 0]}}}}',
        f'{{"x": {{"dtype": "U8", "shape": [{"9" * 4000}], "data_offsets": [0, 2]}}}}',
        f'{{"x": {{"dtype": "U8", "shape": {[1] * 99}, "data_offsets": [0, 2]}}}}',
        '{"__metadata__": {"likewise-tensors-1": "\\ud800"}}',
        "[]", "{", "", "NaN", "\x80",
    ],
)  # fmt: skip
def test_a_header_that_does_not_fit_the_file_ends_in_the_named_error(header, tmp_path):
    (tmp_path / "a").write_bytes(container(header.encode("latin-1"), b"\2\2"))
    with pytest.raises(ModelFileError) as caught:
        read_tensors(tmp_path / "a")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def write_sparse(path, size):
    """A file with an honest header about `size` bytes of zeros that take no room on the disk."""
    place = {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}
    head = container({"x": place})
    path.write_bytes(head)
    try:
        os.truncate(path, len(head) + size)
    except OSError:
        pytest.skip(f"this disk holds no file of {size} bytes")


def test_a_file_larger_than_the_machine_is_refused_before_it_is_read(tmp_path):
    write_sparse(tmp_path / "a", 2**40)
    with pytest.raises(ModelFileError, match="takes 1100 GB, more than this machine's memory"):
        read_tensors(tmp_path / "a")


def test_a_file_larger_than_the_memory_that_is_left_ends_in_the_named_error(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    write_sparse(tmp_path / "a", 8 * 2**30)
    script = """
import resource, sys
from likewise.files import tensor_file
tensor_file._memory_of_machine = lambda: float("inf")
resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30, 2 * 2**30))
try:
    tensor_file.read_tensors(sys.argv[1])
except tensor_file.ModelFileError as error:
    print(error)
"""
    assert resource.RLIMIT_AS
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a")], capture_output=True, check=False
    )
    assert done.stderr == b""
    assert b"takes 8.6 GB, more than the memory that is left" in done.stdout


def test_a_document_longer_than_any_that_is_written_is_refused_unparsed(tmp_path, monkeypatch):
    header = header_saying({}) + " " * 100
    write_forged(tmp_path / "a", header, np.zeros(1))
    read_tensors(tmp_path / "a")
    monkeypatch.setattr(tensor_file, "MAX_HEADER", 99)
    monkeypatch.setattr(tensor_file, "seal", pytest.fail)
    with pytest.raises(ModelFileError, match="a header of 1"):
        read_tensors(tmp_path / "a")


def test_a_text_from_a_file_is_printed_on_one_short_line():
    assert tensor_file.printable("a\x1b[2J\nb\u202ec" + "d" * 999) == "a [2J b c" + "d" * 191
