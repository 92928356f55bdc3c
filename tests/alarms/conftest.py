"""A mail server and a chat on loopback, and a channel to each."""

import socket
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message

import pytest
from aiosmtpd.controller import Controller

from pipeline.models import Channel


class Mailbox:
    """What arrived, message by message; `refuse` makes it turn mail away."""

    def __init__(self) -> None:
        self.mails: list[Message] = []
        self.refuse = False

    async def handle_DATA(self, server, session, envelope) -> str:
        if self.refuse:
            return "451 come back later"
        self.mails.append(message_from_bytes(envelope.content))
        return "250 OK"

    @property
    def subjects(self) -> list[str]:
        return [" ".join(mail["Subject"].split()) for mail in self.mails]

    def text(self, number: int) -> str:
        return self.mails[number].get_payload(decode=True).decode()


@pytest.fixture
def mailbox(settings) -> Iterator[Mailbox]:
    box = Mailbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Controller(box, hostname="127.0.0.1", port=port)
    server.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.ALARM_GROUP_SECONDS = 0
    yield box
    server.stop()


@pytest.fixture
def team(mailbox, db) -> Channel:
    """Told of what sites and sources do; that no worker runs is what these tests are like."""
    return Channel.objects.create(
        name="team",
        address="ops@example.org, me@example.org",
        kinds=["attention", "failed", "silent", "shrink"],
    )
