"""likewise studio: what is served, and what cannot be."""

import pickle

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import likewise.studio
from likewise.cli import main, messages
from likewise.cli.ask_command import read_shown_rows
from likewise.cli.data_rows import ColumnChoice
from likewise.cli.studio_rows import gallery_of
from likewise.labeling import Event, EventLog, LabelingSession, Question, RowNames
from likewise.studio import hold_log


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.repeat([[0, 0], [9, 9], [0, 9]], 10, axis=0) + rng.normal(size=(30, 2))
    frame = pd.DataFrame(X.round(2), columns=["width", "height"])
    frame.to_csv(tmp_path / "plain.csv", index=False)
    mixed = frame.assign(id=[f"box {i}" for i in range(30)], color=["red", "blue"] * 15)
    mixed.to_csv(tmp_path / "mixed.csv", index=False)
    np.save(tmp_path / "plain.npy", X)
    (tmp_path / "texts").mkdir()
    (tmp_path / "photos").mkdir()
    for i in range(12):
        words = ("cats purr and sleep", "boats sail the sea")[i % 2]
        (tmp_path / "texts" / f"{i}.txt").write_text(f"{words} {i}")
        color = ((200, 10, 10), (10, 10, 200))[i % 2]
        Image.new("RGB", (40, 30), color).save(tmp_path / "photos" / f"{i}.png")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def served(monkeypatch):
    """What would be served, instead of serving it."""
    calls = []
    monkeypatch.setattr(
        likewise.studio, "serve", lambda *a, **k: calls.append((*a, k)), raising=False
    )
    return calls


def run(capsys, *arguments):
    code = 0
    try:
        main(["studio", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert out == ""
    return code, err


@pytest.mark.parametrize(
    ("data", "kind", "shown"),
    [
        ("plain.csv", "table", ("cells", [["width", "0.13"], ["height", "-0.13"]])),
        ("mixed.csv", "table", ("title", "box 0")),
        ("plain.npy", "numbers", ("id", "row 0")),
        ("texts", "texts", ("text", "cats purr and sleep 0")),
        ("photos", "images", ("image", "/media/row/0?size=256")),
    ],
)
def test_every_kind_of_data_is_shown_as_what_it_is(folder, served, capsys, data, kind, shown):
    code, _ = run(capsys, data)
    assert code == 0
    studio = served[0][0]
    assert studio.gallery.kind == kind
    assert studio.gallery.card(0)[shown[0]] == shown[1]
    assert studio.gallery.title == data
    assert (folder / f"{data.partition('.')[0]}-answers.log").exists()


@pytest.mark.parametrize("data", ["plain.csv", "mixed.csv", "mixed.jsonl", "texts", "photos"])
def test_every_kind_of_data_can_be_sent_to_the_thinker_and_the_learner(
    folder, served, capsys, data, monkeypatch
):
    pd.read_csv("mixed.csv").to_json("mixed.jsonl", orient="records", lines=True)
    sessions = []

    def keep(session, *arguments):
        sessions.append(session)
        return studio_of(session, *arguments)

    studio_of = likewise.studio.Studio
    monkeypatch.setattr(likewise.studio, "Studio", keep, raising=False)
    assert run(capsys, data)[0] == 0
    sent = pickle.dumps((sessions[0].settings, served[0][0].gallery.describing(2)))
    settings, _ = pickle.loads(sent)
    numbers = LabelingSession(**settings).numbers
    assert abs(numbers - sessions[0].numbers).max() == 0


def test_images_are_served_at_their_sizes_and_in_an_atlas(folder, served, capsys):
    run(capsys, "photos")
    gallery = served[0][0].gallery
    assert gallery.id_column == "file"  # as in the clusters of likewise cluster
    content, kind = gallery.image(0, 96)
    assert kind == "image/jpeg"
    assert content.startswith(b"\xff\xd8")
    assert gallery.atlas(0)[0].startswith(b"\x89PNG")
    (folder / "photos" / "0.png").write_bytes(b"no image")
    with pytest.raises(LookupError, match="cannot be read"):
        gallery.image(0, 96)


def test_answers_are_resumed(folder, served, capsys):
    X = pd.read_csv("plain.csv").to_numpy()
    log = EventLog("plain-answers.log", RowNames(X))
    log.append(Event("answer", "e", Question("pair", (0, 1)), "together"))
    log.close()
    _, said = run(capsys, "plain.csv")
    assert "resumed plain-answers.log: 1 answer so far" in said
    assert served[0][0].desk.n_answers == 1


def test_settings_reach_the_studio(folder, served, capsys):
    (folder / "study.toml").write_text("participants = 2\ntrials = 3\nkinds = ['pair']\n")
    options = ["--people", "ann, bob", "--overlap", "0.2", "--blind", "--no-browser", "-k", "3"]
    more = ["--allow-host", "lab.example", "--port", "9000", "--study", "study.toml", "-o", "out"]
    code, said = run(capsys, "plain.csv", *options, *more)
    assert code == 0
    assert "2 participants; their links are in out/links.csv" in said
    studio, visitors, keywords = served[0]
    settings = studio.settings
    assert settings.people == visitors.people == ("ann", "bob")
    assert (settings.overlap, settings.is_blind, settings.needs_name) == (0.2, True, True)
    assert settings.study.n_trials == 3
    assert keywords["hosts"] == ("lab.example",)
    assert (keywords["port"], keywords["opens_browser"]) == (9000, False)
    tokens = (folder / "out" / "links.csv").read_text().splitlines()
    assert visitors.find(visitors.enter(tokens[1].split(",")[1])).name == "p1"


def test_the_demo_opens_the_studio_on_the_digits(folder, served, capsys):
    main(["demo", "--studio", "--no-browser"])
    capsys.readouterr()
    gallery = served[0][0].gallery
    assert gallery.kind == "images"
    assert gallery.image(0, 96)[1] == "image/png"
    assert (folder / "demo-studio" / "digits-answers.log").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-",), "must be a file"),
        (("plain.csv", "--answers", "plain.csv"), "is the same file as DATA plain.csv"),
        (("plain.csv", "--answers", "mixed.csv"), "mixed.csv is no log of answers"),
        (("plain.csv", "--answers", "held.log"), "Another studio is using held.log"),
        (("plain.csv", "--study", "mixed.csv"), "mixed.csv is no TOML file"),
    ],
)
def test_what_cannot_be_served_is_one_line(folder, served, capsys, arguments, words):
    held = hold_log("held.log")
    code, said = run(capsys, *arguments)
    held.close()
    assert code == 1
    assert words in said
    assert said.count("\n") == 1
    assert served == []


def test_without_the_extra_one_line_says_how_to_install_it(folder, capsys, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "likewise.studio.serving", raising=False)
    code, said = run(capsys, "plain.csv")
    assert code == 1
    in_a_copy = "in a copy of the repository: pip install '.[studio]'"
    line = f"The studio needs uvicorn: pip install 'likewise[studio]'; {in_a_copy}."
    assert said == f"likewise: {line}\n"


def test_how_an_extra_is_installed_in_a_copy_is_said_before_a_release_alone(monkeypatch):
    line = "Parquet files need pyarrow: pip install 'likewise[io]'."
    monkeypatch.setattr(messages, "__version__", "1.2.dev0")
    said = messages.say_how_in_a_copy(line)
    assert said.endswith("'likewise[io]'; in a copy of the repository: pip install '.[io]'.")
    assert messages.say_how_in_a_copy("pip install pandas") == "pip install pandas"
    monkeypatch.setattr(messages, "__version__", "1.2")
    assert messages.say_how_in_a_copy(line) == line


def test_a_long_text_of_a_table_is_shown_whole_and_short_ones_are_cells(tmp_path):
    texts = [f"{'A sentence about many things. ' * 20} Number {i}." for i in range(40)]
    notes = [("soft and sweet", "dark and dry", "light and fresh")[i % 3] for i in range(40)]
    pd.DataFrame({"text": texts, "note": notes}).to_csv(tmp_path / "t.csv", index=False)
    choice = ColumnChoice(as_text=["text", "note"])
    gallery = gallery_of(read_shown_rows(str(tmp_path / "t.csv"), None, choice, None), "t")
    card = gallery.card(7)
    assert card["text"] == texts[7]
    assert card["cells"] == [["note", notes[7]]]
    assert gallery.describing(2)["texts"] is None  # the columns describe the clusters
