"""What a dataset card can carry to say that splits share nothing: counts, and hashes of everything that was compared.

Whoever has the data computes the certificate again and compares: the same hashes mean that the same things were compared, and then the
counts must be the same. A hash is the SHA-256 of a set's distinct keys in ascending order; a key is the first 16 bytes of the SHA-256 of a
normalised text in UTF-8 (``items.py``). The order of the questions, the file format and how often something comes do not matter.
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
    """What was compared of one side."""

    kind: str
    """A key of ``KINDS``."""
    side: str
    distinct: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCount:
    """How many distinct items two sides have in common."""

    kind: str
    earlier: str
    later: str
    distinct: int
    questions: int
    """Questions of ``later`` that have one of them, ``of`` all that have such items."""
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NearCount:
    """How many distinct texts of ``later`` have a near-duplicate in ``earlier`` that is not the same text.

    A question is a text with its answer.
    """

    kind: str
    earlier: str
    later: str
    texts: int
    of: int
    words: int
    """Words of a shingle; ``threshold`` is the Jaccard similarity from which on two texts count."""
    threshold: float
    bands: int
    rows: int
    seed: int
    """Of the hash functions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """All of it, for one question set and those it was compared with."""

    kgqa: str
    normalisation: str
    keys: str
    questions: dict[str, int]
    """Side → how many questions it has."""
    sets: tuple[ItemSet, ...]
    shared: tuple[SharedCount, ...]
    near_duplicates: tuple[NearCount, ...]

    def to_markdown(self) -> str:
        """Lines for a dataset card: what is shared, and the hashes that pin what was compared."""
        sides = ", ".join(f"{_cell(side)} ({count:,})" for side, count in self.questions.items())
        lines = [f"Leakage certificate of kgqa {self.kgqa} over {sides}; counts are distinct items in both.", ""]
        lines += ["| compared | between | shared | almost shared |", "| --- | --- | ---: | ---: |"]
        near = {(count.kind, count.earlier, count.later): count.texts for count in self.near_duplicates}
        for count in self.shared:
            almost = near.get((count.kind, count.earlier, count.later))
            alike = "" if almost is None else f"{almost:,}"
            lines.append(f"| {count.kind} | {_cell(count.earlier)} – {_cell(count.later)} | {count.distinct:,} | {alike} |")
        hashes = (f"{each.kind} {_cell(each.side)} {each.distinct:,} `{each.sha256[:16]}`" for each in self.sets if each.distinct)
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
    """The certificate of what was counted: ``shared`` and ``near`` by kind, ``words`` of a shingle by kind of ``near``."""
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
    """The certificate in a file of its own, or in an ``audit.json``; BrokenInput where there is none."""
    path = Path(path)
    with storage_errors(path):
        try:
            value = json.loads(read_small(path))
            return TypeAdapter(Certificate).validate_python(value.get("certificate", value), extra="forbid")
        except (ValueError, AttributeError, ValidationError, RecursionError):
            raise BrokenInput(f"{path}: this holds no leakage certificate of kgqa; give an audit.json, or make it again.") from None


def differences(one: Certificate, other: Certificate) -> Iterator[str]:
    """In what two certificates differ, in sentences; nothing where they say the same."""
    for field in ("kgqa", "normalisation", "keys"):
        if getattr(one, field) != getattr(other, field):
            yield f"{field}: {getattr(one, field)} there, {getattr(other, field)} here."
    there, here = _statements(one), _statements(other)
    for key in sorted(there.keys() | here.keys()):
        if there.get(key) != here.get(key):
            yield f"{key}: {there.get(key, 'nothing')} there, {here.get(key, 'nothing')} here."


def _statements(certificate: Certificate) -> dict[str, str]:
    """What it says, as a subject and a statement each."""
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
