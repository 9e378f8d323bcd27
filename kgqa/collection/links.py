"""Signed links: each gives one person access to one project until a day. There are no passwords."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass

from kgqa.errors import InputError

MOST = 2000
"""Characters of a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The person and project that a valid link gives access to."""

    project: str
    person: str
    until: int
    """Seconds since 1970, UTC."""


def sign(secret: bytes, access: Access) -> str:
    """The key of a link, for an address."""
    body = json.dumps([access.project, access.person, access.until], ensure_ascii=False, separators=(",", ":")).encode()
    return f"{_text(body)}.{_text(_seal(secret, b'link', body))}"


def read_key(secret: bytes, key: str, *, project: str, now: float) -> Access:
    """The access that a key gives. Raises InputError for one that is forged, over, or of another project."""
    body_text, _, seal_text = key.partition(".")
    try:
        body, seal = _bytes(body_text), _bytes(seal_text)
    except ValueError:
        body, seal = b"", b""
    if len(key) > MOST or not hmac.compare_digest(seal, _seal(secret, b"link", body)):
        raise InputError("this link is not valid here; ask the lead of the project for a new one.")
    name, person, until = json.loads(body)
    if name != project:
        raise InputError(f"this link is of the project {name!r}, not of {project!r}; ask the lead of the project for one.")
    if until < now:
        raise InputError("this link has expired; ask the lead of the project for a new one.")
    return Access(project=name, person=person, until=int(until))


def form_key(secret: bytes, key: str) -> str:
    """What the pages of a link send with each change, so that no other page can."""
    return _seal(secret, b"form", key.encode()).hex()[:32]


def _seal(secret: bytes, purpose: bytes, body: bytes) -> bytes:
    return hmac.digest(secret, purpose + b"\0" + body, hashlib.sha256)


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
