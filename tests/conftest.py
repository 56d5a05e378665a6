"""What every test shares: the seed, the hypothesis profile, and the account at the end."""

import os
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from likewise.progress import show_progress

ROOT = Path(__file__).parent.parent

settings.register_profile(
    "tests",
    derandomize=True,  # same seed, same result: a failure in CI is a failure at home
    deadline=None,  # timing lives in benchmarks
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("tests")


@pytest.fixture(autouse=True)
def silent_again():
    """A command that a test runs inside this process switches progress on for all that follow."""
    yield
    show_progress(False)


def pytest_generate_tests(metafunc):
    """One seed by default; LIKEWISE_SEEDS=100 runs a hundred."""
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(int(os.environ.get("LIKEWISE_SEEDS", "1"))))


def room_of(nodeid: str) -> str:
    """tests/constraints/test_io.py and src/likewise/constraints/io.py are both of constraints."""
    parts = Path(nodeid.split("::")[0]).parts
    rooms = parts[2:-1] if parts[0] == "src" else parts[1:-1]
    return rooms[0] if rooms else "the_rest"


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    """Seconds spent in each room beside its budget. It tells; it never fails a test."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        budgets = tomllib.load(file)["tool"]["likewise"]["test-budget-seconds"]
    seconds: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[room_of(report.nodeid)] += report.duration
    if seconds:
        terminalreporter.section("seconds by room (all workers together)")
        for room, spent in sorted(seconds.items(), key=lambda item: -item[1]):
            budget = budgets.get(room)
            over = "  over budget" if budget and spent > budget else ""
            terminalreporter.line(f"{room:<18}{spent:8.1f} of {budget or '-'}{over}")
