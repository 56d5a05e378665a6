"""Two thousand random files; `make soak` reads a million, guided by coverage."""

import pytest

from tests.fuzz_files import TARGETS, check_case, draw_case, make_seeds

BLOCK = 500  # files a test


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    return make_seeds(tmp_path_factory.mktemp("seeds"))


@pytest.mark.parametrize("target", TARGETS)
def test_some_undamaged_file_of_every_kind_is_read(target, tmp_path, seeds):
    read = [check_case(name, content, tmp_path) for name, content in seeds if name == target]
    assert any(read) or target == "header.likewise"  # its arrays are not those of the model


@pytest.mark.parametrize("block", range(4))
def test_a_random_file_is_read_or_ends_in_one_named_line(block, tmp_path, seeds):
    cases = [draw_case(seed, seeds) for seed in range(block * BLOCK, (block + 1) * BLOCK)]
    n_read = sum(check_case(target, content, tmp_path) for target, content in cases)
    assert 0 < n_read < BLOCK
