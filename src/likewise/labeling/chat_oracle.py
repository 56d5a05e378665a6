"""A language model behind HTTP that answers questions: one more annotator (extra `oracle`).

    POST endpoint/chat/completions   {"model", "messages", "temperature": 0, ...}

Any endpoint that speaks OpenAI's protocol will do. Nothing is sent unless somebody makes such an
oracle and asks it. A request that fails for a while (429, 5xx, no connection, no answer in time, a
reply that cannot be read) is sent again, later each time; a question that keeps failing is skipped,
several in a row end the asking, as do limits on requests, tokens and cost. What was answered once
is in the log and is not sent again.
"""

import base64
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from likewise.labeling.chat_service import ChatService, estimate, is_hopeless
from likewise.labeling.chat_words import (
    OF_A_GRID,
    SYSTEM,
    clean,
    codes_of,
    items_of,
    options_of,
    read_reply,
    rows_as_text,
    words_of,
)
from likewise.labeling.exchange_log import Exchange, ExchangeLog
from likewise.labeling.questions import CANT_TELL, Question
from likewise.labeling.replies import OracleStopped, Reply
from likewise.labeling.session import now

FATAL = (401, 402, 403, 404, 405)  # another attempt, or another question, would fare no better
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds between attempts; doubled each time
MOST_FAILURES = 3  # questions in a row that get no reply,
MOST_NONSENSE = 10  # and that get none that can be used
TYPES = {b"\x89PNG": "image/png", b"\xff\xd8": "image/jpeg", b"GIF8": "image/gif"}


class ChatOracle:
    """A language model that answers questions about rows.

    Parameters
    ----------
    endpoint : str
        Address of an OpenAI-compatible service, such as "http://127.0.0.1:8000/v1".
    model : str
        The model's name there.
    rows : array-like, dataframe, dict of columns or sequence of str, default=None
        What the model reads about each row: a text, or a table's cells by column.
    images : sequence of path, bytes or None, default=None
        A picture of each row, beside its text or instead of it.
    task : str, default=""
        What the groups are about, in a sentence: "Group complaints by what went wrong."
    api_key : str, default=None
        Sent as a bearer token, written nowhere. Refused for an address that is neither encrypted
        nor on this machine.
    log : str, path or None, default=None
        Where exchanges are kept, and looked up before anything is sent: the log of the session, or
        a file of its own. None keeps them for as long as the oracle lives; ``ask`` then takes its
        session's log.
    looks : int, default=1
        How often each question is put, its options in another order each time. Above 1 an answer
        that most looks do not share is "can't tell": it costs more and is right more often.
    retries : int, default=4
        Further attempts at a request that failed.
    timeout : float, default=60.0
        Seconds until a reply must be there as a whole.
    max_per_minute : float, default=None
        Requests per minute.
    max_requests, max_tokens : int, default=None
        Limits on requests, failed ones among them, and on tokens in and out, over all exchanges in
        the log. Where the service does not count tokens, or a reply cannot be read, four letters
        are a token.
    max_cost : float, default=None
        Limit on the cost, likewise; ``prices`` must be given. A request that begins below a limit
        is finished.
    prices : (float, float), default=None
        Of a million tokens in and out.
    max_chars : int, default=4000
        Letters of a row that are shown; the rest is cut.
    per_group : int, default=3
        Rows of each group that are shown.
    extra : dict, default=None
        More for the body of a request, such as {"seed": 1}; None as a value leaves a field out.
    sleep, clock : callable, default=time.sleep, time.monotonic
        How to wait between requests, and by which clock.

    Attributes
    ----------
    n_requests, n_tokens, cost : int, int, float
        Spent so far, by the log.

    See Also
    --------
    ask : Asks a machine and people together, and learns how far the machine can be trusted.

    Examples
    --------
    >>> from likewise.labeling import oracles
    >>> machine = oracles.chat("http://127.0.0.1:8000/v1", "small", rows=["a cat", "a dog"])
    >>> machine.n_requests
    0
    """

    def __init__(
        self,
        endpoint: str,
        model: str,
        *,
        rows=None,
        images: Sequence[Any] | None = None,
        task: str = "",
        api_key: str | None = None,
        log: str | os.PathLike | None = None,
        looks: int = 1,
        retries: int = 4,
        timeout: float = 60.0,
        max_per_minute: float | None = None,
        max_requests: int | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        prices: tuple[float, float] | None = None,
        max_chars: int = 4000,
        per_group: int = 3,
        extra: Mapping[str, Any] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ):
        if rows is None and images is None:
            raise ValueError("A model needs something to read. Give rows, images or both.")
        if max_cost is not None and prices is None:
            raise ValueError("max_cost needs prices=(of a million tokens in, of a million out).")
        if looks < 1:
            raise ValueError(f"looks={looks} must be 1 or more.")
        if retries < 0:
            raise ValueError(f"retries={retries} must be 0 or more.")
        self._service = ChatService(endpoint, api_key, timeout)
        self.address = self._service.address
        self.model, self.task, self.looks, self.retries = model, task, looks, retries
        self.max_chars, self.per_group = max_chars, per_group
        self.max_per_minute, self.max_requests = max_per_minute, max_requests
        self.max_tokens, self.max_cost = max_tokens, max_cost
        self.prices = (0.0, 0.0) if prices is None else prices
        self.extra = dict(extra or {})
        self._texts = None if rows is None else rows_as_text(rows)
        self._images = images
        self._sleep, self._clock = sleep, clock
        self._next_at = 0.0
        self._n_failed = self._n_nonsense = 0
        self.has_log = log is not None
        self._log = ExchangeLog(log)

    def __call__(self, question: Question) -> Reply | None:
        """The model's answer and how sure it says it is; None where it gave none."""
        replies = [self._look(question, number) for number in range(self.looks)]
        given = [reply for reply in replies if reply is not None]
        if not given:
            return None
        choices = [reply.choice for reply in given]
        winner = max(choices, key=choices.count)
        if 2 * choices.count(winner) <= len(choices):
            return Reply(CANT_TELL)
        sure = [reply.sure for reply in given if reply.choice == winner and reply.sure is not None]
        return Reply(winner, sum(sure) / len(sure) if sure else None)

    @property
    def n_requests(self) -> int:
        """Requests sent, whatever came of them."""
        return self._log.spent()[0]

    @property
    def n_tokens(self) -> int:
        """Tokens in and out; about four letters each where the service does not count."""
        return self._log.spent()[1]

    @property
    def cost(self) -> float:
        """What they cost, by ``prices``."""
        return self._log.spent()[2]

    @property
    def exchanges(self) -> list[Exchange]:
        """All that was sent and came back, in order."""
        return self._log.read()

    def keep_in(self, log: str | os.PathLike) -> None:
        """Keep exchanges in this file from now on."""
        self._log.close()
        self._log, self.has_log = ExchangeLog(log), True

    def close(self) -> None:
        """Close the connection and the log."""
        self._service.close()
        self._log.close()

    # Inside

    def _look(self, question: Question, number: int) -> Reply | None:
        """One look at a question: from the log, or by requests until one works."""
        body, kept, codes = self._request(question, number)
        about = json.dumps([self.address, kept], sort_keys=True).encode()
        key = blake2b(about, digest_size=16).hexdigest()
        known = self._log.usable(key)
        if known is not None and known.reply is not None:
            return read_reply(known.reply, question, codes)
        wait = FIRST_WAIT
        for attempt in range(self.retries + 1):
            self._check_limits()
            self._wait_for_turn()
            exchange, asked_to_wait = self._send(key, body, kept)
            reply = None
            if exchange.reply is not None and not exchange.problem:
                try:
                    reply = read_reply(exchange.reply, question, codes)
                except ValueError as error:
                    exchange = exchange._replace(problem=f"unusable: {error}")
            self._log.keep(exchange)
            if reply is not None:
                self._n_failed = self._n_nonsense = 0
                return reply
            if exchange.status in FATAL:
                raise OracleStopped(f"{self.address} refuses to answer: {exchange.problem}.")
            if is_hopeless(exchange.status):
                break
            if attempt < self.retries and exchange.status != 200:
                self._sleep(min(max(wait, asked_to_wait), LONGEST_WAIT))
                wait *= 2
        if exchange.status == 200:  # it works, and has nothing usable to say about this one
            self._n_failed = 0
            self._n_nonsense += 1
            if self._n_nonsense >= MOST_NONSENSE:
                raise OracleStopped(
                    f"{self.address} gave no usable reply to {self._n_nonsense} questions in a "
                    f"row: {exchange.problem}."
                )
            return Reply(CANT_TELL)
        self._n_failed += 1
        if self._n_failed >= MOST_FAILURES:
            raise OracleStopped(
                f"{self.address} failed at {self._n_failed} questions in a row: {exchange.problem}."
            )
        return None

    def _request(
        self, question: Question, number: int
    ) -> tuple[dict[str, Any], dict[str, Any], dict[Any, str]]:
        """The body to send, the same with hashes for images, and the codes of the answers."""
        items = items_of(question, self.per_group)
        texts = {}
        if self._texts is not None:
            texts = {name: clean(self._texts[row], self.max_chars) for name, row in items.items()}
        pictures = self._pictures(items)
        hashes = {name: blake2b(data, digest_size=16).hexdigest() for name, data in pictures}
        options = options_of(question)
        order = list(options)
        turned = number // 2 % len(order)
        order = order[turned:] + order[:turned]
        if number % 2:
            order.reverse()
        words = words_of(question, self.task)
        about = json.dumps([self.model, words, texts, hashes, number], sort_keys=True)
        codes = codes_of(order, about)
        asked = {
            "question": words,
            "items": {name: texts.get(name, "see the picture") for name in items},
            "answers": {codes[choice]: options[choice] for choice in order},
        }
        text = json.dumps(asked, ensure_ascii=False, indent=1)
        if question.kind == "grid":
            text += f"\n{OF_A_GRID}"
        system = {"role": "system", "content": SYSTEM}
        body = {"model": self.model, "temperature": 0, "max_tokens": 200, **self.extra}
        body = {name: value for name, value in body.items() if value is not None}
        kept = {**body, "messages": [system, {"role": "user", "content": text}], "images": hashes}
        content: Any = text
        if pictures:
            content = [{"type": "text", "text": text}]
            for name, data in pictures:
                content.append({"type": "text", "text": f"The picture of {name}:"})
                content.append({"type": "image_url", "image_url": {"url": as_data_url(data)}})
        return {**body, "messages": [system, {"role": "user", "content": content}]}, kept, codes

    def _pictures(self, items: Mapping[str, int]) -> list[tuple[str, bytes]]:
        if self._images is None:
            return []
        found = [(name, self._images[row]) for name, row in items.items()]
        return [
            (name, image if isinstance(image, bytes) else Path(image).read_bytes())
            for name, image in found
            if image is not None
        ]

    def _check_limits(self) -> None:
        n_requests, n_tokens, cost = self._log.spent()
        for name, spent, limit in (
            ("max_requests", n_requests, self.max_requests),
            ("max_tokens", n_tokens, self.max_tokens),
            ("max_cost", cost, self.max_cost),
        ):
            if limit is not None and spent >= limit:
                raise OracleStopped(f"{name}={limit} is spent ({spent:g} so far).")

    def _wait_for_turn(self) -> None:
        """Requests at even distances, so that no minute has more than it should."""
        if self.max_per_minute is None:
            return
        early = self._next_at - self._clock()
        if early > 0:
            self._sleep(early)
        self._next_at = max(self._clock(), self._next_at) + 60 / self.max_per_minute

    def _send(self, key: str, body: dict[str, Any], kept: dict[str, Any]) -> tuple[Exchange, float]:
        """One attempt, and how many seconds the service asked to wait."""
        at, began = now(), time.perf_counter()
        received = self._service.post(body, estimate(json.dumps(kept)))
        status, said, problem, tokens, asked_to_wait = received
        seconds = time.perf_counter() - began
        cost = sum(n * price for n, price in zip(tokens, self.prices)) / 1e6
        exchange = Exchange(key, at, kept, status, said, problem, *tokens, cost, seconds)
        return exchange, asked_to_wait


def chat(endpoint: str, model: str, **settings) -> ChatOracle:
    """A language model behind an OpenAI-compatible endpoint that answers questions.

    Parameters
    ----------
    endpoint, model : str
    **settings
        Of `ChatOracle`.

    Examples
    --------
    >>> from likewise.labeling import oracles
    >>> machine = oracles.chat("http://127.0.0.1:8000/v1", "small", rows=["a cat", "a dog"])
    >>> machine.address
    'http://127.0.0.1:8000/v1/chat/completions'
    """
    return ChatOracle(endpoint, model, **settings)


def as_data_url(data: bytes) -> str:
    """An image as text."""
    kind = next((kind for start, kind in TYPES.items() if data.startswith(start)), "image/webp")
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
