"""Requests to an object store through Arrow's file systems: bounded in time, and every failure is one sentence without a secret.

Credentials come from where the store's own tools look: the environment, the files of a login on this machine, the machine's role. Arrow
repeats a request that is refused for now (503, 429) or whose connection breaks, with growing pauses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from kgqa.errors import KgqaError, MissingInput, ObjectStoreError, SettingsError
from kgqa.object_store.address import ObjectAddress
from kgqa.settings.environment import number

SECONDS = "KGQA_OBJECTS_SECONDS"
"""Environment variable: seconds to wait for a connection, and for the next byte of an answer."""
WAIT = 20.0
ANONYMOUS = "KGQA_OBJECTS_ANONYMOUS"
"""Environment variable: 1 to send no credentials, as for a public bucket."""
ATTEMPTS = 5
CHUNK = 4 << 20
ENDPOINTS = {"s3": "AWS_ENDPOINT_URL", "gs": "CLOUD_STORAGE_EMULATOR_ENDPOINT"}
"""Scheme → environment variable that names another service."""
GOOGLE_FILE = "GOOGLE_APPLICATION_CREDENTIALS"
_ENDPOINT = re.compile(r"(https?)://((?:\[[0-9a-f:.]+\]|[^/@?#:\[\]\s]+)(?::(\d{1,5}))?)/?", re.IGNORECASE)
_STATE = ("content-length", "last-modified", "etag", "versionid", "generation", "updated", "size")
State = dict[str, str]
"""What the store says of an object: size, time of the last change, and ETag or generation."""
AGAIN = "then run the same command again, which goes on with what is missing"
REASONS = {
    r"credentials file|Invalid \w+Credentials": (
        f"the file that {GOOGLE_FILE} names, or that of this machine's login, has no credentials of Google; correct it"
    ),
    r"OAuth2 access token": (
        f"no credentials of Google are found that give access; set {GOOGLE_FILE}, or {ANONYMOUS}=1 to read a public bucket without any"
    ),
    r"NO_SUCH_BUCKET|\bbucket does not exist|^Bucket '[^']*' not found": "there is no such bucket; check its name and ENDPOINT",
    r"ACCESS_DENIED|ACCESS_KEY|SIGNATURE|TOKEN|UNRECOGNIZED_CLIENT|PERMISSION_DENIED|UNAUTHENTICATED|status 40[13]|credential": (
        "the store refuses access with the credentials of the environment; set others, or "
        f"{ANONYMOUS}=1 to read a public bucket without any"
    ),
    r"status 30[17]|REDIRECT|configured region|MALFORMED|status 400": (
        "the store refuses the request as one for another region; set AWS_REGION to the bucket's region, and check ENDPOINT"
    ),
    r"curlCode: (60|77)|certificate": "the store's certificate is not trusted; set AWS_CA_BUNDLE to a file with the right authorities",
    r"status (500|502|503|504|429)|SLOW_DOWN|INTERNAL_FAILURE|SERVICE_UNAVAILABLE|THROTTLING|TOO_MANY|RESOURCE_EXHAUSTED": (
        f"the store is overloaded or fails, after {ATTEMPTS} attempts; wait a while, {AGAIN}"
    ),
    r"NETWORK_CONNECTION|TIMEOUT|UNAVAILABLE|DEADLINE|curlCode|CURL error": (
        f"the store does not answer, or the connection breaks, after {ATTEMPTS} attempts; check the network and ENDPOINT, {AGAIN}"
    ),
}  # fmt: skip
"""Pattern in what Arrow says → what is wrong and what to do; ENDPOINT stands for the variable of the store."""
_GONE = re.compile(r"RESOURCE_NOT_FOUND|NO_SUCH_KEY|NOT_FOUND|No such file|status 404")
_CODE = re.compile(r"AWS Error ([A-Z_]+)|Status\(([A-Z_]+)")


@contextmanager
def store_errors(place: object) -> Iterator[None]:
    """Turn what Arrow raises about ``place`` into one sentence, without its text, which may name a key or a request."""
    try:
        yield
    except KgqaError:
        raise
    except FileNotFoundError:
        raise _missing(place) from None
    except Exception as error:
        from pyarrow import ArrowException

        if not isinstance(error, OSError | ValueError | RuntimeError | NotImplementedError | ArrowException):
            raise
        text = str(error)
        reason = next((reason for pattern, reason in REASONS.items() if re.search(pattern, text, re.IGNORECASE)), None)
        reason = reason and reason.replace("ENDPOINT", ENDPOINTS["gs" if str(place).startswith("gs://") else "s3"])
        if reason is None and _GONE.search(text):
            raise _missing(place) from None
        code = _CODE.search(text)
        named = f" ({code[1] or code[2]})" if code else ""
        raise ObjectStoreError(
            f"{place}: {reason or f'the store fails with an error of its own{named}; check the URL and the endpoint'}."
        ) from None


def _missing(place: object) -> MissingInput:
    return MissingInput(f"{place}: the store has no such object, and none below this prefix; check the name.")


@dataclass(frozen=True, slots=True)
class Service:
    """The store that has the bucket of an address."""

    address: ObjectAddress
    files: Any
    """Arrow's file system."""

    @classmethod
    def of(cls, address: ObjectAddress) -> Service:
        """Connect as the environment says; the first request comes later. Raises SettingsError or ObjectStoreError."""
        make = _s3 if address.scheme == "s3" else _gcs
        with store_errors(address):
            try:
                return cls(address, make(address))
            except ImportError:
                raise SettingsError(f"{address}: this build of pyarrow has no {address.scheme}://; install pyarrow with pip.") from None

    def url(self, name: str) -> str:
        """URL of the object ``name`` below the address; the address itself for an empty name."""
        return f"{self.address.scheme}://{self._path(name)}"

    def _path(self, name: str) -> str:
        return f"{self.address.path}/{name}" if name else self.address.path

    def is_object(self) -> bool:
        """Whether the address is that of one object and not a prefix."""
        from pyarrow.fs import FileType

        if not self.address.key:
            return False
        with store_errors(self.address):
            return bool(self.files.get_file_info(self.address.path).type == FileType.File)

    def sizes(self, *, deep: bool) -> dict[str, int]:
        """Name → bytes of each object below the prefix, sorted; without ``deep`` only of those without a further slash.

        Raises MissingInput if there are none, however deep; those that are only deeper give an empty result.
        """
        from pyarrow.fs import FileSelector, FileType

        prefix = f"{self.address.path}/"
        with store_errors(self.address):
            entries = self.files.get_file_info(FileSelector(self.address.path, recursive=deep))
            sizes = {entry.path.removeprefix(prefix): int(entry.size) for entry in entries if entry.type == FileType.File}
        return dict(sorted(sizes.items()))

    def size(self, name: str) -> int | None:
        """Bytes of the object ``name``; None without one. It asks for the object itself and for no list."""
        from pyarrow.fs import FileType

        with store_errors(self.url(name)):
            info = self.files.get_file_info(self._path(name))
        return int(info.size) if info.type == FileType.File else None

    def names(self, name: str) -> list[str]:
        """The last parts of the prefixes directly below ``name``, sorted; none if there is nothing."""
        from pyarrow.fs import FileSelector, FileType

        with store_errors(self.url(name)):
            entries = self.files.get_file_info(FileSelector(self._path(name), allow_not_found=True))
        return sorted(entry.base_name for entry in entries if entry.type == FileType.Directory)

    def state(self, name: str) -> State:
        """What the store says of the object. Raises MissingInput if there is none."""
        with store_errors(self.url(name)), self.files.open_input_stream(self._path(name), compression=None) as stream:
            return _state(stream)

    def read(self, name: str) -> Iterator[bytes]:
        """The object's bytes, as they are. Raises ObjectStoreError also if the store sends less than it announces."""
        with store_errors(self.url(name)):
            file = self.files.open_input_file(self._path(name))
            position, size = 0, file.size()
        buffer = memoryview(bytearray(min(CHUNK, size)))
        try:
            while position < size:
                count = self._filled(name, file, position, buffer[: size - position])
                yield bytes(buffer[:count])
                position += count
        finally:
            file.close()

    def _filled(self, name: str, file: Any, position: int, buffer: memoryview) -> int:
        """Read into the buffer; returns how many bytes.

        Arrow counts bytes of S3 as read that never came, if an answer is shorter than its range. So the buffer is filled with a random
        pattern first. Bytes that still have it at the end are read once more, over the inverse pattern, as they may be right by chance.
        """
        mark = os.urandom(16)
        for pattern in (mark, bytes(255 - byte for byte in mark)):
            before = (pattern * (len(buffer) // len(pattern) + 1))[: len(buffer)]
            buffer[:] = before
            with store_errors(self.url(name)):
                file.seek(position)
                count = int(file.readinto(buffer))
            if bytes(buffer[max(0, count - len(pattern)) : count]) != before[max(0, count - len(pattern)) : count]:
                return count
        raise ObjectStoreError(f"{self.url(name)}: the store sent less of the object than it announced; run the same command again.")

    def write(self, name: str, chunks: Iterator[bytes]) -> None:
        """Put an object. After an error it is removed again, since Arrow stores what was written so far."""
        with store_errors(self.url(name)):
            stream = self.files.open_output_stream(self._path(name), compression=None)
        try:
            for chunk in chunks:
                with store_errors(self.url(name)):
                    stream.write(chunk)
            with store_errors(self.url(name)):
                stream.close()
        except BaseException:
            for undo in (stream.close, lambda: self.files.delete_file(self._path(name))):
                try:
                    undo()
                except (OSError, ValueError):  # what led here is reported
                    continue
            raise

    def delete(self, name: str) -> None:
        """Delete an object."""
        with store_errors(self.url(name)):
            self.files.delete_file(self._path(name))


def endpoint() -> str:
    """The address of the S3 service that the environment names; empty for Amazon's."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""


def _s3(address: ObjectAddress) -> Any:
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem, resolve_s3_region

    seconds, own = _seconds(), {}
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if url := endpoint():
        match = _checked_endpoint("AWS_ENDPOINT_URL_S3" if os.environ.get("AWS_ENDPOINT_URL_S3") else "AWS_ENDPOINT_URL", url)
        own = {"scheme": match[1].lower(), "endpoint_override": match[2]}
        region = region or "us-east-1"
    if bundle := os.environ.get("AWS_CA_BUNDLE"):
        _check_file("AWS_CA_BUNDLE", bundle)
        own["tls_ca_file_path"] = bundle
    return S3FileSystem(
        anonymous=_is_anonymous(), region=region or resolve_s3_region(address.bucket), connect_timeout=seconds, request_timeout=seconds,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS), allow_delayed_open=True, **own,
    )  # fmt: skip


def _gcs(address: ObjectAddress) -> Any:
    from pyarrow.fs import GcsFileSystem

    if url := os.environ.get(ENDPOINTS["gs"]):
        _checked_endpoint(ENDPOINTS["gs"], url)
    if (file := os.environ.get(GOOGLE_FILE)) and not _is_anonymous():
        _check_file(GOOGLE_FILE, file)
    return GcsFileSystem(anonymous=_is_anonymous(), retry_time_limit=timedelta(seconds=ATTEMPTS * _seconds()))


def _checked_endpoint(variable: str, url: str) -> re.Match[str]:
    """The parts of the URL, which may hold a secret and is not repeated. Raises SettingsError."""
    match = _ENDPOINT.fullmatch(url)
    if match is None or not 0 < int(match[3] or 80) < 1 << 16:
        raise SettingsError(
            f"{variable} is not http://HOST:PORT or https://HOST:PORT without anything else, with a port below 65,536; correct it."
        )
    return match


def _check_file(variable: str, name: str) -> None:
    if not os.path.isfile(name) or not os.access(name, os.R_OK):
        raise SettingsError(f"{variable} is {name}, which is no file that can be read; correct the variable, or unset it.")


def _is_anonymous() -> bool:
    value = os.environ.get(ANONYMOUS, "")
    if value not in {"", "0", "1"}:
        raise SettingsError(f"{ANONYMOUS} is {value!r}; set it to 1, or leave it out.")
    return value == "1"


def _seconds() -> float:
    return number(SECONDS, WAIT, least=0.1, most=3600, what="a number of seconds")


def _state(stream: Any) -> State:
    metadata = {str(name).lower(): value for name, value in stream.metadata().items()}
    return {name: value.decode("utf-8", "replace") for name in _STATE if (value := metadata.get(name)) is not None}
