"""Experiments use likewise as anybody could: by the names that its rooms offer."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import experiments

FILES = sorted(Path(experiments.__file__).parent.glob("*.py"))
ROOMS_BY_MODULE = ("likewise.numerics.", "likewise.files.")  # they gather nothing, by design


def imported_names(source):
    """(module, name) for every name that is imported from likewise."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "likewise":
                    yield alias.name, ""
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("likewise"):
            for alias in node.names:
                yield node.module, alias.name


def is_offered(module, name):
    """Whether a room exports the name, or a module that is no part of a room has it."""
    if name.startswith("_"):
        return False
    if module.count(".") > 1 and not module.startswith(ROOMS_BY_MODULE):
        return False
    offered = getattr(import_module(module), "__all__", None)
    return offered is None or name in offered or not name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_experiment_imports_only_names_that_a_room_exports(path):
    hidden = [one for one in imported_names(path.read_text()) if not is_offered(*one)]
    assert not hidden


@pytest.mark.parametrize(
    "line",
    [
        "from likewise.duals.fitness import fitness_of_sets",
        "from likewise.guided import guided_clustering",
        "from likewise.kernels import _something",
        "import likewise.duals.fitness",
    ],
)
def test_a_name_that_no_room_exports_is_noticed(line):
    (found,) = imported_names(line)
    assert not is_offered(*found)
