"""The serving process: uvicorn with uvloop, a socket of our own, and a stop that ends answers properly.

Everything here is about one process; what starts and stops inside it is `studio.background`.
"""

import asyncio
import errno
import signal
import socket
from collections.abc import Callable

import uvicorn

from studio import background

#: How long uvicorn waits for open connections after a stop signal, before it cuts them.
GRACEFUL_SECONDS = 10


class PortBusy(Exception):
    """Another program listens on the port."""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, so that a busy port is known before anything else is done.

    Raises PortBusy, and OSError for an address that is not ours.
    """
    family, kind, proto, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, proto)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortBusy from error
        raise
    return listener


def serve(listener: socket.socket, *, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM and return; `ready` is called once, when requests are answered."""
    config = uvicorn.Config(
        "studio.asgi:application",
        lifespan="on",
        log_config=None,  # Django's logging settings hold
        access_log=False,
        server_header=False,
        proxy_headers=False,  # STUDIO_TRUSTED_PROXIES decides, in one place
        timeout_keep_alive=75,  # longer than proxies keep theirs, so that none is used while we close it
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
    )
    # uvicorn raises the signal again when it has stopped; by then it has been obeyed.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    _Server(config, ready).run(sockets=[listener])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Bring open streams to their terminal while uvicorn, which knows of none, waits for connections."""
        draining = asyncio.create_task(background.drain())
        await super().shutdown(sockets)
        await draining
