"""Kill -9 of a studio under load, many times: nothing acknowledged is lost, nothing is doubled.

    python tests/soak_studio.py --kills 1000

A child serves a studio over HTTP. Several clients post events, one by one and several at a time,
and note which ones were acknowledged. After some milliseconds the child is killed. The log is then
opened again: what was acknowledged must be there, once; what was not is sent again to the next
child, as a page does, and must be there once in the end.
"""

import argparse
import http.client
import json
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from likewise.labeling import EventLog, LabelingSession, RowNames
from likewise.studio import RowGallery, Studio, StudioSettings, Visitors, create_app

X = np.random.default_rng(0).normal(size=(40, 2))
TOKEN = "soak"
N_CLIENTS = 4
LONGEST = 0.05  # seconds that a child lives under load
KILLS_A_LOG = 20  # every check reads the whole log


def serve_forever(path: Path, listening: socket.socket) -> None:
    """A studio on a socket, until killed."""
    import uvicorn

    log = EventLog(path, RowNames(X))
    gallery = RowGallery("rows", "numbers", len(X))
    settings = StudioSettings(learns=False)
    studio = Studio(LabelingSession(X), gallery, log, log.read(), settings)
    config = uvicorn.Config(create_app(studio, Visitors(TOKEN)), log_level="critical")
    uvicorn.Server(config).run(sockets=[listening])


class Client(threading.Thread):
    """Posts events until the server is gone."""

    def __init__(self, port: int, number: int, unsent: list[str], seed: int):
        super().__init__()
        self.port, self.number, self.rng = port, number, random.Random(seed)
        self.unsent, self.acknowledged = unsent, list[str]()

    def run(self) -> None:
        host = f"127.0.0.1:{self.port}"
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            connection.request("GET", f"/?token={TOKEN}")
            response = connection.getresponse()
            response.read()
            cookie = response.headers["set-cookie"].partition(";")[0]
            headers = {"cookie": cookie, "origin": f"http://{host}"}
            headers["content-type"] = "application/json"
            while True:
                while len(self.unsent) < self.rng.choice((1, 1, 4)):
                    self.unsent.append(f"{self.number}-{self.rng.getrandbits(60)}")
                events = [{"id": i, "kind": "pure", "rows": [0, 1]} for i in self.unsent]
                connection.request("POST", "/api/events", json.dumps({"events": events}), headers)
                saved = json.loads(connection.getresponse().read())["saved"]
                self.acknowledged += saved
                self.unsent = [i for i in self.unsent if i not in saved]
        except (OSError, http.client.HTTPException, ValueError):
            return


def kill_once(path: Path, unsent: list[list[str]], seed: int) -> tuple[set[str], list[list[str]]]:
    """A studio under load that is killed; what was acknowledged, and what each client still has."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(64)
    child = os.fork()
    if child == 0:
        try:
            serve_forever(path, listening)
        finally:
            os._exit(1)
    port = listening.getsockname()[1]
    listening.close()
    clients = [Client(port, i, unsent[i], seed * 100 + i) for i in range(N_CLIENTS)]
    for client in clients:
        client.start()
    while not any(client.acknowledged for client in clients) and any(
        client.is_alive() for client in clients
    ):
        time.sleep(0.002)  # killed under load, not before
    time.sleep(random.Random(seed).uniform(0, LONGEST))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for client in clients:
        client.join()
    return {i for c in clients for i in c.acknowledged}, [client.unsent for client in clients]


def check(path: Path, acknowledged: set[str]) -> None:
    """All acknowledged events are in the log, and none is there twice."""
    log = EventLog(path, RowNames(X))
    kept = [event.id for event in log.read()]
    log.close()
    assert acknowledged <= set(kept), "an acknowledged event is lost"
    assert len(set(kept)) == len(kept), "an event is there twice"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=1000)
    n_kills = parser.parse_args().kills
    n_acknowledged = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(n_kills):
            if seed % KILLS_A_LOG == 0:
                path = Path(folder) / f"{seed}.log"
                acknowledged: set[str] = set()
                unsent: list[list[str]] = [[] for _ in range(N_CLIENTS)]
            new, unsent = kill_once(path, unsent, seed)
            n_acknowledged += len(new - acknowledged)
            acknowledged |= new
            check(path, acknowledged)
    sys.stdout.write(
        f"{n_kills} kills, {n_acknowledged} events acknowledged, none lost or doubled\n"
    )


if __name__ == "__main__":
    main()
