"""The checks of a release, in order: a name each, and a function that may raise `Failed`."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
SMOKE = Path(__file__).parent / "smoke.py"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
HEAVY = ("deep", "embed")  # gigabytes
BUNDLES = ("all", "dev")  # extras that hold other extras
NEEDED = (  # what a wheel must hold beside its modules
    "likewise/py.typed",
    "likewise/report/page.css",
    "likewise/report/page.js",
    "likewise/studio/static/index.html",
)
UNWANTED = ("tests/", "experiments/", "benchmarks/", "docs/", "release/")
FILES = (  # of every project
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "SECURITY.md",
)
LARGEST_WHEEL = 3_000_000  # bytes


class Failed(Exception):
    """A check that does not hold, in one line."""


class Skipped(Exception):
    """A check that cannot be made here, and why."""


class Check(NamedTuple):
    name: str
    run: Callable[[], str | None]

    def outcome(self) -> str:
        """In one line."""
        try:
            detail = self.run()
        except Failed as error:
            return f"FAILED: {error}"
        except Skipped as error:
            return f"skipped: {error}"
        return f"ok ({detail})" if detail else "ok"


def all_checks(folder: Path, *, heavy: bool = False) -> Iterator[Check]:
    """Every check, in order; what is built and installed goes to the folder."""
    project = read_project()
    yield Check("nothing is uncommitted", nothing_uncommitted)
    yield Check("one version everywhere", one_version)
    yield Check("the files that a project has", files_of_a_project)
    yield Check("wheel and sdist are built", partial(build, folder))
    yield Check("the wheel holds what it needs and nothing else", partial(look_inside, folder))
    yield Check("the sdist builds the same wheel", partial(build_from_sdist, folder))
    for version in PYTHONS:
        yield Check(f"newest dependencies, Python {version}", partial(newest, folder, version))
    yield Check("lowest dependencies", partial(lowest, folder, project))
    for extra in project["optional-dependencies"]:
        if extra not in BUNDLES and (heavy or extra not in HEAVY):
            yield Check(f"extra {extra}", partial(one_extra, folder, extra))
    yield Check("pipx runs it", partial(by_pipx, folder))


def read_project(path: Path = ROOT / "pyproject.toml") -> dict[str, Any]:
    """The table [project]."""
    return tomllib.loads(path.read_text())["project"]


def nothing_uncommitted() -> None:
    changed = run(["git", "status", "--porcelain"], cwd=ROOT)
    if changed.strip():
        raise Failed(f"{len(changed.splitlines())} files differ from the last commit")


def one_version() -> str:
    """The version of the package, of CITATION.cff and of the page on citing."""
    package = version_of_package()
    citation = re.search(r"^version: *(\S+)", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    page = re.search(r"version = \{(.+?)\}", (ROOT / "docs" / "guide" / "cite.md").read_text())
    for place, match in (("CITATION.cff", citation), ("docs/guide/cite.md", page)):
        found = match.group(1) if match else "none"
        if found != package:
            raise Failed(f"{place} has version {found}, likewise.__version__ is {package}")
    return package


def version_of_package() -> str:
    text = (ROOT / "src" / "likewise" / "__init__.py").read_text()
    match = re.search(r'^__version__ = "(.+)"', text, re.MULTILINE)
    if match is None:
        raise Failed("likewise/__init__.py has no __version__")
    return match.group(1)


def files_of_a_project() -> None:
    for name in FILES:
        if not (ROOT / name).exists():
            raise Failed(f"{name} is missing")


def build(folder: Path) -> str:
    """dist files by `python -m build`, in an environment of its own."""
    shutil.rmtree(folder / "dist", ignore_errors=True)
    python = environment(folder / "build", "build", "twine")
    run([python, "-m", "build", "--outdir", str(folder / "dist"), str(ROOT)])
    built = sorted((folder / "dist").iterdir())
    run([python, "-m", "twine", "check", "--strict", *map(str, built)])
    return ", ".join(f"{path.name} {path.stat().st_size // 1024} KB" for path in built)


def wheel(folder: Path) -> Path:
    found = sorted((folder / "dist").glob("*.whl"))
    if not found:
        raise Skipped("there is no wheel")
    return found[-1]


def look_inside(folder: Path) -> str:
    path = wheel(folder)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    complain(wheel_problems(names, path.stat().st_size))
    return f"{len(names)} files"


def wheel_problems(names: list[str], n_bytes: int) -> list[str]:
    """What is wrong with the content of a wheel."""
    problems = [f"{name} is missing" for name in NEEDED if name not in names]
    problems += [f"{name} does not belong in it" for name in names if name.startswith(UNWANTED)]
    if n_bytes > LARGEST_WHEEL:
        problems.append(f"it has {n_bytes} bytes, more than {LARGEST_WHEEL}")
    return problems


def complain(problems: list[str]) -> None:
    if problems:
        more = f", and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise Failed("; ".join(problems[:3]) + more)


def build_from_sdist(folder: Path) -> None:
    sources = sorted((folder / "dist").glob("*.tar.gz"))
    if not sources:
        raise Skipped("there is no sdist")
    unpacked = folder / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    with tarfile.open(sources[-1]) as archive:
        archive.extractall(unpacked, filter="data")
    python = environment(folder / "build", "build", "twine")
    inside = next(unpacked.iterdir())
    run([python, "-m", "build", "--wheel", "--outdir", str(unpacked / "dist"), str(inside)])
    with zipfile.ZipFile(wheel(folder)) as first, zipfile.ZipFile(wheel(unpacked)) as second:
        differing = set(first.namelist()) ^ set(second.namelist())
    lacking = [f"the sdist has no {name}" for name in FILES if not (inside / name).exists()]
    complain(lacking + [f"{name} is in one of them only" for name in sorted(differing)])


def newest(folder: Path, version: str) -> str:
    python = interpreter(version)
    return smoke(environment(folder / f"newest-{version}", str(wheel(folder)), python=python))


def interpreter(version: str) -> str:
    """A Python of this version, if this machine has one."""
    if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
        return sys.executable
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = sorted(managed.glob(f"{version}.*/bin/python")) or shutil.which(f"python{version}")
    if not found:
        raise Skipped(f"there is no python{version} on this machine")
    return found if isinstance(found, str) else str(found[-1])


def lowest(folder: Path, project: dict[str, Any]) -> str:
    """The oldest versions that pyproject.toml allows, on this Python."""
    pins = lowest_pins(project["dependencies"])
    return smoke(environment(folder / "lowest", str(wheel(folder)), *pins)) + f", {', '.join(pins)}"


def lowest_pins(dependencies: list[str]) -> list[str]:
    """["numpy>=2.0", ...] as ["numpy==2.0.*", ...]: the first release that is allowed, mended."""
    pins = []
    for dependency in dependencies:
        match = re.fullmatch(r"([\w.-]+)>=([\d.]+)", dependency)
        if match is None:
            raise Failed(f"{dependency!r} has no lower bound")
        pins.append(f"{match.group(1)}=={match.group(2)}.*")
    return pins


def one_extra(folder: Path, extra: str) -> str:
    """The wheel with one extra and nothing else, used for what the extra is for."""
    python = environment(folder / f"extra-{extra}", f"{wheel(folder)}[{extra}]")
    return smoke(python, extra)


def by_pipx(folder: Path) -> str:
    python = environment(folder / "pipx", "pipx")
    spec = str(wheel(folder))
    return run([python, "-m", "pipx", "run", "--spec", spec, "likewise", "--version"]).strip()


def environment(folder: Path, *packages: str, python: str = sys.executable) -> str:
    """The Python of a fresh environment that holds these packages."""
    shutil.rmtree(folder, ignore_errors=True)
    run([python, "-m", "venv", str(folder)])
    inside = str(folder / "bin" / "python")
    run([inside, "-m", "pip", "-q", "--disable-pip-version-check", "install", *packages])
    run([inside, "-m", "pip", "--disable-pip-version-check", "check"])
    return inside


def smoke(python: str, *extras: str) -> str:
    """Use the installed package as its users would; not from this folder."""
    printed = run([python, "-I", str(SMOKE), *extras], cwd=Path(python).parents[1])
    return printed.strip().splitlines()[-1]


def run(command: list[str], cwd: Path | None = None) -> str:
    """What a command printed; `Failed` with its last line if it did not work."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Failed(f"{' '.join(command[:4])} ended with {words[-1] if words else 'no words'}")
    return done.stdout
