import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from likewise import progress
from likewise.progress import show_progress, track


@pytest.fixture
def shown(monkeypatch):
    """Progress on, and drawn from the first item on."""
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "JUPYTER_COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    show_progress()
    yield
    show_progress(False)


@pytest.fixture
def terminal(shown, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes the captured stderr for a terminal


@pytest.fixture
def clock(shown, monkeypatch):
    """A clock that the test moves."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now.seconds)
    return now


def displays_left_open(err):
    """rich hides the cursor while a display is live."""
    assert "\x1b[?25l" in err
    return err.count("\x1b[?25l") - err.count("\x1b[?25h")


def test_it_is_silent_until_switched_on(capfd, monkeypatch):
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    assert list(track(range(5), "counting")) == [0, 1, 2, 3, 4]
    show_progress()
    show_progress(False)
    assert list(track(range(5), "counting")) == [0, 1, 2, 3, 4]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("fixture", ["shown", "terminal"])
@pytest.mark.parametrize("make", [list, iter, lambda items: (i for i in items)])
def test_the_items_come_through_unchanged(fixture, make, request, capfd):
    request.getfixturevalue(fixture)
    items = [3, None, "x", 3]
    assert list(track(make(items), "counting")) == items
    assert list(track(make([]), "counting nothing")) == []
    out, err = capfd.readouterr()
    assert out == ""
    assert "counting" in err
    assert "counting nothing" not in err


def test_items_are_drawn_one_at_a_time(shown, capfd):
    drawn = []
    tracked = track((drawn.append(i) or i for i in range(9)), "drawing")
    assert drawn == []
    assert [next(tracked), next(tracked)] == [0, 1]
    assert drawn == [0, 1]
    tracked.close()


def test_a_log_gets_lines_at_doubling_times_and_one_at_the_end(clock, capfd):
    for _ in track(range(100), "projecting [x]"):
        clock.seconds += 1
    assert capfd.readouterr().err.splitlines() == [
        "projecting [x]: 0 of 100 after 0 s",
        "projecting [x]: 1 of 100 after 1 s",
        "projecting [x]: 2 of 100 after 2 s",
        "projecting [x]: 4 of 100 after 4 s",
        "projecting [x]: 8 of 100 after 8 s",
        "projecting [x]: 16 of 100 after 16 s",
        "projecting [x]: 32 of 100 after 32 s",
        "projecting [x]: 64 of 100 after 64 s",
        "projecting [x]: 100 of 100 after 100 s",
    ]


def test_a_loop_shorter_than_the_delay_shows_nothing(clock, capfd, monkeypatch):
    monkeypatch.setattr(progress, "DELAY_SECONDS", 5.0)
    for _ in track(range(4), "hurrying"):
        clock.seconds += 1
    assert capfd.readouterr().err == ""
    for _ in track(range(7), "dawdling"):
        clock.seconds += 1
    assert capfd.readouterr().err.splitlines() == [
        "dawdling: 5 of 7 after 5 s",
        "dawdling: 7 of 7 after 7 s",
    ]


def test_a_fast_loop_is_not_slowed_by_telling(clock, monkeypatch):
    told = []

    def record(*args):
        while True:
            told.append((yield))

    monkeypatch.setattr(progress, "_print_lines", record)
    for _ in track(range(1000), "counting"):
        clock.seconds += progress.REFRESH_SECONDS / 100
    assert 10 <= len(told) <= 12
    assert told[-1] == 1000


def test_the_total_may_be_unknown_or_given(clock, capfd):
    for _ in track(iter("ab"), "reading"):
        clock.seconds += 9
    for _ in track(iter("ab"), "writing", total=2):
        clock.seconds += 9
    assert capfd.readouterr().err.splitlines()[:3] == [
        "reading: 0 after 0 s",
        "reading: 1 after 9 s",
        "reading: 2 after 18 s",
    ]


def test_leaving_a_loop_early_says_where_it_ended(clock, capfd):
    for i in track(range(100), "searching"):
        clock.seconds += 1
        if i == 5:
            break
    assert capfd.readouterr().err.splitlines()[-1] == "searching: 5 of 100 after 6 s"


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_an_error_in_the_loop_passes_and_clears_the_display(error, terminal, capfd):
    def work():
        for outer in track(range(3), "outside"):
            for _ in track(range(3), "inside"):
                if outer == 1:
                    raise error

    with pytest.raises(error):
        work()
    assert displays_left_open(capfd.readouterr().err) == 0
    assert list(track(range(2), "again")) == [0, 1]
    err = capfd.readouterr().err
    assert "again" in err
    assert "outside" not in err


def test_an_error_in_the_iterable_passes_and_clears_the_display(terminal, capfd):
    def broken():
        yield 1
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(track(broken(), "reading"))
    assert displays_left_open(capfd.readouterr().err) == 0


def test_nested_loops_share_one_display(terminal, capfd):
    seen = []
    for i in track(range(2), "outside"):
        for j in track(range(2), "inside"):
            seen.append((i, j))
    assert seen == [(0, 0), (0, 1), (1, 0), (1, 1)]
    err = capfd.readouterr().err
    assert err.count("\x1b[?25l") == 1
    assert "outside" in err
    assert "inside" in err
    assert displays_left_open(err) == 0


def test_loops_in_threads_share_one_display(terminal, capfd):
    totals = []

    def work(n):
        totals.append(sum(track(range(n), f"thread {n}")))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(totals) == [n * (n - 1) // 2 for n in range(1, 9)]
    assert displays_left_open(capfd.readouterr().err) == 0


def test_the_room_imports_without_the_front_end_packages():
    # narwhals cannot be blocked here: scikit-learn imports it from 1.9 on
    blocked = "import sys; sys.modules.update(dict.fromkeys(['rich', 'click']));"
    program = "from likewise.progress import track; print(*track('ab', 'spelling'))"
    done = subprocess.run(
        [sys.executable, "-c", blocked + program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "a b\n"
