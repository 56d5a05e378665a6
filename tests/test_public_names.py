"""`import likewise` alone reaches every public room and name, and imports none before its use."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import likewise

API = Path(__file__).parent.parent / "docs" / "api" / "index.md"
ROOMS = sorted(
    {
        *re.findall(r"currentmodule:: likewise\.(\w+)", API.read_text()),
        *("cluster", "constraints", "duals", "evaluation", "guided", "kernel_learning"),
        *("metric_learning", "model_file", "progress", "references", "selection"),
    }
)


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_every_public_room_is_reached_after_importing_likewise_alone():
    program = f"import likewise\nfor room in {ROOMS}: print(getattr(likewise, room).__name__)"
    assert run(program) == [f"likewise.{room}" for room in ROOMS]


def test_a_name_in_a_room_is_reached_through_it():
    program = "import likewise; print(likewise.deep.DeepConstrainedClustering.__name__)"
    assert run(program) == ["DeepConstrainedClustering"]


def test_dir_lists_rooms_and_names():
    assert {*ROOMS, *likewise.__all__} <= set(dir(likewise))


def test_nothing_is_imported_before_it_is_used():
    program = (
        "import sys, likewise; dir(likewise)\n"
        "print(*[m for m in sys.modules if m.startswith(('likewise.', 'numpy', 'sklearn'))])"
    )
    assert run(program) == []


def test_a_name_that_is_not_there_is_an_error_that_names_it():
    with pytest.raises(AttributeError, match="'likewise' has no attribute 'depe'"):
        likewise.depe  # noqa: B018
