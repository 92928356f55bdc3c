"""What the API says, field by field. The OpenAPI page and docs/api.md are made from it."""

from typing import Generic, TypeVar

from ninja import Field, Schema

Item = TypeVar("Item")


class Error(Schema):
    detail: str


class Page(Schema, Generic[Item]):
    """A part of a list. `next` is the cursor of what follows; null at the end."""

    items: list[Item]
    next: str | None = None


class SiteOut(Schema):
    id: str = Field(description="The site's name in addresses, such as alameda.ca")
    name: str
    state: str
    kind: str
    country: str
    url: str = Field(description="Its home in the records")


class BodyOut(Schema):
    name: str
    meetings: int
    first: str
    last: str


class SiteDetail(SiteOut):
    documents: int
    pages: int
    meetings: int
    motions: int
    first: str = Field(description="Day of the earliest meeting; empty when none has a date")
    last: str
    bodies: list[BodyOut]


class DocumentOut(Schema):
    site: str
    id: str
    meeting: str = Field(description="Id of its meeting")
    title: str
    body: str
    date: str
    kind: str
    version: int
    superseded: bool
    pages: int
    source_url: str = Field(description="Where the city published it")
    sha256: str
    fetched_at: str
    url: str


class PageOut(Schema):
    site: str
    document: str
    page: int
    text: str
    method: str = Field(description="text, ocr or html: how it was read")
    confidence: float | None = None
    url: str


class MeetingOut(Schema):
    site: str
    id: str
    body: str
    date: str
    documents: int
    pages: int
    kinds: list[str]
    motions: int
    url: str


class PlaceOut(Schema):
    document: str
    page: int
    start: int = Field(description="First character on the page")
    end: int
    url: str


class VoteOut(Schema):
    name: str
    vote: str


class MotionOut(Schema):
    id: str
    date: str
    body: str
    meeting: str
    text: str
    mover: str
    seconder: str
    result: str
    ayes: int | None = None
    noes: int | None = None
    abstentions: int | None = None
    absent: int | None = None
    flags: str = Field(description="What does not add up, as the rules say it")
    place: PlaceOut
    votes: list[VoteOut]


class CastOut(Schema):
    id: str
    date: str
    body: str
    meeting: str
    name: str
    vote: str
    motion: str = Field(description="Id of the motion")
    result: str
    place: PlaceOut


class PersonOut(Schema):
    name: str
    meetings: int
    votes: int
    first: str
    last: str
    url: str


class HitOut(Schema):
    site: str
    document: DocumentOut
    page: int
    snippet: str
    url: str


class SearchOut(Schema):
    total: int
    items: list[HitOut]
    next: str | None = None
