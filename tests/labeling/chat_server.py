"""A chat service on the loopback that behaves as a test tells it to."""

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ChatServer(ThreadingHTTPServer):
    """Answers with what `respond(asked, body, number)` returns: (status, bytes, headers)."""

    daemon_threads = True

    def __init__(self, respond):
        super().__init__(("127.0.0.1", 0), Handler)
        self.respond = respond
        self.bodies, self.headers = [], []

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        self.server.headers.append(dict(self.headers))
        status, data, headers = self.server.respond(body, len(self.server.bodies) - 1)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextmanager
def serving(respond):
    server = ChatServer(respond)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def says(text, tokens=(100, 10)):
    """A chat completion."""
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    cells = {"choices": [{"message": {"content": text}}], "usage": usage}
    return 200, json.dumps(cells).encode(), {}


def text_of(body):
    """The user's words in a request."""
    content = body["messages"][1]["content"]
    return content if isinstance(content, str) else content[0]["text"]


def asked_in(body):
    """What a request asks: question, items, answers by code."""
    return json.JSONDecoder().raw_decode(text_of(body))[0]


def code_for(asked, words):
    """The code of the answer that has these words."""
    return next(code for code, meaning in asked["answers"].items() if words in meaning)


def by_first_word(body, number):
    """A model that puts items together that begin with the same word."""
    asked = asked_in(body)
    words = {name: text.split()[0] for name, text in asked["items"].items()}
    first = words["item 1"]
    for name, word in words.items():
        found = re.match(r"group (\d+)", name)
        if found and word == first:
            code = code_for(asked, f"belongs with group {found[1]}")
            return says(json.dumps({"answer": code, "sure": 90}))
    if "item 2" in words and len(words) == 2:
        code = code_for(asked, "they belong" if words["item 2"] == first else "they do not")
        return says(json.dumps({"answer": code}))
    return says(json.dumps({"answer": code_for(asked, "begins a new one")}))
