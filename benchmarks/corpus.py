"""Source files of any size with the shape of an encyclopedia and its facts, for a whole run of ``kgqa generate``; the same for the same
seed.

The distributions are those measured on 134,429 articles of Wikipedia with Wikidata and Freebase facts: words in a name, and which share of
all links, heads, relations and tails the most frequent ones take, by rank. A rank counts on a logarithmic scale between the first and the
last, so that the most frequent entity has the same share of a larger corpus.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from kgqa.arrays.hashes import mixed

Ints = npt.NDArray[np.int64]
ENTITIES = 1.4
"""Entities to a document; those without an article of their own are only mentioned."""
LINKS = ([1, 10, 100, 1_000, 10_000, 30_000, 118_640], [0.017, 0.056, 0.161, 0.372, 0.687, 0.845, 1.0])
HEADS = ([1, 10, 30, 100, 1_000, 10_000, 30_000, 50_644], [0.004, 0.018, 0.037, 0.076, 0.262, 0.837, 0.95, 1.0])
TAILS = ([1, 10, 30, 100, 1_000, 10_000, 26_195], [0.025, 0.097, 0.164, 0.271, 0.516, 0.925, 1.0])
RELATIONS = ([1, 10, 30, 100, 312], [0.053, 0.308, 0.538, 0.825, 1.0])
"""(rank, share of all up to this rank), as measured."""
NAME_WORDS = [0.468, 0.347, 0.106, 0.043, 0.019, 0.017]
"""The shares of names of one word, two, …"""
STATED, WALKED, COMPOSED = 0.35, 0.25, 0.2
"""The shares of facts whose tail is in the head's article, is where a walk over two or three articles ends, and follows from two other
facts; the tails of the others are drawn by ``TAILS``."""
SHARED = 0.05
"""The share of entities that have the name of another one."""
SEVERAL = 0.15
"""The share of names that are written a second time in their article."""
SPARE = 1.4
"""So many times as many facts are drawn, as frequent ones are drawn again."""
BLOCK = 50_000
"""Documents whose texts are written at once."""
CONSONANTS, VOWELS, ENDS = "bcdfghjklmnpqrstvwxz", "aeiou", ("", "l", "n", "r", "s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Who is linked with whom: article d is about entity d."""

    document: Ints
    """Of each mention, ascending; each pair occurs once."""
    entity: Ints
    facts: Ints
    """Rows of (head, relation, tail), each once."""
    names: list[str]
    relations: int


def write_corpus(folder: Path, *, documents: int, links: int, facts: int, seed: int = 0) -> Corpus:
    """The four files of the layout ``wikidata``. ``links`` counts the articles' own; a few more or fewer facts than asked for are made."""
    rng = np.random.default_rng(seed)
    entities = int(documents * ENTITIES)
    document, entity = _mentions(documents, entities, links - documents, rng)
    corpus = Corpus(
        document=document, entity=entity, facts=_facts(document, entity, documents, entities, facts, rng), names=_names(entities, rng),
        relations=len(_sizes(RELATIONS, RELATIONS[0][-1])),
    )  # fmt: skip
    ids = pl.Series([f"Q{number}" for number in range(1, entities + 1)])
    blank = pl.Series([""]).extend_constant("", entities - 1)
    table = pl.DataFrame({"id": ids, "label": corpus.names, "aliases": blank, "description": blank})
    table.write_csv(folder / "entities.tsv", separator="\t", quote_style="never")
    relations = pl.DataFrame({"id": [f"P{number}" for number in range(corpus.relations)]})
    relations.with_columns(label="relation " + pl.col("id")).write_csv(folder / "relations.tsv", separator="\t", quote_style="never")
    head, relation, tail = corpus.facts.T
    triples = pl.DataFrame({"head": ids.gather(head), "relation": relations["id"].gather(relation), "tail": ids.gather(tail)})
    triples.write_csv(folder / "triples.tsv", separator="\t", quote_style="never", include_header=False)
    _write_texts(folder / "documents.jsonl", corpus, documents, rng)
    return corpus


def _sizes(measured: tuple[list[int], list[float]], count: int) -> npt.NDArray[np.float64]:
    """The share of all up to each of ``count`` ranks."""
    ranks, shares = measured
    place = np.log(np.arange(1, count + 1)) / np.log(max(count, 2))
    return np.asarray(np.interp(place, np.log(ranks) / np.log(ranks[-1]), shares))


def _draw(measured: tuple[list[int], list[float]], among: int, number: int, rng: np.random.Generator, salt: int) -> Ints:
    """``number`` of ``among`` things, frequent ones oftener; which ones are frequent depends on ``salt``."""
    shares = _sizes(measured, among)
    order = np.argsort(mixed(np.arange(among, dtype=np.uint64) + np.uint64(salt << 40)), kind="stable")
    return order[np.minimum(np.searchsorted(shares, rng.random(number)), among - 1)].astype(np.int64)


def _mentions(documents: int, entities: int, number: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Distinct (article, entity) pairs, as many as asked for, without the articles' own entities."""
    keys = np.zeros(0, np.int64)
    linked = int(entities * 0.64)  # the others have no mention
    size = np.cumsum(rng.gamma(1.8, 1.0, documents))  # some articles are long, most are short
    while len(keys) < number:
        drawn = int((number - len(keys)) * 1.1) + 16
        document = np.searchsorted(size, rng.random(drawn) * size[-1]).astype(np.int64)
        entity = _draw(LINKS, linked, drawn, rng, 1)
        keys = np.unique(np.concatenate([keys, (document << 32 | entity)[document != entity]]))
    keys = np.sort(rng.choice(keys, number, replace=False))
    return keys >> 32, keys & 0xFFFFFFFF


def _facts(document: Ints, entity: Ints, documents: int, entities: int, number: int, rng: np.random.Generator) -> Ints:
    """Facts of which a relation goes with the kind of its tail: each entity is the tail of two relations."""
    offsets = np.searchsorted(document, np.arange(documents + 1))
    drawn = int(number * (1 - COMPOSED) * SPARE)
    head = _draw(HEADS, int(documents * 0.4), drawn, rng, 2)
    tail = _draw(TAILS, int(entities * 0.15), drawn, rng, 1)
    choice = rng.random(drawn)
    for low, high, least in ((0.0, STATED, 1), (STATED, STATED + WALKED, 2)):
        rows = np.flatnonzero((choice >= low) & (choice < high))
        at = head[rows]
        for step in range(least + (1 if least > 1 else 0)):
            begin, end = offsets[np.minimum(at, documents - 1)], offsets[np.minimum(at, documents - 1) + 1]
            goes = (at < documents) & (end > begin) & ((step < 2) | (rng.random(len(at)) < 0.5))
            at = np.where(goes, entity[np.minimum(begin + (rng.random(len(at)) * (end - begin)).astype(np.int64), len(entity) - 1)], at)
        tail[rows] = at
    roles = _draw(RELATIONS, RELATIONS[0][-1], 2 * entities, rng, 3).reshape(2, entities)
    plain = np.stack([head, roles[rng.integers(0, 2, drawn), tail], tail], axis=1)
    composed = _composed(plain, entities, number - int(number * (1 - COMPOSED)), rng)
    rows = np.unique(np.concatenate([plain, composed]), axis=0)
    rows = rows[rows[:, 0] != rows[:, 2]]
    return np.asarray(rows[np.sort(rng.choice(len(rows), min(number, len(rows)), replace=False))])


def _composed(plain: Ints, entities: int, number: int, rng: np.random.Generator) -> Ints:
    """(x, r, y) from (x, q, z) and (z, r, y)."""
    ordered = plain[np.argsort(plain[:, 0], kind="stable")]
    offsets = np.searchsorted(ordered[:, 0], np.arange(entities + 1))
    first = ordered[np.flatnonzero(offsets[ordered[:, 2] + 1] > offsets[ordered[:, 2]])]
    first = first[rng.integers(0, len(first), int(number * SPARE))]
    begin, end = offsets[first[:, 2]], offsets[first[:, 2] + 1]
    second = ordered[begin + (rng.random(len(first)) * (end - begin)).astype(np.int64)]
    return np.stack([first[:, 0], second[:, 1], second[:, 2]], axis=1)


def _words(numbers: Ints) -> list[str]:
    """A word of three syllables for each number, the same for the same number; hardly any two of some millions are alike."""
    syllables = [consonant + vowel + end for consonant in CONSONANTS for vowel in VOWELS for end in ENDS]
    spread = mixed(numbers.astype(np.uint64))
    parts = [((spread >> np.uint64(shift)) % np.uint64(len(syllables))).tolist() for shift in (0, 20, 40)]
    return [syllables[a] + syllables[b] + syllables[c] for a, b, c in zip(*parts, strict=True)]


def _names(entities: int, rng: np.random.Generator) -> list[str]:
    """Names of one or more words with capitals; words of longer names are shared, as given names and family names are."""
    number = 1 + np.searchsorted(np.cumsum(NAME_WORDS), rng.random(entities) * sum(NAME_WORDS))
    stock = max(entities // 4, 1)
    shared = _words(np.arange(entities, entities + stock, dtype=np.int64))
    own = _words(np.arange(entities, dtype=np.int64))
    drawn = _draw(HEADS, stock, int(number.sum()), rng, 4)
    ends = np.cumsum(number).tolist()
    names = []
    for i, (end, count) in enumerate(zip(ends, number.tolist(), strict=True)):
        words = [own[i]] if count == 1 else [shared[k] for k in drawn[end - count : end].tolist()]
        names.append(" ".join(word.capitalize() for word in words))
    for i in np.flatnonzero(rng.random(entities) < SHARED).tolist():
        names[i] = names[int(rng.integers(entities))]
    return names


def _write_texts(path: Path, corpus: Corpus, documents: int, rng: np.random.Generator) -> None:
    """Articles: sentences of everyday words with small letters and one name or two each, the article's own name first."""
    stock = np.array(_words(np.arange(1 << 40, (1 << 40) + 20_000)))
    offsets = np.searchsorted(corpus.document, np.arange(documents + 1))
    names = np.array(corpus.names, dtype=object)
    with path.open("w", encoding="utf-8") as file:
        for low in range(0, documents, BLOCK):
            high = min(low + BLOCK, documents)
            again = 1 + (rng.random(offsets[high] - offsets[low]) < SEVERAL)
            first = offsets[low]
            fill = _draw(HEADS, len(stock), 6 * (int(again.sum()) + 2 * (high - low)), rng, 5)
            words, at = stock[fill].tolist(), 0
            for document in range(low, high):
                own = corpus.names[document]
                parts = [f"{own} {' '.join(words[at : at + 5])}."]
                at += 5
                for row in range(offsets[document], offsets[document + 1]):
                    for _ in range(int(again[row - first])):
                        parts.append(
                            f"{words[at].capitalize()} {' '.join(words[at + 1 : at + 4])} {names[corpus.entity[row]]} {words[at + 4]}."
                        )
                        at += 5
                record = {"id": f"d:{document}", "title": own, "entity": f"Q{document + 1}", "text": " ".join(parts)}
                file.write(json.dumps(record) + "\n")
