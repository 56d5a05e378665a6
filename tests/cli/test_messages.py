"""What commands print cannot steer the terminal."""

import contextlib

import numpy as np
import pytest

from likewise import Constraints
from likewise.cli import main
from likewise.cli.messages import for_terminal, n_answers_that

TITLE = "\x1b]0;owned\x07"  # sets the title of a window
NAMES = [f"r{i}{TITLE}[bold]" for i in range(60)]


@pytest.fixture
def table(tmp_path):
    """Rows whose names, and whose columns, hold escape codes; two clusters, an answer wrong."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + 8 * y[:, None]
    lines = [f"id,a{TITLE},b,c"]
    lines += [",".join([name, *(f"{x:.3f}" for x in row)]) for name, row in zip(NAMES, X)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    answers = Constraints.from_labels(y, n_pairs=60, random_state=0)
    wrong = Constraints(60, must_link=[(0, 1)])
    for name, told in (("answers.csv", answers + wrong), ("unknown.csv", wrong)):
        ids = NAMES if name == "answers.csv" else [f"x{name}" for name in NAMES]
        Constraints(ids=ids, must_link=told.must_link, cannot_link=told.cannot_link).write(
            tmp_path / name
        )
    return path


@pytest.mark.parametrize("answers", ["answers.csv", "unknown.csv"])
@pytest.mark.parametrize("command", ["cluster", "check"])
def test_escape_codes_of_the_data_do_not_reach_the_terminal(table, answers, command, capsys):
    words = [command, str(table), "-c", str(table.parent / answers), "-k", "2"]
    words += ["-o", str(table.parent / "out.csv"), "-v"]
    fails = pytest.raises(SystemExit) if answers == "unknown.csv" else contextlib.nullcontext()
    with fails:
        main(words)
    printed = capsys.readouterr()
    assert "owned" in printed.err
    assert "\x1b" not in printed.err
    assert "\x07" not in printed.err


def test_words_and_lines_stay_as_they_are():
    assert for_terminal("Zürich, 東京:\n  5 €") == "Zürich, 東京:\n  5 €"
    assert for_terminal("a\tb\x9b31mc") == "a b 31mc"


@pytest.mark.parametrize(
    ("n", "line"),
    [
        (0, "0 answers contradict others"),
        (1, "1 answer contradicts others"),
        (2, "2 answers contradict others"),
    ],
)
def test_one_answer_is_no_plural(n, line):
    assert n_answers_that(n, "contradict", "others") == line
