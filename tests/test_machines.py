"""The command that makes other machines: what it skips, and that a failure is one."""

import pytest

from tests import machines
from tests.machines import Machine


@pytest.fixture
def rooms_that_pass(monkeypatch):
    monkeypatch.setattr(machines.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(machines, "run_rooms", lambda *_: (True, "3 passed in 1 s", ""))


def test_the_kernels_of_this_processor_can_be_run():
    kernels, why_not = machines.kernels_of(Machine("own"))
    assert kernels or "OpenBLAS" in why_not


@pytest.mark.parametrize(
    ("name", "reason"), [("SIGILL", "illegal instruction"), ("SIGSEGV", "end in SIGSEGV")]
)
def test_kernels_that_crash_are_skipped_by_name(rooms_that_pass, monkeypatch, capsys, name, reason):
    crash = f"import os, signal; os.kill(os.getpid(), signal.{name})"
    monkeypatch.setattr(machines, "TRY_OUT", crash)
    assert machines.main(["SkylakeX"]) == 0
    line, *_ = capsys.readouterr().out.splitlines()
    assert line.startswith("SkylakeX")
    assert "skipped" in line
    assert reason in line


def test_the_same_kernels_are_run_once(rooms_that_pass, monkeypatch, capsys):
    monkeypatch.setattr(machines, "kernels_of", lambda _: (["Haswell"], ""))
    assert machines.main(["Haswell", "Zen"]) == 0
    haswell, zen, *_ = capsys.readouterr().out.splitlines()
    assert "passed: 3 passed" in haswell
    assert "skipped: OpenBLAS takes the same kernels as for Haswell" in zen


def test_one_machine_that_fails_fails_the_command(rooms_that_pass, monkeypatch, capsys):
    monkeypatch.setattr(machines, "kernels_of", lambda machine: ([machine.name], ""))
    monkeypatch.setattr(
        machines,
        "run_rooms",
        lambda machine, _: (machine.name != "Prescott", "counts", f"{machine.name} log"),
    )
    assert machines.main([]) == 1
    told = capsys.readouterr().out
    assert "Prescott      FAILED: counts" in told
    assert "Prescott log" in told
    assert "Haswell log" not in told


def test_what_cannot_be_made_here_is_reported(rooms_that_pass, monkeypatch, capsys):
    monkeypatch.setattr(machines, "kernels_of", lambda machine: ([machine.name], ""))
    machines.main(["Prescot"])
    told = capsys.readouterr().out
    assert "Prescot       skipped: not a machine that can be made on x86_64" in told
    assert "arm64         not run" in told


def test_an_arm_processor_gets_kernels_of_its_own():
    cores = {machine.core for machine in machines.machines_here("arm64")}
    assert not cores & set(machines.X86_64)


def test_threads_and_kernels_are_set_in_the_environment():
    environment = Machine("a", "Zen", n_threads=2).environment
    assert environment["OPENBLAS_CORETYPE"] == "Zen"
    assert environment["OMP_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "2"
