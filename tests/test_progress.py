import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from likewise import progress
from likewise.progress import in_words, seconds_left, show_progress, track


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
        "projecting [x]: 1 of 100 after 1 s, about 99 s left",
        "projecting [x]: 2 of 100 after 2 s, about 98 s left",
        "projecting [x]: 4 of 100 after 4 s, about 96 s left",
        "projecting [x]: 8 of 100 after 8 s, about 92 s left",
        "projecting [x]: 16 of 100 after 16 s, about 84 s left",
        "projecting [x]: 32 of 100 after 32 s, about 68 s left",
        "projecting [x]: 64 of 100 after 64 s, about 36 s left",
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
        "dawdling: 5 of 7 after 5 s, about 2 s left",
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
    assert (
        capfd.readouterr().err.splitlines()[-1] == "searching: 5 of 100 after 6 s, about 114 s left"
    )


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


def test_what_is_left_takes_as_long_an_item_as_what_is_done():
    assert seconds_left(1, 7, 30.0) == 180.0
    assert seconds_left(4, 8, 10.0) == 10.0
    assert seconds_left(7, 7, 30.0) == 0.0
    assert seconds_left(9, 7, 30.0) == 0.0  # more than was announced
    assert seconds_left(0, 7, 30.0) is None
    assert seconds_left(3, None, 30.0) is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (119, "119 s"), (120, "2 min"), (5400, "90 min"), (7200, "2.0 h")],
)
def test_times_are_printed_as_finely_as_is_useful(seconds, words):
    assert in_words(seconds) == words


def test_a_log_of_slow_items_tells_what_is_left(clock, capfd):
    for _ in track(range(7), "trying spaces"):
        clock.seconds += 300
    assert capfd.readouterr().err.splitlines() == [
        "trying spaces: 0 of 7 after 0 s",
        "trying spaces: 1 of 7 after 5 min, about 30 min left",
        "trying spaces: 2 of 7 after 10 min, about 25 min left",
        "trying spaces: 4 of 7 after 20 min, about 15 min left",
        "trying spaces: 7 of 7 after 35 min",
    ]


def test_a_loop_that_ends_when_it_settles_tells_what_is_left_at_most(clock, capfd):
    for i in track(range(500), "projecting", may_end_early=True):
        clock.seconds += 1
        if i == 2:
            break
    assert capfd.readouterr().err.splitlines() == [
        "projecting: 0 of 500 after 0 s",
        "projecting: 1 of 500 after 1 s, at most 8 min left",
        "projecting: 2 of 500 after 2 s, at most 8 min left",
    ]


def test_a_bar_tells_the_same_even_where_an_item_takes_minutes(clock, terminal, capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    for _ in track(range(7), "trying spaces"):
        clock.seconds += 300
        if progress._screen.bars is not None:
            progress._screen.bars.refresh()  # it redraws ten times a second of real time
    err = capfd.readouterr().err
    assert "about 30 min left" in err
    assert "about 5 min left" in err
    assert displays_left_open(err) == 0
