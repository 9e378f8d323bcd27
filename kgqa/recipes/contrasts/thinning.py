"""A question of which some paragraphs are not shown, and which is the same otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

from kgqa.recipes.contrasts.facts import NAME
from kgqa.recipes.contrasts.instances import note_of, showing
from kgqa.records import Instance

_encode = json.JSONEncoder(ensure_ascii=False).encode


def thinned(instance: Instance, transform: str, kept: Sequence[bool], *, noted: Mapping[str, Any]) -> Instance:
    """``instance`` with the paragraphs that are ``kept`` (one bool for each), in the same order; ``noted`` is its provenance.

    Chains through what is gone are left out, and then the grades, as in every contrast.
    """
    gone = [paragraph.id for paragraph, stays in zip(instance.paragraphs, kept, strict=True) if not stays]
    note = note_of(instance, transform, level="paragraph", noted=noted)
    note |= {"bipartition": None, "sub_idx": 0, "sufficiency": None, "removed": gone}
    paragraphs = tuple(compress(instance.paragraphs, kept))
    return showing(instance, paragraphs, gone=gone, provenance=_encode({**noted, NAME: note}))


def thinned_broken(original: Instance, changed: Instance) -> Iterator[str]:
    """What is broken of: some of the paragraphs, unchanged and in order; everything that says what is asked and answered as it was."""
    rest = iter(original.paragraphs)
    if not changed.paragraphs:
        yield "no paragraph is left"
    if not all(paragraph in rest for paragraph in changed.paragraphs):
        yield "a paragraph has changed, or the order of the paragraphs"
    # These may lose what leads through a paragraph that is gone; the transform's own invariant says how much of them.
    same = replace(
        changed,
        paragraphs=original.paragraphs,
        chains=original.chains,
        grades=original.grades,
        decomposition=original.decomposition,
        provenance=original.provenance,
    )
    if same != original:
        yield "the question, its answers, its candidates, its id or its group has changed"
