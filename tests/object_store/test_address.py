"""URLs of object stores: what they name, and which are refused without being repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.errors import SettingsError
from kgqa.object_store.address import ObjectAddress, place_of, recorded, url_of
from tests.object_server import SECRET


@pytest.mark.parametrize(
    ("url", "scheme", "bucket", "key"),
    [
        ("s3://corpora/wiki/lat", "s3", "corpora", "wiki/lat"),
        ("S3://corpora//wiki/lat//", "s3", "corpora", "wiki/lat"),
        ("gs://corpora", "gs", "corpora", ""),
        ("s3://a.b-c/x y%20#1@z", "s3", "a.b-c", "x y%20#1@z"),
    ],
)
def test_a_url_names_a_bucket_and_a_key_as_it_is_written(url: str, scheme: str, bucket: str, key: str) -> None:
    address = place_of(url)
    assert address == ObjectAddress(scheme=scheme, bucket=bucket, key=key)
    assert place_of(str(address)) == address
    assert url_of(url) == recorded(url) == str(address)


@pytest.mark.parametrize(
    ("place", "path"),
    [("data/lat", "data/lat"), ("file:///data/lat", "/data/lat"), ("file://localhost/data", "/data"), ("s3", "s3")],
)
def test_everything_else_is_a_path(place: str, path: str) -> None:
    assert place_of(place) == Path(path)
    assert url_of(place) is None
    assert recorded(place) == Path(path).name


@pytest.mark.parametrize(
    "url",
    [
        f"s3://someone:{SECRET}@corpora/lat",
        f"s3://{SECRET.replace('/', '')}@corpora/lat",
        f"s3://corpora/lat?X-Amz-Signature={SECRET}",
        f"https://corpora.example.org/lat?X-Amz-Signature={SECRET}",
        f"https://example.org/{SECRET}",
        f"gs://corpora?key={SECRET}",
    ],
)
def test_a_url_that_may_hold_a_secret_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(SettingsError) as error:
        place_of(url)
    for part in [SECRET, *SECRET.split("/")[1:], "someone", "example"]:
        assert part not in str(error.value)


@pytest.mark.parametrize(
        "url",
    [
        "", "s3://", "s3:///lat", "s3://Big_Bucket!/lat", "file://elsewhere/data", "hdfs://name/lat", Path("s3://corpora/lat"),
        "s3://corpora/a//b", "gs://corpora/a/../b", "s3://corpora/./a", "s3://corpora/a\nb", "s3://corpora#a",
    ],
)  # fmt: skip
def test_a_url_that_names_no_bucket_is_refused(url: str | Path) -> None:
    with pytest.raises(SettingsError):
        place_of(url)
