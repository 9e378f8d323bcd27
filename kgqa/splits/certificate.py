"""The leakage certificate of a dataset card: counts of shared items, and hashes of everything that was compared.

Anyone with the data can compute the certificate again. Equal hashes mean that the same items were compared, and then the counts must be
equal. A hash is the SHA-256 of a set's distinct keys in ascending order; a key is the first 16 bytes of the SHA-256 of a normalised text
in UTF-8 (``items.py``). The order of the questions, the file format and the number of repetitions do not matter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from kgqa.errors import BrokenInput, storage_errors
from kgqa.settings.small_files import read_small
from kgqa.splits.items import KINDS, NORMALISATION
from kgqa.splits.leakage import SharedItems
from kgqa.splits.near_duplicates import BANDS, ROWS
from kgqa.splits.near_shared import NearShared
from kgqa.version import __version__

KEYS = "first 16 bytes of the SHA-256 of the normalised text; a set's hash is the SHA-256 of its distinct keys in ascending order"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSet:
    """The compared items of one side."""

    kind: str
    """A key of ``KINDS``."""
    side: str
    distinct: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCount:
    """The number of distinct items that two sides share."""

    kind: str
    earlier: str
    later: str
    distinct: int
    questions: int
    """Questions of ``later`` with a shared item; ``of`` counts all its questions with such items."""
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NearCount:
    """The number of distinct texts of ``later`` with a near-duplicate, but not the same text, in ``earlier``.

    A question is a text with its answer.
    """

    kind: str
    earlier: str
    later: str
    texts: int
    of: int
    words: int
    """Words of a shingle; ``threshold`` is the lowest Jaccard similarity that counts."""
    threshold: float
    bands: int
    rows: int
    seed: int
    """Seed of the hash functions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The certificate of one question set and of those that it was compared with."""

    kgqa: str
    normalisation: str
    keys: str
    questions: dict[str, int]
    """Side → number of its questions."""
    sets: tuple[ItemSet, ...]
    shared: tuple[SharedCount, ...]
    near_duplicates: tuple[NearCount, ...]

    def to_markdown(self) -> str:
        """Lines for a dataset card: shared items, and hashes that pin the compared sets."""
        sides = ", ".join(f"{_cell(side)} ({count:,})" for side, count in self.questions.items())
        lines = [f"Leakage certificate of kgqa {self.kgqa} over {sides}; counts are distinct items in both.", ""]
        lines += ["| compared | between | shared | almost shared |", "| --- | --- | ---: | ---: |"]
        near = {(count.kind, count.earlier, count.later): count.texts for count in self.near_duplicates}
        for count in self.shared:
            near_count = near.get((count.kind, count.earlier, count.later))
            near_cell = "" if near_count is None else f"{near_count:,}"
            lines.append(f"| {count.kind} | {_cell(count.earlier)} – {_cell(count.later)} | {count.distinct:,} | {near_cell} |")
        hashes = (
            f"{item_set.kind} {_cell(item_set.side)} {item_set.distinct:,} `{item_set.sha256[:16]}`"
            for item_set in self.sets
            if item_set.distinct
        )
        return "\n".join([*lines, "", "SHA-256 of the compared sets, first 16 digits: " + "; ".join(hashes) + ".", ""])


def certificate(
    questions: Mapping[str, int],
    shared: Mapping[str, SharedItems],
    near: Mapping[str, Sequence[NearShared]],
    *,
    words: Mapping[str, int],
    threshold: float,
    seed: int,
) -> Certificate:
    """The certificate of these counts: ``shared`` and ``near`` by kind, ``words`` of a shingle by kind of ``near``."""
    return Certificate(
        kgqa=__version__,
        normalisation=NORMALISATION,
        keys=KEYS,
        questions=dict(questions),
        sets=tuple(
            ItemSet(kind=kind, side=side, distinct=distinct, sha256=digest)
            for kind in KINDS
            if kind in shared
            for side, (distinct, digest) in shared[kind].digests().items()
        ),
        shared=tuple(
            SharedCount(kind=kind, earlier=pair.earlier, later=pair.later, distinct=pair.items, questions=pair.questions, of=pair.of)
            for kind in KINDS
            if kind in shared
            for pair in shared[kind].shared()
        ),
        near_duplicates=tuple(
            NearCount(
                kind=kind, earlier=pair.earlier, later=pair.later, texts=pair.texts, of=pair.of, words=words[kind], threshold=threshold,
                bands=BANDS, rows=ROWS, seed=seed,
            )
            for kind, pairs in near.items()
            for pair in pairs
        ),
    )  # fmt: skip


def read_certificate(path: str | Path) -> Certificate:
    """The certificate in a file of its own, or in an ``audit.json``. Raises BrokenInput if there is none."""
    path = Path(path)
    with storage_errors(path):
        try:
            data = json.loads(read_small(path))
            return TypeAdapter(Certificate).validate_python(data.get("certificate", data), extra="forbid")
        except (ValueError, AttributeError, ValidationError, RecursionError):
            raise BrokenInput(f"{path}: this has no leakage certificate from kgqa; give an audit.json, or run the audit again.") from None


def differences(first: Certificate, second: Certificate) -> Iterator[str]:
    """The differences between two certificates, one sentence each; none if they agree."""
    for field in ("kgqa", "normalisation", "keys"):
        if getattr(first, field) != getattr(second, field):
            yield f"{field}: {getattr(first, field)} there, {getattr(second, field)} here."
    first_statements, second_statements = _statements(first), _statements(second)
    for key in sorted(first_statements.keys() | second_statements.keys()):
        if first_statements.get(key) != second_statements.get(key):
            yield f"{key}: {first_statements.get(key, 'nothing')} there, {second_statements.get(key, 'nothing')} here."


def _statements(certificate: Certificate) -> dict[str, str]:
    """Subject → statement, for each line of a certificate."""
    return {
        **{f"questions of {side}": f"{count:,}" for side, count in certificate.questions.items()},
        **{f"{s.kind} of {s.side}": f"{s.distinct:,} with hash {s.sha256[:16]}" for s in certificate.sets},
        **{
            f"{s.kind} that {s.later} has of {s.earlier}": f"{s.distinct:,}, in {s.questions:,} of {s.of:,} questions"
            for s in certificate.shared
        },
        **{
            f"{n.kind} that {n.later} almost has of {n.earlier}": f"{n.texts:,} of {n.of:,} ({n.words} words, {n.threshold}, seed {n.seed})"
            for n in certificate.near_duplicates
        },
    }


def _cell(text: str) -> str:
    """A name that cannot break out of a Markdown table."""
    return "".join("\\" + c if c in "|\\`<>*_[]" else " " if c.isspace() else c for c in text)
