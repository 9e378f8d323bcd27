"""Source files of any size with the shape of an encyclopedia and its facts, for a whole run of ``kgqa generate``; the same for the same
seed.

The distributions are those measured on 134,429 articles of Wikipedia with Wikidata and Freebase facts: words in a name, and which share of
all links, heads, relations and tails the most frequent ones take, by rank. A rank counts on a logarithmic scale between the first and the
last, so that the most frequent entity has the same share of a larger corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from kgqa.arrays.hashes import mixed
from kgqa.arrays.rows import find

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
SAID, FORMS = 0.8, 4
"""The share of stated facts whose sentences have words that go with the relation, and in how many forms each relation is said."""
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
    """Articles: sentences of everyday words with small letters and one name or two each, the article's own name first.

    What names the tail of a fact about the article's subject mostly says so, in words that go with the relation.
    """
    stock = pl.Series(_words(np.arange(1 << 40, (1 << 40) + 20_000)))
    offsets = np.searchsorted(corpus.document, np.arange(documents + 1))
    names, relation = pl.Series(corpus.names), _relation_of(corpus)
    relation[rng.random(len(relation)) >= SAID] = -1
    with path.open("wb") as file:
        for low in range(0, documents, BLOCK):
            high = min(low + BLOCK, documents)
            mentions = slice(offsets[low], offsets[high])
            again = 1 + (rng.random(mentions.stop - mentions.start) < SEVERAL)
            sentences = np.bincount(np.repeat(corpus.document[mentions] - low, again), minlength=high - low)
            number = int((1 + sentences).sum())
            words = _draw(HEADS, len(stock), 5 * number, rng, 5).reshape(number, 5)
            others = np.ones(number, np.bool_)  # than the first sentence of an article
            others[np.cumsum(1 + sentences) - (1 + sentences)] = False
            stated = np.full(number, -1)
            stated[others] = np.repeat(relation[mentions], again)
            says = np.flatnonzero(stated >= 0)
            form = rng.integers(0, FORMS, len(says))
            for place in range(1, 4):
                said = mixed((3 * (FORMS * stated[says] + form) + place).astype(np.uint64))
                words[says, place] = (said % np.uint64(len(stock))).astype(np.int64)
            named = np.empty(number, np.int64)
            named[others], named[~others] = np.repeat(corpus.entity[mentions], again), np.arange(low, high)
            table = pl.DataFrame({f"w{place}": stock.gather(words[:, place]) for place in range(5)})
            table = table.with_columns(document=np.repeat(np.arange(low, high), 1 + sentences), name=names.gather(named))
            capital = pl.col("w0").str.slice(0, 1).str.to_uppercase() + pl.col("w0").str.slice(1)
            first = pl.format("{} {} {} {} {} {}.", "name", *(f"w{place}" for place in range(5)))
            further = pl.format("{} {} {} {} {} {}.", capital, "w1", "w2", "w3", "name", "w4")
            sentence = pl.when(pl.Series(others)).then(further).otherwise(first)
            texts = table.select("document", text=sentence).group_by("document", maintain_order=True).agg(pl.col("text").str.join(" "))
            of = pl.col("document")
            texts.select(
                id=pl.format("d:{}", of), title=names.gather(np.arange(low, high)), entity=pl.format("Q{}", of + 1), text="text"
            ).write_ndjson(file)


def _relation_of(corpus: Corpus) -> Ints:
    """For each mention the relation of a fact that joins the article's subject to the entity, or -1."""
    known = (corpus.facts[:, 0] << 32) | corpus.facts[:, 2]
    order = np.argsort(known, kind="stable")
    at = find(known[order], (corpus.document << 32) | corpus.entity)
    return np.where(at >= 0, corpus.facts[order[at], 1], -1)
