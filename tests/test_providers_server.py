"""The model server of tests, from a thread: for clients that are synchronous or another process."""

import http.client
import threading
from contextlib import closing

from tests.providers_server import Reply, ThreadedProviderServer, chunk, sse, text_reply


def whole_answer(server: ThreadedProviderServer) -> bytes:
    with closing(ask(server)) as connection:
        return connection.getresponse().read()


def ask(server: ThreadedProviderServer) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    connection.request(
        "POST", "/v1/chat/completions", b'{"model": "m"}', {"Content-Type": "application/json"}
    )
    return connection


def test_it_plays_replies_in_order_and_notes_requests() -> None:
    with ThreadedProviderServer() as server:
        server.reply(text_reply("a"))
        server.answer(lambda request: text_reply(request.body["model"]))
        bodies = [whole_answer(server) for _ in range(2)]
        assert b'"content": "a"' in bodies[0]
        assert b'"content": "m"' in bodies[1]
        assert [request.path for request in server.wait_for_requests(2)] == ["/v1/chat/completions"] * 2


def test_it_waits_as_told_and_knows_who_left() -> None:
    go_on = threading.Event()
    with ThreadedProviderServer() as server:
        server.reply(Reply([sse(chunk({"content": "a"}), done=False), go_on, b"more"], stays_open=True))
        connection = ask(server)
        response = connection.getresponse()
        assert b'"a"' in response.read1()
        go_on.set()
        assert response.read1() == b"more"
        (request,) = server.wait_for_requests(1)
        assert not request.left.is_set()
        response.close()
        connection.close()
        assert request.left.wait(5)
