"""One request to a chat service, whatever comes back, within a time and a size.

    POST address  {"model", "messages", ...}   ->   what was said, tokens in and out, or a problem

The service is not trusted. It may send its reply a byte at a time, count tokens below zero, or stop
in the middle: a reply has a time to be there as a whole, only plain counts of tokens are believed,
and a reply that cannot be read costs what it would have cost.
"""

import ipaddress
import json
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

PATH = "/chat/completions"
MOST_BYTES = 1_000_000  # of a reply
MOST_TOKENS = 10**9  # a service that counts more than this does not count
LETTERS_PER_TOKEN = 4  # where the service does not count
PATIENT = (408, 409, 425, 429)  # besides 500 and up: worth another attempt


class Received(NamedTuple):
    """What came of a request."""

    status: int | None = None  # of HTTP; None where nothing whole came back
    said: str | None = None  # by the model
    problem: str = ""  # "" where something was said
    tokens: tuple[int, int] = (0, 0)  # in and out
    asked_to_wait: float = 0.0  # seconds


class ChatService:
    """A connection to an OpenAI-compatible service."""

    def __init__(self, endpoint: str, api_key: str | None, timeout: float):
        self.address = address_of(endpoint, has_key=api_key is not None)
        self._api_key, self._timeout = api_key, timeout
        self._client = open_client(self.address, api_key, timeout)

    def post(self, body: dict[str, Any], sent: int) -> Received:
        """Send a request of about `sent` tokens and read the reply."""
        import httpx2

        client, is_late = self._client, threading.Event()

        def hang_up() -> None:
            is_late.set()
            client.close()

        # The client's own timeout begins again with every byte.
        clock = threading.Timer(self._timeout, hang_up)
        clock.daemon = True
        clock.start()
        try:
            with client.stream("POST", self.address, json=body) as response:
                data = b""
                for part in response.iter_bytes():
                    data += part
                    if len(data) > MOST_BYTES:
                        break
                status, asked_to_wait = response.status_code, seconds_of_header(response.headers)
        except Exception as error:
            if isinstance(error, httpx2.TimeoutException) or is_late.is_set():
                problem = f"Timeout: no whole reply in {self._timeout:g} seconds"
                return Received(problem=problem, tokens=(sent, 0))  # answered too late, and billed
            if not isinstance(error, httpx2.HTTPError):
                raise
            problem = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return Received(problem=problem)
        finally:
            clock.cancel()
            if is_late.is_set():
                self._client = open_client(self.address, self._api_key, self._timeout)
        if status != 200:
            return Received(status, None, f"HTTP {status}: {short(data)}", (0, 0), asked_to_wait)
        return read_completion(data, sent)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def read_completion(data: bytes, sent: int) -> Received:
    """The model's words and the tokens of a whole reply; `sent` tokens where they are not told."""
    by_letters = sent, estimate(data)
    try:
        cells = json.loads(data)
        said = cells["choices"][0]["message"]["content"]
        if not isinstance(said, str):
            raise TypeError
        said.encode()  # not half a letter, which no file takes
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        problem = f"unusable: it is no chat completion: {short(data)}"
        return Received(200, None, problem, by_letters)
    usage = cells.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    told = counts.get("prompt_tokens"), counts.get("completion_tokens")
    if not all(is_count(n) for n in told) or not any(told):
        return Received(200, said, "", (sent, estimate(said)))
    return Received(200, said, "", told)  # type: ignore[arg-type]


def is_count(n: Any) -> bool:
    """Whether a number of tokens can be believed."""
    return isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= MOST_TOKENS


def estimate(text: str | bytes) -> int:
    """About how many tokens a text has."""
    return len(text) // LETTERS_PER_TOKEN + 1


def address_of(endpoint: str, *, has_key: bool) -> str:
    """Where requests go; one error where that cannot be, or must not."""
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"endpoint={endpoint!r} is no address such as https://host/v1.")
    if has_key and parts.scheme == "http" and not is_this_machine(parts.hostname):
        raise ValueError(
            f"endpoint={endpoint!r} is not encrypted: the key could be read on its way. Use https."
        )
    address = endpoint.rstrip("/")
    return address if address.endswith(PATH) else address + PATH


def is_this_machine(host: str) -> bool:
    """Whether a host is the loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def open_client(address: str, api_key: str | None, timeout: float):
    """An HTTP client that follows no redirects, which could take the key elsewhere."""
    try:
        import httpx2
    except ModuleNotFoundError:
        raise ImportError(
            "A model behind HTTP needs httpx2: pip install 'likewise[oracle]'."
        ) from None
    headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
    through_proxies = not is_this_machine(urlsplit(address).hostname or "")
    return httpx2.Client(headers=headers, timeout=timeout, trust_env=through_proxies)


def is_hopeless(status: int | None) -> bool:
    """Whether the same request would be refused again: too long, say, or filtered."""
    return status is not None and 400 <= status < 500 and status not in PATIENT


def seconds_of_header(headers: Mapping[str, str]) -> float:
    """Seconds to wait by "Retry-After"; 0 where it says none."""
    try:
        return max(0.0, float(headers.get("retry-after", "0")))
    except ValueError:
        return 0.0  # a date: our own waits will do


def short(data: bytes) -> str:
    """The beginning of a body, in one line."""
    return " ".join(data[:200].decode("utf-8", "replace").split()) or "nothing"
