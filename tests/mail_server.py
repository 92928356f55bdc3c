"""A mail server of the machine itself, which keeps what it is given and can be told to refuse."""

import socket
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller


class Postbox:
    """`answers`: what the next recipients are answered instead of being taken, one each."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.answers: list[str] = []

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if self.answers:
            return self.answers.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.mails.append(message)
        return "250 taken"

    def text(self, number: int = -1, kind: str = "plain") -> str:
        part = self.mails[number].get_body((kind,))
        assert part is not None
        return str(part.get_content())


def serving(box: Postbox) -> Controller:
    """On a port that was free a moment ago; `start` and `stop` it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Controller(box, hostname="127.0.0.1", port=port)
