"""likewise ask: keys in, answers saved, and on again where one stopped."""

import io
import re
import sys

import numpy as np
import pandas as pd
import pytest

from likewise import Constraints
from likewise.cli import main
from likewise.cli.question_screen import (
    clean,
    describe_keys,
    keys_of,
    read_choice,
    screen_of,
)
from likewise.cli.terminal_images import draw_image, image_size
from likewise.labeling import Question, hold_log


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.repeat([[0, 0], [9, 9], [0, 9]], 20, axis=0) + rng.normal(size=(60, 2))
    frame = pd.DataFrame(X.round(2), columns=["width", "height"])
    frame.to_csv(tmp_path / "plain.csv", index=False)
    named = frame.assign(id=[f"box {i}" for i in range(60)], color=["red", "blue\x1b[2J"] * 30)
    named.assign(cluster=np.repeat(["a", "b", "c"], 20)).to_csv(tmp_path / "mixed.csv", index=False)
    np.save(tmp_path / "plain.npy", X)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(monkeypatch, capsys, keys, *arguments):
    """Exit code and what was said, after some keys."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(keys))
    monkeypatch.setenv("COLUMNS", "120")
    code = 0
    try:
        main(["ask", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert out == ""
    return code, err


def test_answers_are_saved_and_the_next_run_goes_on(folder, monkeypatch, capsys):
    code, said = run(monkeypatch, capsys, "nn1q", "plain.csv")
    assert code == 0
    assert "3 answers are saved in plain-answers.log, and written to plain-answers.csv" in said
    assert "next: likewise cluster plain.csv -c plain-answers.csv" in said
    first = Constraints.read("plain-answers.csv", n_samples=60)
    assert len(set(first.screens)) == 3
    code, said = run(monkeypatch, capsys, "1", "plain.csv")
    assert "resumed plain-answers.log: 3 answers so far" in said
    assert "question 4, 3 groups so far" in said
    again = Constraints.read("plain-answers.csv", n_samples=60)
    assert again.subset(np.arange(first.n_answers)) == first
    assert again.n_answers > first.n_answers
    assert main(["cluster", "plain.csv", "-c", "plain-answers.csv", "-o", "clusters.csv"]) is None


def test_undo_skip_and_cant_tell_have_keys(folder, monkeypatch, capsys):
    _, said = run(monkeypatch, capsys, "nus?un", "plain.csv")
    assert said.count("taken back") == 2
    _, said = run(monkeypatch, capsys, "uu", "plain.csv")
    assert "nothing to take back" in said
    assert "0 answers are saved" in said


def test_after_some_answers_it_says_how_many_rows_are_placed_rightly(folder, monkeypatch, capsys):
    _, said = run(monkeypatch, capsys, "n" * 12, "plain.csv")
    line = next(line for line in said.splitlines() if "question 11, " in line)
    assert re.search(r"groups so far, \d+% to \d+% of the rows placed rightly", line)
    assert "placed rightly" not in next(
        line for line in said.splitlines() if "question 2, " in line
    )


def test_other_keys_are_ignored(folder, monkeypatch, capsys):
    _, said = run(monkeypatch, capsys, "zz9\nn", "plain.csv")
    assert "1 answer is saved" in said


def test_it_stops_after_so_many_answers(folder, monkeypatch, capsys):
    _, said = run(monkeypatch, capsys, "nnnnnn", "plain.csv", "-n", "2")
    assert "2 answers are saved" in said


def test_a_log_that_a_studio_holds_is_refused_by_one_line(folder, monkeypatch, capsys):
    with hold_log("plain-answers.log"):
        code, said = run(monkeypatch, capsys, "n", "plain.csv")
    assert code == 1
    assert said.splitlines()[-1].endswith(
        "A studio is using plain-answers.log. Join it by its link, or name another file with --log."
    )
    assert "Traceback" not in said
    assert not (folder / "plain-answers.csv").exists()
    assert run(monkeypatch, capsys, "n", "plain.csv")[0] == 0


def test_it_says_when_nothing_is_left_to_ask(folder, monkeypatch, capsys):
    pd.DataFrame({"x": [0.0, 0.1, 9.0]}).to_csv("few.csv", index=False)
    _, said = run(monkeypatch, capsys, "n" * 9, "few.csv")
    assert "nothing is left to ask" in said


def test_a_table_of_mixed_columns_is_shown_without_its_control_characters(
    folder, monkeypatch, capsys
):
    code, said = run(monkeypatch, capsys, "n1", "mixed.csv", "--annotator", "ann")
    assert code == 0
    assert "color" in said
    assert "box " in said
    assert "\x1b[2J" not in said
    ids = [f"box {i}" for i in range(60)]
    assert set(Constraints.read("mixed-answers.csv", ids=ids).annotators) == {"ann"}


def test_a_folder_of_texts_is_shown_as_texts(folder, monkeypatch, capsys):
    (folder / "letters").mkdir()
    for i in range(12):
        words = ("the goal of the match was late", "stocks fell and bonds rose")[i % 2]
        (folder / "letters" / f"{i}.txt").write_text(f"{words} again and again, number {i}")
    code, said = run(monkeypatch, capsys, "nn", "letters")
    assert code == 0
    assert "the goal" in said
    assert re.search(r"number\s+\d", said)  # beyond the width of a cell among others
    assert "2 answers are saved in letters-answers.log" in said


def test_a_folder_of_images_is_shown_as_images(folder, monkeypatch, capsys):
    Image = pytest.importorskip("PIL.Image")
    (folder / "photos").mkdir()
    for i in range(12):
        color = ((250, 10, 10), (10, 10, 250))[i % 2]
        Image.new("RGB", (40, 40 + i), color).save(folder / "photos" / f"{i}.png")
    code, said = run(monkeypatch, capsys, "nn", "photos")
    assert code == 0
    assert "****" in said or "####" in said or "++++" in said  # no color where nobody looks
    assert "2 answers are saved in photos-answers.log" in said


def test_two_pixels_are_one_letter_by_hand():
    red, blue, white = [1.0, 0, 0], [0, 0, 1.0], [1.0, 1, 1]
    text = draw_image(np.array([[red, white], [blue, white]]), in_color=True)
    assert text.plain == "▀▀"
    assert [str(span.style) for span in text.spans] == [
        "rgb(255,0,0) on rgb(0,0,255)",
        "rgb(255,255,255) on rgb(255,255,255)",
    ]
    black = [0.0, 0, 0]
    gray = draw_image(
        np.array([[black, white], [black, white], [white] * 2, [black] * 2]), in_color=False
    )
    assert gray.plain == "@ \n=="


@pytest.mark.parametrize(("width", "n_images", "size"), [(80, 2, 32), (80, 9, 8), (120, 5, 20)])
def test_images_fit_side_by_side(width, n_images, size):
    assert image_size(width, n_images) == size


def test_a_column_of_clusters_is_reviewed_and_is_no_feature(folder, monkeypatch, capsys):
    _, said = run(monkeypatch, capsys, "", "mixed.csv", "--start-column", "cluster")
    assert "3 groups so far" in said
    assert "\n  cluster" not in said


def test_answers_from_a_file_come_first_and_only_once(folder, monkeypatch, capsys):
    Constraints(60, must_link=[(0, 1)], cannot_link=[(0, 20)]).write("given.csv")
    _, said = run(monkeypatch, capsys, "", "plain.npy", "-c", "given.csv")
    assert "2 new answers from given.csv" in said
    _, said = run(monkeypatch, capsys, "", "plain.npy", "-c", "given.csv")
    assert "0 new answers from given.csv" in said
    assert Constraints.read("plain-answers.csv", n_samples=60).n_answers == 2


def test_rows_that_have_changed_are_named(folder, monkeypatch, capsys):
    run(monkeypatch, capsys, "n", "mixed.csv")
    frame = pd.read_csv("mixed.csv")
    frame["width"] += 1
    frame.to_csv("mixed.csv", index=False)
    _, said = run(monkeypatch, capsys, "", "mixed.csv")
    assert "is set aside: row box" in said
    assert "is changed" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("plain.csv", "--features", "depth"),
            "the table has no such column. Did you mean 'width'?",
        ),
        (("plain.csv", "--start-column", "k"), "has no column 'k'. It has width, height"),
        (("plain.csv", "--log", "plain.csv"), "is the same file as DATA plain.csv"),
        (("-",), "The keys come from stdin"),
        (("plain.csv", "-o", "kept.csv"), "kept.csv already exists"),
        (("plain.csv", "--log", "kept.csv"), "kept.csv is no log of answers"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_changes_nothing(
    folder, monkeypatch, capsys, arguments, words
):
    (folder / "kept.csv").write_text("kind,a,b\n" * 100)
    code, said = run(monkeypatch, capsys, "n", *arguments)
    assert code == 1
    assert words in said
    assert said.count("\n") == 1
    assert (folder / "kept.csv").read_text() == "kind,a,b\n" * 100


# ---- screens


def test_every_offered_answer_has_its_own_key():
    questions = [
        Question("pair", (0, 1)),
        Question("odd_one_out", (0, 1, 2)),
        Question("group", (0,), groups=tuple((i,) for i in range(1, 9)), more=((9,),)),
        Question("grid", (0, 1, 2)),
        Question("review", (0, 1)),
    ]
    for question in questions:
        keys = keys_of(question)
        assert tuple(keys.values()) == question.offered
        assert not {"u", "s", "q"} & keys.keys()
        assert "? can't tell" in describe_keys(question)


@pytest.mark.parametrize(
    ("keys", "choice"), [("12\n", (0, 1)), ("121\n", (1,)), ("\n", ()), ("1?", "cant_tell")]
)
def test_a_grid_is_chosen_key_by_key(keys, choice):
    pressed = iter(keys)
    assert read_choice(Question("grid", (0, 1, 2)), lambda: next(pressed), lambda _: None) == choice


def test_a_screen_has_few_columns_and_says_how_many_are_left():
    columns = {f"c{j}": np.arange(3.0) * j for j in range(20)}
    table = screen_of(Question("pair", (0, 2)), columns, str)
    assert len(table.rows) == 12
    assert table.caption == "and 8 more columns, in which they differ less"


def test_a_cell_is_one_short_line():
    assert clean("two\nlines\x07") == "two lines "
    assert clean(1.23456789) == "1.235"
    assert clean(51_500.0) == "51500"  # nobody compares 5.15e+04 with 5.18e+04
    assert clean(np.nan) == ""
    assert len(clean("x" * 100)) == 32
    assert clean(None) == ""
