"""Some hundred random commands about malformed files; `make soak` runs thousands."""

import numpy as np
import pytest

from tests.fuzz_cli import check_end, draw_command, make_models, run_case, run_inside, run_process

BLOCK = 50  # commands a test


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return make_models(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("block", range(4))
def test_whatever_the_files_a_command_does_its_work_or_ends_in_one_line(tmp_path, models, block):
    codes = [run_case(seed, tmp_path, models) for seed in range(block * BLOCK, (block + 1) * BLOCK)]
    assert {0, 1, 2} == set(codes)


@pytest.mark.parametrize("case", [11, 12])
def test_a_real_process_ends_as_the_same_command_does_inside_this_one(tmp_path, models, case):
    command = draw_command(np.random.RandomState(case), tmp_path, models)
    before = {path.name for path in tmp_path.iterdir()}
    code, out, err = run_process(command)
    check_end(tmp_path, before, code, out, err)
    assert run_inside(command)[0] == code
