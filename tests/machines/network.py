"""What lies between a machine and the servers: one port for each, which can be cut and mended."""

import contextlib
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

Connect = Callable[[], socket.socket]


@dataclass
class Line:
    """A port on this machine that leads to a server, until it is cut."""

    connect: Connect
    whole: bool = True
    _open: set[socket.socket] = field(default_factory=set)
    _listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    def __post_init__(self) -> None:
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def cut(self) -> None:
        """What is under way breaks, and nobody gets through."""
        self.whole = False
        for each in list(self._open):
            _close(each)

    def mend(self) -> None:
        self.whole = True

    def close(self) -> None:
        self.cut()
        _close(self._listener)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if not self.whole:
                _close(client)
                continue
            try:
                server = self.connect()
            except OSError:
                _close(client)
                continue
            self._open |= {client, server}
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
        for each in (one, other):
            _close(each)
            self._open.discard(each)


def _close(each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()


def to_unix(path: str) -> Connect:
    def connect() -> socket.socket:
        client = socket.socket(socket.AF_UNIX)
        client.connect(path)
        return client

    return connect


def to_port(port: int) -> Connect:
    def connect() -> socket.socket:
        client = socket.create_connection(("127.0.0.1", port), timeout=10)
        client.settimeout(None)
        return client

    return connect
