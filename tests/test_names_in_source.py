"""One name, one thing: no file and no class of the package stands twice."""

import ast
from collections import Counter
from pathlib import Path

import likewise

SOURCE = Path(likewise.__file__).parent
FILES = [path for path in sorted(SOURCE.rglob("*.py")) if path.name != "__init__.py"]


def repeated(names):
    return sorted(name for name, count in Counter(names).items() if count > 1)


def test_no_file_name_stands_in_two_rooms_whether_words_are_joined_or_not():
    assert len(FILES) > 100
    assert repeated(path.stem.replace("_", "") for path in FILES) == []


def test_no_class_stands_in_two_files():
    classes = [
        node.name
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    ]
    assert repeated(classes) == []


def test_every_test_file_lies_in_the_room_whose_module_it_names():
    tests = Path(__file__).parent
    rooms = {path.stem: path.parent.name for path in FILES if path.parent != SOURCE}
    strays = [
        path
        for path in sorted(tests.glob("*/test_*.py"))
        if path.parent.name in set(rooms.values())
        and rooms.get(path.stem.removeprefix("test_"), path.parent.name) != path.parent.name
    ]
    assert strays == []


def test_a_repeated_name_is_noticed():
    assert repeated(["starts", "medoids", "starts"]) == ["starts"]
