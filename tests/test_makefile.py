"""`make` says what it does in a line a step, and shows a step's own words only if it fails."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parent.parent / "Makefile"
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def checkout(tmp_path):
    """A folder with the Makefile and an environment whose tools only say that they ran."""
    shutil.copy(MAKEFILE, tmp_path)
    bin_folder = tmp_path / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    (tmp_path / "requirements").mkdir()
    for name in ("pyproject.toml", "requirements/ci.txt", "requirements/cpu.txt", ".venv/.made"):
        (tmp_path / name).touch()
    for name in ("python", "ruff", "mypy", "lint-imports", "likewise", "pytest"):
        write_tool(bin_folder / name, f"echo noise of {name}; echo more noise >&2")
    return tmp_path


def write_tool(path, words):
    path.write_text(f"#!/bin/sh\n{words}\n")
    path.chmod(0o755)


def make(folder, goal):
    apart = {name: value for name, value in os.environ.items() if not re.match("MAKE|MFLAGS", name)}
    done = subprocess.run(
        ["make", goal], cwd=folder, env=apart, capture_output=True, text=True, check=False
    )
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_a_test_run_says_every_step_in_a_line_and_keeps_the_noise(checkout):
    code, lines = make(checkout, "test")
    assert code == 0
    assert lines == [
        "installing the pinned developer environment into .venv (a few minutes)",
        "checking style",
        "checking types",
        "checking imports",
        "running the tests (up to ten minutes)",
        "noise of pytest",
        "more noise",
    ]
    assert "noise of python" in (checkout / ".venv" / "pip.log").read_text()


def test_a_demo_says_its_steps_too(checkout):
    code, lines = make(checkout, "demo")
    assert code == 0
    assert lines == [
        "installing likewise into .venv (about a minute)",
        "noise of likewise",
        "more noise",
    ]


@pytest.mark.parametrize("goal", ["demo", "test"])
def test_what_pip_wrote_is_shown_if_it_fails_and_nothing_is_taken_for_installed(checkout, goal):
    write_tool(checkout / ".venv" / "bin" / "python", "echo no such package >&2; exit 1")
    for _ in range(2):
        code, lines = make(checkout, goal)
        assert code != 0
        assert "no such package" in lines
        assert any("what it wrote is above and in .venv/pip.log" in line for line in lines)
        assert not any("noise" in line for line in lines)


@pytest.mark.parametrize("tool", ["ruff", "mypy", "lint-imports"])
def test_what_a_check_wrote_is_shown_if_it_fails(checkout, tool):
    write_tool(checkout / ".venv" / "bin" / tool, "echo line 7 is wrong; exit 3")
    code, lines = make(checkout, "test")
    assert code != 0
    assert "line 7 is wrong" in lines
    assert "noise of pytest" not in lines


def test_every_goal_that_help_lists_is_one_that_is_always_made():
    text = MAKEFILE.read_text()
    listed = set(re.findall(r"^([a-z-]+):.*##", text, flags=re.MULTILINE))
    phony = set(re.search(r"^\.PHONY: (.*)", text, flags=re.MULTILINE).group(1).split())
    assert listed == phony
