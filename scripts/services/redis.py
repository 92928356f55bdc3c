"""A private Redis on a socket of its own; empty at each start unless its data are kept."""

import os
import signal
import socket
from pathlib import Path

from .found import Program
from .janitor import Janitor
from .server import Server


def redis_server(program: Program, folder: Path, data: Path | None, janitor: Janitor) -> Server:
    address = folder / "redis.sock"
    kept = data / "redis" if data else folder
    kept.mkdir(parents=True, exist_ok=True)
    command = [
        program.path,
        *("--port", "0"),
        *("--unixsocket", str(address)),
        *("--unixsocketperm", "700"),
        *("--dir", str(kept)),
        *("--save", ""),
        *("--appendonly", "yes" if data else "no"),
        *("--daemonize", "no"),
    ]
    return Server(
        name="redis",
        command=command,
        folder=folder,
        is_ready=lambda: _answers(address),
        stop_signals=[(signal.SIGTERM, 10)],
        janitor=janitor,
        environ={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
    )


def redis_url(folder: Path) -> str:
    return f"unix://{folder / 'redis.sock'}?db=0"


def _answers(address: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        try:
            client.connect(str(address))
            client.sendall(b"PING\r\n")
            return client.recv(16).startswith(b"+PONG")
        except OSError:
            return False
