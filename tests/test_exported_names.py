"""A room is used through the names that it exports: by other rooms, and by experiments."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import experiments
import likewise

SOURCE = Path(likewise.__file__).parent
FILES = {
    **{f"experiments/{p.name}": p for p in Path(experiments.__file__).parent.glob("*.py")},
    **{str(p.relative_to(SOURCE)): p for p in SOURCE.rglob("*.py")},
}
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
    if name.startswith("_") and name != "__version__":
        return False
    if module.count(".") > 1 and not module.startswith(ROOMS_BY_MODULE):
        return False
    if module in ("likewise", "likewise.numerics", "likewise.files"):
        public = {*likewise.__all__, "PUBLIC_NAMES", "__version__"}
        return name in public or (SOURCE / name).is_dir() or "." in module
    offered = getattr(import_module(module), "__all__", None)
    return offered is None or name in offered or not name


@pytest.mark.parametrize("file", sorted(FILES))
def test_only_names_that_a_room_exports_are_imported_from_outside_it(file):
    own = f"likewise.{Path(file).parts[0]}"
    hidden = [
        (module, name)
        for module, name in imported_names(FILES[file].read_text())
        if module != own and not module.startswith(f"{own}.") and not is_offered(module, name)
    ]
    assert hidden == []


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
