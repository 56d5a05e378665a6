"""The release check-list notices what it is there to notice."""

import importlib.util
import subprocess
import sys
import zipfile

import pytest

from release import checks
from release.checks import NEEDED, Check, Failed, Skipped


def test_the_oldest_allowed_release_of_each_dependency_is_pinned():
    assert checks.lowest_pins(["numpy>=2.0", "scikit-learn>=1.6"]) == [
        "numpy==2.0.*",
        "scikit-learn==1.6.*",
    ]
    with pytest.raises(Failed, match="'numpy' has no lower bound"):
        checks.lowest_pins(["numpy"])


def test_every_dependency_of_the_project_has_a_lower_bound():
    assert len(checks.lowest_pins(checks.read_project()["dependencies"])) >= 9


def test_a_wheel_lacks_nothing_and_holds_no_tests():
    assert checks.wheel_problems([*NEEDED, "likewise/__init__.py"], 1000) == []
    assert checks.wheel_problems(list(NEEDED[1:]), 1000) == [f"{NEEDED[0]} is missing"]
    assert checks.wheel_problems([*NEEDED, "tests/a.py"], 1000) == [
        "tests/a.py does not belong in it"
    ]
    assert len(checks.wheel_problems(list(NEEDED), 10**9)) == 1


def test_what_a_wheel_needs_is_in_the_source():
    for name in NEEDED:
        assert (checks.ROOT / "src" / name).exists(), name


def test_a_wheel_is_looked_into(tmp_path):
    with pytest.raises(Skipped, match="no wheel"):
        checks.look_inside(tmp_path)
    (tmp_path / "dist").mkdir()
    with zipfile.ZipFile(tmp_path / "dist" / "a.whl", "w") as archive:
        for name in NEEDED[:2]:
            archive.writestr(name, "")
    with pytest.raises(Failed, match=r"page\.js is missing"):
        checks.look_inside(tmp_path)


def test_versions_agree_everywhere():
    assert checks.one_version() == checks.version_of_package()


def test_a_version_that_differs_is_named(monkeypatch):
    monkeypatch.setattr(checks, "version_of_package", lambda: "9.9")
    with pytest.raises(Failed, match=r"CITATION.cff has version .*, likewise.__version__ is 9.9"):
        checks.one_version()


def test_a_python_that_is_not_here_is_skipped_by_name():
    with pytest.raises(Skipped, match=r"there is no python3\.99"):
        checks.interpreter("3.99")


def test_an_outcome_is_one_line():
    def fails():
        raise Failed("that")

    def skips():
        raise Skipped("this")

    assert Check("a", fails).outcome() == "FAILED: that"
    assert Check("a", skips).outcome() == "skipped: this"
    assert Check("a", lambda: None).outcome() == "ok"
    assert Check("a", lambda: "12 files").outcome() == "ok (12 files)"


def test_a_command_that_fails_ends_in_its_last_line():
    with pytest.raises(Failed, match="ended with ValueError: no"):
        checks.run([sys.executable, "-c", "raise ValueError('no')"])


def test_the_list_of_checks_has_every_extra_but_the_heavy_ones(tmp_path):
    names = [check.name for check in checks.all_checks(tmp_path)]
    extras = set(checks.read_project()["optional-dependencies"])
    light = extras - set(checks.BUNDLES) - set(checks.HEAVY)
    assert {name.removeprefix("extra ") for name in names if name.startswith("extra ")} == light
    heavy = [check.name for check in checks.all_checks(tmp_path, heavy=True)]
    assert set(heavy) - set(names) == {f"extra {name}" for name in checks.HEAVY}


def test_every_extra_has_a_way_to_be_used():
    words = checks.SMOKE.read_text()
    for extra in set(checks.read_project()["optional-dependencies"]) - set(checks.BUNDLES):
        assert f"def use_{extra}(" in words, extra


def test_the_script_says_what_it_takes():
    done = subprocess.run(
        [sys.executable, "-m", "release", "--only", "no such check"],
        cwd=checks.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "Nothing failed.\n"


def load_smoke():
    spec = importlib.util.spec_from_file_location("smoke", checks.SMOKE)
    smoke = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(smoke)
    return smoke


def test_every_extra_has_something_that_uses_it():
    extras = set(checks.read_project()["optional-dependencies"]) - set(checks.BUNDLES)
    assert {name.removeprefix("use_") for name in vars(load_smoke()) if name[:4] == "use_"} == {
        *extras,
        "core",
    }


@pytest.mark.parametrize("extra", ["notebook", "oracle"])
def test_what_uses_an_extra_works_where_it_is_installed(extra, tmp_path):
    getattr(load_smoke(), f"use_{extra}")(tmp_path)
