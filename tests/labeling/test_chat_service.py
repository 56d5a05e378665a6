"""A chat service that means harm, or is broken: nothing raised, nothing unlimited, nothing lost."""

import json
import socket
import threading
from contextlib import contextmanager, suppress

import pytest

from likewise import ask
from likewise.labeling import OracleStopped, Question, oracles
from likewise.labeling.chat_service import estimate, read_completion
from tests.labeling.chat_server import asked_in, by_first_word, code_for, serving

ROWS = ["cat one", "cat two", "dog one", "dog two", "fish one"]
PAIR = Question("pair", (0, 1))
PRICES = (1.0, 1.0)


def completion(body, usage):
    """A right answer beside a count of tokens, JSON as given."""
    said = json.dumps({"answer": code_for(asked_in(body), "they belong")})
    text = f'{{"choices": [{{"message": {{"content": {json.dumps(said)}}}}}], "usage": {usage}}}'
    return 200, text.encode(), {}


def make(endpoint, **settings):
    settings = {"rows": ROWS, "timeout": 5.0, "sleep": lambda _: None, "prices": PRICES, **settings}
    return oracles.chat(endpoint, "small", **settings)


@pytest.mark.parametrize(
    "usage",
    [
        '{"prompt_tokens": -1000000, "completion_tokens": -1}',
        '{"prompt_tokens": 1e999, "completion_tokens": 1}',
        '{"prompt_tokens": 1' + "0" * 30 + "}",
        '{"prompt_tokens": "12", "completion_tokens": true}',
        '{"prompt_tokens": null, "completion_tokens": null}',
        '{"prompt_tokens": 0, "completion_tokens": 0}',
        "[1, 2]",
        "null",
        '"free"',
    ],
)
def test_counts_that_cannot_be_are_replaced_by_our_own(usage):
    with serving(lambda body, number: completion(body, usage)) as server:
        oracle = make(server.endpoint)
        assert oracle(PAIR).choice == "together"
        exchange = oracle.exchanges[0]
        assert exchange.tokens_in == estimate(json.dumps(exchange.request))
        assert exchange.tokens_out == estimate(exchange.reply)
        assert oracle.cost == pytest.approx(oracle.n_tokens / 1e6)


def test_counts_that_can_be_are_believed():
    usage = '{"prompt_tokens": 120, "completion_tokens": 7}'
    with serving(lambda body, number: completion(body, usage)) as server:
        oracle = make(server.endpoint, prices=(2.0, 10.0))
        oracle(PAIR)
    assert oracle.n_tokens == 127
    assert oracle.cost == pytest.approx((2 * 120 + 10 * 7) / 1e6)


HARMFUL = {
    "cut short": b'{"choices": [{"message": {"con',
    "half a letter": b'{"choices": [{"message": {"content": "\\ud800"}}]}',
    "no words": b'{"choices": [{"message": {"content": null}}]}',
    "words in parts": b'{"choices": [{"message": {"content": [{"text": "x"}]}}]}',
    "no choices": b'{"choices": []}',
    "deep": b"[" * 100_000,
    "no letters": b"\xff\xfe\xfa",
    "nothing": b"",
}


@pytest.mark.parametrize("name", HARMFUL)
def test_a_reply_that_cannot_be_read_is_kept_and_paid_for(name, tmp_path):
    data = HARMFUL[name]
    with serving(lambda body, number: (200, data, {})) as server:
        oracle = make(server.endpoint, retries=2, log=tmp_path / "log")
        assert oracle(PAIR).choice == "cant_tell"
        assert oracle.n_requests == len(server.bodies) == len(oracle.exchanges) == 3
    assert all(e.problem.startswith("unusable") for e in oracle.exchanges)
    sent = estimate(json.dumps(oracle.exchanges[0].request))
    assert oracle.n_tokens == 3 * (sent + estimate(data))


def test_replies_that_cannot_be_read_end_at_the_limit_on_cost():
    with serving(lambda body, number: (200, b'{"choices": [', {})) as server:
        oracle = make(server.endpoint, max_cost=1e-3, retries=99)
        with pytest.raises(OracleStopped, match=r"max_cost=0\.001 is spent"):
            oracle(PAIR)
        last = oracle.exchanges[-1].cost
        assert 1e-3 <= oracle.cost < 1e-3 + last
        assert len(server.bodies) == oracle.n_requests


def test_a_huge_reply_is_not_read_to_its_end():
    with serving(lambda body, number: (200, b"x" * 5_000_000, {})) as server:
        oracle = make(server.endpoint, retries=0)
        assert oracle(PAIR).choice == "cant_tell"
    assert oracle.exchanges[0].tokens_out < 2_000_000 // 4


def test_many_questions_without_a_usable_reply_stop():
    asked = [Question("pair", (i, j)) for i in range(5) for j in range(i)]
    with serving(lambda body, number: (200, b"later", {})) as server:
        oracle = make(server.endpoint, retries=0)
        assert [oracle(question).choice for question in asked[:9]] == ["cant_tell"] * 9
        with pytest.raises(OracleStopped, match="no usable reply to 10 questions in a row"):
            oracle(asked[9])


def test_a_usable_reply_in_between_counts_anew():
    def respond(body, number):
        return completion(body, "null") if number == 5 else (200, b"later", {})

    asked = [Question("pair", (i, j)) for i in range(5) for j in range(i)]
    with serving(respond) as server:
        oracle = make(server.endpoint, retries=0)
        choices = [oracle(question).choice for question in asked]
    assert choices == ["cant_tell"] * 5 + ["together"] + ["cant_tell"] * 4


@pytest.mark.parametrize("wait", ["nan", "-5", "soon", "1e400"])
def test_a_wait_that_cannot_be_is_our_own(wait):
    waits = []
    with serving(lambda body, number: (429, b"", {"Retry-After": wait})) as server:
        assert make(server.endpoint, sleep=waits.append, retries=2)(PAIR) is None
    assert waits == ([60, 60] if wait == "1e400" else [1, 2])


def test_failed_requests_count_toward_the_limit_on_requests():
    with serving(lambda body, number: (500, b"", {})) as server:
        oracle = make(server.endpoint, max_requests=3, retries=9)
        with pytest.raises(OracleStopped, match=r"max_requests=3 is spent \(3 so far\)"):
            oracle(PAIR)
        assert len(server.bodies) == 3


def test_a_compressed_reply_that_is_none_is_a_failed_request():
    with serving(lambda body, number: (200, b"not packed", {"Content-Encoding": "gzip"})) as server:
        oracle = make(server.endpoint, retries=1)
        assert oracle(PAIR) is None
    assert [e.problem.partition(":")[0] for e in oracle.exchanges] == ["DecodingError"] * 2


@contextmanager
def listening(talk):
    """A server on the loopback that does with every connection what it likes, until it is over."""
    over, server = threading.Event(), socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.05)
    n_connections = []

    def serve():
        while not over.is_set():
            try:
                connection = server.accept()[0]
            except TimeoutError:
                continue
            n_connections.append(1)
            threading.Thread(target=guard, args=(connection,), daemon=True).start()

    def guard(connection):
        with connection, suppress(OSError):  # hung up on
            talk(connection, over)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1", n_connections
    finally:
        over.set()
        thread.join()
        server.close()


def trickle(before, piece):
    """Say something at once, and then a piece of something again and again without an end."""

    def talk(connection, over):
        connection.recv(65536)
        connection.sendall(before)
        while not over.wait(0.01):
            connection.sendall(piece)

    return talk


NEVER = {
    "silent": lambda connection, over: over.wait(30),
    "a header without an end": trickle(b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
    "headers without an end": trickle(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"),
    "a body without an end": trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n", b" "),
}


@pytest.mark.parametrize("name", NEVER)
def test_a_service_that_never_finishes_is_left(name, tmp_path):
    with listening(NEVER[name]) as (endpoint, _):
        oracle = make(endpoint, timeout=0.3, retries=1, log=tmp_path / "log")
        assert oracle(PAIR) is None
        assert [e.problem for e in oracle.exchanges] == [
            "Timeout: no whole reply in 0.3 seconds"
        ] * 2
        assert all(e.status is None and e.tokens_in > 0 for e in oracle.exchanges)
        assert oracle.n_requests == 2


@pytest.mark.parametrize("data", [b"", b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 abc\r\n\r\n"])
def test_what_is_no_http_is_a_failed_request(data):
    def talk(connection, over):
        connection.recv(65536)
        connection.sendall(data)

    with listening(talk) as (endpoint, n_connections):
        oracle = make(endpoint, retries=1)
        assert oracle(PAIR) is None
        assert len(n_connections) == oracle.n_requests == 2
        assert all("Error" in e.problem for e in oracle.exchanges)


def test_a_service_works_again_after_it_was_left():
    late = threading.Event()

    def respond(body, number):
        if number == 0:
            late.wait(5)
        return by_first_word(body, number)

    with serving(respond) as server:
        oracle = make(server.endpoint, timeout=0.3)
        assert oracle(PAIR).choice == "together"
        late.set()
        assert oracle(Question("pair", (0, 2))).choice == "apart"
    assert oracle.exchanges[0].status is None


def test_a_machine_that_breaks_leaves_the_person_alone(tmp_path):
    """Right at first, then every kind of nonsense: the session ends with what people said."""

    def respond(body, number):
        return by_first_word(body, number) if number < 4 else (200, b"{", {})

    X = [[float(i % 3 * 10)] for i in range(12)]
    rows = [("cat", "dog", "fish")[i % 3] + f" {i}" for i in range(12)]
    person = oracles.LabelOracle([i % 3 for i in range(12)])
    with serving(respond) as server:
        machine = make(server.endpoint, rows=rows, retries=0)
        with pytest.warns(UserWarning, match="machine stopped answering: .* no usable reply"):
            session = ask(
                X, [machine, person], {"machine": 40, "person": 6}, log=tmp_path / "answers.log"
            )
        assert len(server.bodies) == machine.n_requests == len(machine.exchanges) <= 40
    by_people = [event for event in session.events if event.annotator == "person"]
    assert len({e.question for e in by_people if e.kind == "answer"}) == 6
    assert len(set(session.labels.tolist())) == 3
    session.close()


@pytest.mark.parametrize("n", [0, 10**9])
def test_counts_at_the_ends_of_what_is_believed(n):
    data = json.dumps(
        {
            "choices": [{"message": {"content": "x"}}],
            "usage": {"prompt_tokens": n, "completion_tokens": 1},
        }
    )
    assert read_completion(data.encode(), 5).tokens == (n, 1)
    above = data.replace(f'"prompt_tokens": {n}', f'"prompt_tokens": {n + 10**9 + 1}')
    assert read_completion(above.encode(), 5).tokens == (5, 1)
