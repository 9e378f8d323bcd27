"""Addresses of objects: ``s3://bucket/prefix`` and ``gs://bucket/prefix``, and ``file:///folder`` for a folder of this machine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kgqa.errors import SettingsError

SCHEMES = ("s3", "gs")
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://(?P<authority>[^/]*)/*(?P<key>.*)", re.DOTALL)
_FLATTENED = re.compile(r"(?:s3|gs|file):/[^/]")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]+", re.ASCII)
WITHOUT_SECRETS = "give s3://BUCKET/PREFIX or gs://BUCKET/PREFIX alone; credentials come from the environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectAddress:
    """A bucket, and a key or a prefix of keys in it."""

    scheme: str
    """``s3`` or ``gs``."""
    bucket: str
    key: str
    """Without slashes at its ends; empty for the whole bucket."""

    @property
    def path(self) -> str:
        """Bucket and key, as Arrow's file systems name objects."""
        return f"{self.bucket}/{self.key}".rstrip("/")

    def __str__(self) -> str:
        """The URL; it never holds a secret."""
        return f"{self.scheme}://{self.path}"


def place_of(place: str | Path) -> ObjectAddress | Path:
    """The address in an object store, or the path on this machine, that a user names.

    A key is taken as it is written, without percent-decoding. Raises SettingsError for another kind of URL, and for one with a user name,
    a password or a query string, which may be secret and are not repeated.

    >>> place_of("s3://corpora/wiki/lat/"), place_of("file:///data/lat")
    (ObjectAddress(scheme='s3', bucket='corpora', key='wiki/lat'), PosixPath('/data/lat'))
    """
    if not str(place):
        raise SettingsError("an empty text is no folder, file or URL; name one, or leave the option out.")
    match = _URL.fullmatch(str(place))
    if match is None:
        if _FLATTENED.match(str(place)):
            raise SettingsError(f"{place}: this was a URL before it became a path, which has one slash; give it as a string.")
        return Path(place)
    scheme, authority, key = match["scheme"].lower(), match["authority"], match["key"]
    if "@" in authority or ":" in authority:  # a password may have a slash, which ends what looks like the authority
        raise SettingsError(f"a {scheme}:// URL with a user name or password is not read; {WITHOUT_SECRETS}.")
    if "?" in key or "?" in authority:
        raise SettingsError(f"a {scheme}:// URL with a query string is not read; {WITHOUT_SECRETS}.")
    if scheme == "file":
        if authority not in {"", "localhost"}:
            raise SettingsError(f"{place}: a file:// URL of another machine is not read; give file:///FOLDER.")
        return Path("/" + key)
    if scheme not in SCHEMES:
        raise SettingsError(
            f"a {scheme}:// URL is not read here; give a folder or file, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or file:///PATH."
        )
    if not _BUCKET.fullmatch(authority):
        raise SettingsError(
            f"a {scheme}:// URL begins with the name of a bucket, of lower-case letters, digits, '-', '_' and '.'; {WITHOUT_SECRETS}."
        )
    key = key.strip("/")
    if key and (set(key.split("/")) & {"", ".", ".."} or not key.isprintable()):
        raise SettingsError(f"{scheme}://{authority}/{key}: a key with '//', a part '.' or '..', or a control character is no file's name.")
    return ObjectAddress(scheme=scheme, bucket=authority, key=key)


def url_of(place: str | Path) -> str | None:
    """The URL if ``place`` is one of an object store, else None. Raises as :func:`place_of` does."""
    address = place_of(place)
    return None if isinstance(address, Path) else str(address)


def recorded(place: str | Path | None) -> str | None:
    """How a manifest names what a user gave: an object store's URL as it is, of a path the last part.

    >>> recorded("s3://corpora/wiki/lat"), recorded("/data/lat"), recorded(None)
    ('s3://corpora/wiki/lat', 'lat', None)
    """
    if place is None:
        return None
    address = place_of(place)
    return address.name if isinstance(address, Path) else str(address)
