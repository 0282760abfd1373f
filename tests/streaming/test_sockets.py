"""Event streams over real sockets, on both servers: live frames, both moments of a leave, and what an open
stream holds.
"""

import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from streaming import sse
from tests.servers import ROOT, environment

pytestmark = pytest.mark.socket

SERVERS = {
    "uvicorn": ["uvicorn", "tests.streaming.site:application", "--no-access-log", "--log-level", "warning"],
    "daphne": ["daphne", "tests.streaming.site:application", "--verbosity", "0"],
}
STREAMS = 200
FLOOD_FRAMES = 2000
FIRST = sse.frame({"blockId": "a", "chunk": "first"})
SECOND = sse.frame({"blockId": "a", "chunk": "second"})


class Site:
    """A serving process of `tests.streaming.site`."""

    def __init__(self, server: str, folder: Path) -> None:
        self.server = server
        self._database = folder / "site.sqlite3"
        self._log = folder / "log"
        # We listen before the server does, so no port is guessed, and the first request waits for the start.
        with socket.create_server(("127.0.0.1", 0), backlog=512) as listener, self._log.open("wb") as log:
            self.host, self.port = listener.getsockname()
            self.process = subprocess.Popen(
                [sys.executable, "-m", *SERVERS[server], "--fd", str(listener.fileno())],
                cwd=ROOT,
                env=environment(
                    folder, {"STREAM_DATABASE": str(self._database), "DJANGO_SETTINGS_MODULE": ""}
                ),
                pass_fds=[listener.fileno()],
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def get(self, path: str) -> bytes:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            return connection.getresponse().read()
        finally:
            connection.close()

    def count(self, name: str) -> int:
        return int(json.loads(self.get("/state")).get(name, 0))

    @property
    def threads(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))

    @property
    def connections(self) -> int:
        """Open files of the database: one a connection, as its journal is not open between statements."""
        links = Path(f"/proc/{self.process.pid}/fd").iterdir()
        return sum(1 for link in links if _target(link) == str(self._database))

    def wait(self, true: Callable[[], bool], seconds: float = 20) -> None:
        """Return when something became true; fail with the server's log if it does not."""
        until = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < until, self._log.read_text()
            time.sleep(0.01)

    def log(self) -> str:
        return self._log.read_text()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:  # closed meanwhile
        return ""


class Reader:
    """One client of one stream, which reads when it is told to."""

    def __init__(self, site: Site, path: str, *, buffer: int | None = None) -> None:
        self.socket = socket.socket()
        if buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(30)
        self.socket.connect((site.host, site.port))
        # HTTP/1.0: the body comes as it is, without chunks round it.
        self.socket.sendall(f"GET {path} HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n".encode())
        self._response: http.client.HTTPResponse | None = None

    @property
    def response(self) -> http.client.HTTPResponse:
        """Read as far as the headers."""
        if self._response is None:
            self._response = http.client.HTTPResponse(self.socket)
            self._response.begin()
        return self._response

    def read(self, count: int) -> bytes:
        return self.response.read(count)

    def rest(self) -> bytes:
        return self.response.read()

    def leave(self) -> None:
        if self._response is not None:
            self._response.close()
        self.socket.close()


@pytest.fixture(scope="module", params=SERVERS)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    running = Site(request.param, tmp_path_factory.mktemp(request.param))
    try:
        assert running.get("/state")
        yield running
    finally:
        running.stop()


class Clients:
    """The readers of one test, all gone at its end."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._readers: list[Reader] = []

    def open(self, path: str, *, buffer: int | None = None) -> Reader:
        """Return a reader that has read the first frame."""
        reader = Reader(self._site, path, buffer=buffer)
        self._readers.append(reader)
        assert reader.read(len(FIRST)) == FIRST
        return reader

    def leave(self) -> None:
        for reader in self._readers:
            reader.leave()
        self._site.wait(lambda: self._site.count("opened") == self._site.count("closed"))


@pytest.fixture
def clients(site: Site) -> Iterator[Clients]:
    opened = Clients(site)
    yield opened
    opened.leave()
    assert "Traceback" not in site.log()


def test_b031_b032_it_sends_each_frame_when_it_is_there_whatever_middleware_there_is(
    site: Site, clients: Clients
) -> None:
    reader = clients.open("/stream/live")  # whose second frame is not even made yet
    headers = reader.response.headers
    assert headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert (headers["Content-Encoding"], headers["X-Accel-Buffering"]) == ("identity", "no")
    assert headers["X-Studio-Stream-Protocol"] == "agent-events-v1"
    assert headers["X-Middleware"] == "was here"
    site.get("/go/live")
    assert reader.rest() == SECOND + sse.DONE


def test_b019_it_pings_in_silence(site: Site, clients: Clients) -> None:
    reader = clients.open("/stream/ping?ping=0.02")
    assert reader.read(3 * len(sse.PING)) == 3 * sse.PING
    site.get("/go/ping")
    assert reader.rest().replace(sse.PING, b"") == SECOND + sse.DONE


def test_b018_it_closes_the_source_that_is_awaited_when_the_client_leaves(
    site: Site, clients: Clients
) -> None:
    before = site.count("closed")
    clients.open("/stream/awaited").leave()
    site.wait(lambda: site.count("closed") == before + 1)


def test_b018_it_closes_the_source_when_the_client_leaves_a_blocked_send(
    site: Site, clients: Clients
) -> None:
    before = site.count("closed")
    reader = clients.open("/stream/flood-leave", buffer=4096)
    made = _stands_still(site, "frames:flood-leave")
    # A slow client slows its source; only daphne takes whatever it is given.
    assert made < FLOOD_FRAMES or site.server == "daphne"
    reader.leave()
    site.wait(lambda: site.count("closed") == before + 1)


def _stands_still(site: Site, name: str) -> int:
    """Wait until the source makes no more frames, and return how many it made."""
    seen = [-1]

    def same() -> bool:
        seen.append(site.count(name))
        return seen[-1] > 0 and seen[-5:] == seen[-1:] * 5

    site.wait(same)
    return seen[-1]


def test_it_ends_the_run_of_a_client_that_reads_no_more(site: Site, clients: Clients) -> None:
    if site.server == "daphne":
        pytest.skip("daphne takes whatever it is given, so no send ever waits")
    before = site.count("closed")
    reader = clients.open("/stream/flood-stall?stall=0.1", buffer=4096)
    # It still holds its connection, and reads nothing; on_stall lets the source end by itself.
    site.wait(lambda: site.count("closed") == before + 1)
    assert site.count("stalled") == 1
    # And should it come back, it reads how it ended.
    assert reader.rest().endswith(SECOND + sse.DONE)


def test_b034_it_holds_no_thread_and_no_connection_while_streams_are_open(
    site: Site, clients: Clients
) -> None:
    clients.open("/stream/open")
    idle = site.threads
    for _ in range(STREAMS):
        clients.open("/stream/open")
    assert site.count("opened") - site.count("closed") == STREAMS + 1
    # Threads that were given back need a moment to end.
    site.wait(lambda: site.threads <= idle and site.connections == 0)


def test_it_would_be_seen_if_streams_held_threads_and_connections(site: Site, clients: Clients) -> None:
    idle = site.threads
    for _ in range(10):
        clients.open("/stock/open")
    assert site.threads >= idle + 10
    assert site.connections >= 10
