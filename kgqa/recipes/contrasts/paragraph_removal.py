"""Removing paragraphs from a question that stays the same otherwise."""

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


def with_paragraphs(instance: Instance, transform: str, keep: Sequence[bool], *, notes: Mapping[str, Any]) -> Instance:
    """``instance`` with the paragraphs for which ``keep`` (one bool for each) holds; ``notes`` is its decoded provenance.

    Chains through removed paragraphs are left out, and then the grades, as in every contrast.
    """
    removed_ids = [paragraph.id for paragraph, stays in zip(instance.paragraphs, keep, strict=True) if not stays]
    note = note_of(instance, transform, level="paragraph", notes=notes)
    note |= {"bipartition": None, "sub_idx": 0, "sufficiency": None, "removed": removed_ids}
    paragraphs = tuple(compress(instance.paragraphs, keep))
    return showing(instance, paragraphs, removed_facts=removed_ids, provenance=_encode({**notes, NAME: note}))


def removal_faults(original: Instance, instance: Instance) -> Iterator[str]:
    """Faults against: some of the paragraphs, unchanged and in order, and the same question, answers and candidates."""
    paragraphs = iter(original.paragraphs)
    if not instance.paragraphs:
        yield "no paragraph is left"
    if not all(paragraph in paragraphs for paragraph in instance.paragraphs):
        yield "a paragraph has changed, or the order of the paragraphs"
    # Chains and steps may lose removed paragraphs; the transform's own invariant limits these losses.
    expected_instance = replace(
        instance,
        paragraphs=original.paragraphs,
        chains=original.chains,
        grades=original.grades,
        decomposition=original.decomposition,
        provenance=original.provenance,
    )
    if expected_instance != original:
        yield "the question, its answers, its candidates, its id or its group has changed"
