"""Ways in which a file of predictions is not what it should be: bytes that are damaged, and JSON that says something else."""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Iterator
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, "", "x", "\ud800", "\0", [], [[]], ["x"], [["x", 0]], [["x", True]], {}, {"x": 1}, {"": {}},
)  # fmt: skip
ODD_BYTES = (
    b"", b" ", b"\n\n", b"null", b"[]", b"{}", b"[{}]", b"3", b'"x"', b"[1, 2]", b"{", b'{"a"', b"NaN", b'{"a": NaN}', b'{"a": 1e999}',
    b'{"a": Infinity}', b'{"a": ' + b"9" * 5000 + b"}", b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe\x00", b"\xef\xbb\xbf", b"PK\x03\x04",
    b"\x1f\x8b", b"BZh91AY", b'{"a": "\\ud83d"}', b'{"a": "x"}{"b": "y"}', b'{"a": "x", "a": "y"}', b"\x00" * 1000,
)  # fmt: skip


def text_of(predictions: Any) -> bytes:
    """A list as lines, anything else as one value."""
    if isinstance(predictions, list):
        return "".join(json.dumps(line) + "\n" for line in predictions).encode()
    return json.dumps(predictions).encode()


def malformed(predictions: Any, others: list[Any], count: int) -> Iterator[bytes]:
    """``count`` files; ``others``: what other families' files hold."""
    rng = random.Random(7)
    right = text_of(predictions)
    whole = [*ODD_BYTES, *map(text_of, others), right.decode().encode("utf-16"), b"\xef\xbb\xbf" + right, right * 2]
    whole += [gzip.compress(right)[:end] for end in (5, 20, -5)] + [
        gzip.compress(right)[:-8] + b"\xff" * 8,
        gzip.compress(text_of(others[0])),
    ]
    yield from whole
    for number in range(max(0, count - len(whole))):
        yield (_damaged, _damaged, _changed, _changed, _changed)[number % 5](predictions, right, rng)


def _damaged(predictions: Any, right: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(right))
    if rng.random() < 0.4:
        return right[:place]
    length = rng.choice((0, 1, 1, 3))
    return right[:place] + bytes(rng.randrange(256) for _ in range(length)) + right[place + rng.choice((0, 1, 4)) :]


def _changed(predictions: Any, right: bytes, rng: random.Random) -> bytes:
    value = copy.deepcopy(predictions)
    for _ in range(rng.choice((1, 1, 2))):
        containers = list(_containers(value))
        if not containers:
            break
        _change(rng.choice(containers), rng)
    return text_of(value)


def _containers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        if value:
            yield value
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _containers(entry)


def _change(container: Any, rng: random.Random) -> None:
    key = rng.choice(list(container) if isinstance(container, dict) else range(len(container)))
    what = rng.random()
    if what < 0.6:
        container[key] = copy.deepcopy(rng.choice(ODD_VALUES))
    elif what < 0.8:
        del container[key]
    elif isinstance(container, dict):
        container[rng.choice(("x", "", "id", "answer", "a" * 300))] = container.pop(key)
    else:
        container.insert(key, copy.deepcopy(container[key]))
