"""The items that two splits can share: normalised questions, answers, paragraphs, facts and bridge entities, as keys of fixed size.

MuSiQue calls two multi-hop questions overlapping if they share a single-hop question, its answer, or its paragraph (Trivedi et al. 2022,
step S5). The kinds here are these, and those that WikiHop's graph adds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kgqa.arrays.words import composed
from kgqa.formats.provenance import everything
from kgqa.formats.qangaroo import IS_PLACEHOLDER
from kgqa.metrics.normalize import normalize
from kgqa.records import REFERENCE, Instance, Step

KEY_BYTES = 16
NORMALISATION = "lower case, without ASCII punctuation and the words a, an and the, single spaces; empty ones left out"
KINDS = {
    "questions": "the whole question together with its answer, of a span any way in which it was marked",
    "wordings": "the whole question, whatever its answer",
    "answers": "the canonical answer, yes and no left out",
    "paragraphs": "the text of a paragraph that is shown",
    "supporting-paragraphs": "the text of a paragraph that is marked as supporting",
    "facts": "a single-hop question with its answer, or a fact of the graph or of the evidence",
    "bridge-entities": "the answer of a hop that a later hop needs, or an entity on the chain to the answer",
    "hop-answers": "the answer of a hop, the last one included",
    "hop-entities": "the entity that the answer of a hop is, where a graph knows it, however it is spelled",
}
"""Kind of item → the values that are compared."""


@dataclass(frozen=True, slots=True)
class Items:
    """The items of one kind in a batch of questions."""

    owner: npt.NDArray[np.int64]
    """For each item the index of its question in the batch; ascending."""
    keys: npt.NDArray[np.uint64]
    """For each item the first 16 bytes of the SHA-256 of its text as two big-endian numbers (items × 2)."""


class ItemBatch:
    """The items of some Instances; each kind is computed on first use."""

    def __init__(self, instances: Sequence[Instance]) -> None:
        """Nothing is computed before :meth:`of`."""
        self._instances = instances
        self._items: dict[str, Items] = {}

    def of(self, kind: str) -> Items:
        """The items of a key of ``KINDS``."""
        if kind not in self._items:
            self._items[kind] = self._computed(kind)
        return self._items[kind]

    def _computed(self, kind: str) -> Items:
        if kind == "paragraphs":
            return Items(self._paragraphs.owner[self._visible], self._paragraphs.keys[self._visible])
        if kind == "supporting-paragraphs":
            is_supporting = np.array([bool(p.supporting) for i in self._instances for p in i.paragraphs], np.bool_) & self._visible
            return Items(self._paragraphs.owner[is_supporting], self._paragraphs.keys[is_supporting])
        return _items(self._instances, _TEXTS_OF_KIND[kind])

    @cached_property
    def paragraph_keys(self) -> npt.NDArray[np.uint64]:
        """One key per paragraph, including empty ones (paragraphs × 2)."""
        return self._paragraphs.keys

    @property
    def shown_texts(self) -> list[str]:
        """The normalised texts of the paragraphs that are items, that is, not empty."""
        return [text for text in self._normalized if text]

    @cached_property
    def _normalized(self) -> list[str]:
        return [normalize(paragraph.text) for instance in self._instances for paragraph in instance.paragraphs]

    @cached_property
    def _paragraphs(self) -> Items:
        owner = np.repeat(np.arange(len(self._instances)), [len(instance.paragraphs) for instance in self._instances])
        return Items(owner, keys_of(self._normalized))

    @cached_property
    def _visible(self) -> npt.NDArray[np.bool_]:
        return np.array([bool(text) for text in self._normalized], np.bool_)


def texts_of(instance: Instance, kind: str) -> list[str]:
    """The items of one question as texts, in the order of :meth:`ItemBatch.of`; paragraphs are not normalised."""
    if kind in _TEXTS_OF_KIND:
        return list(dict.fromkeys(text for text in _TEXTS_OF_KIND[kind](instance) if text))
    paragraphs = [p for p in instance.paragraphs if p.supporting or kind == "paragraphs"]
    return [paragraph.text for paragraph in paragraphs if normalize(paragraph.text)]


def keys_of(texts: Iterable[str]) -> npt.NDArray[np.uint64]:
    """The keys of normalised texts (texts × 2)."""
    digests = b"".join(hashlib.sha256(composed(text).encode()).digest()[:KEY_BYTES] for text in texts)
    return np.frombuffer(digests, ">u8").astype(np.uint64).reshape(-1, 2)


def _items(instances: Sequence[Instance], texts_of: Callable[[Instance], Iterator[str]]) -> Items:
    owner, texts = [], []
    for number, instance in enumerate(instances):
        distinct = dict.fromkeys(text for text in texts_of(instance) if text)
        owner += [number] * len(distinct)
        texts += list(distinct)
    return Items(np.array(owner, np.int64), keys_of(texts))


def questions(instance: Instance) -> Iterator[str]:
    """The normalised question with each of its answers and aliases; a question without any has an empty one.

    Annotators mark one span in several ways, and any of them counts. A candidate counts by its own text only, since aliases of two
    candidates can be the same word.
    """
    if question := normalize(instance.question):
        for answer in (instance.answers[:1] if instance.answer_type == "candidate" else instance.answers) or ("",):
            yield f"{question} = {unmasked(instance, answer)}"


def wordings(instance: Instance) -> Iterator[str]:
    """The question, normalised for comparison."""
    yield normalize(instance.question)


def answers(instance: Instance) -> Iterator[str]:
    """The normalised canonical answer, except yes and no, which every set has."""
    if instance.answers and instance.answer_type not in {"boolean", "none"}:
        yield unmasked(instance, instance.answers[0])


def unmasked(instance: Instance, answer: str) -> str:
    """The normalised answer; for a placeholder, which is drawn per question, the answer's id."""
    if IS_PLACEHOLDER.fullmatch(answer) and instance.answer_id is not None:
        return instance.answer_id
    return normalize(answer)


def facts(instance: Instance) -> Iterator[str]:
    """Single-hop questions with their answers, references resolved; the fact of the graph; evidence triples."""
    steps = instance.decomposition or ()
    for number, step in enumerate(steps):
        question = normalize(_resolved(step, steps[:number]))
        if question and step.answer:
            yield f"{question} = {normalize(step.answer)}"
    notes = everything(instance)
    origin = notes.get("qangaroo", notes)
    if isinstance(origin, dict) and {"head", "relation"} <= origin.keys() and instance.answer_id:
        yield f"{origin['head']} {origin['relation']} {instance.answer_id}"
    evidence = notes.get("twowiki")
    triples = evidence.get("evidences") if isinstance(evidence, dict) else None
    for triple in triples if isinstance(triples, list) else ():
        if isinstance(triple, list):
            yield " | ".join(normalize(str(part)) for part in triple)


def bridge_entities(instance: Instance) -> Iterator[str]:
    """Answers of steps that other steps depend on; inner entities of the chains to the answer."""
    steps = instance.decomposition or ()
    step_ids = {name for step in steps for name in step.depends_on}
    for step in steps:
        if step.id in step_ids and step.answer:
            yield normalize(step.answer)
    for candidate, chains in zip(instance.candidates or (), instance.chains or (), strict=False):
        if candidate.id == instance.answer_id:
            for chain in chains:
                yield from chain[2:-1:2]


def hop_answers(instance: Instance) -> Iterator[str]:
    """The normalised answers of all steps."""
    for step in instance.decomposition or ():
        if step.answer:
            yield normalize(step.answer)


def hop_entities(instance: Instance) -> Iterator[str]:
    """Ids of the entities that answer the steps, as ``kgqa compose`` notes them."""
    note = everything(instance).get("compose")
    entities = note.get("entities") if isinstance(note, dict) else None
    yield from (entity for entity in (entities if isinstance(entities, list) else ()) if isinstance(entity, str))


def _resolved(step: Step, earlier: Sequence[Step]) -> str:
    """The step's question with ``#1`` replaced by the answer of the first step, if that step comes earlier; any other ``#`` is text."""

    def answer(reference: re.Match[str]) -> str:
        number = int(reference[1])
        return (earlier[number - 1].answer if 1 <= number <= len(earlier) else None) or reference[0]

    return REFERENCE.sub(answer, step.question)


_TEXTS_OF_KIND: dict[str, Callable[[Instance], Iterator[str]]] = {
    "questions": questions,
    "wordings": wordings,
    "answers": answers,
    "facts": facts,
    "bridge-entities": bridge_entities,
    "hop-answers": hop_answers,
    "hop-entities": hop_entities,
}
