"""Which answers are named entities: by what is asked, by how the texts write them, and by what stands beside them (part of step S2)."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.letters import SMALL, written_at, written_table
from kgqa.arrays.rows import paired
from kgqa.arrays.texts import text_buffers
from kgqa.recipes.musique.mentions import find_names
from kgqa.recipes.musique.wording import ASKED
from kgqa.recipes.names.kinds import END, Kind, answer_kinds
from kgqa.records import Paragraph
from kgqa.settings.musique import PairSettings

AFTER_NAMES = END | {
    "had",
    "has",
    "have",
    "then",
    "also",
    "not",
    "would",
    "could",
    "did",
    "does",
    "after",
    "before",
    "until",
    "since",
    "when",
}
"""Words that follow a name and no adjective."""
MODIFIER_SHARE = 0.6
"""What stands before a noun in this share of its places, or what looks like one, is an adjective."""
_CAPITAL = re.compile(r"[^\W\d_]")
Bools = npt.NDArray[np.bool_]


def entity_answers(single_hop: pa.Table, paragraphs: pa.Table, settings: PairSettings) -> Bools:
    """For each question whether its answer is a named entity."""
    answers = single_hop["answer"].combine_chunks()
    written = _name_like(answers, paragraphs["text"], settings.capital_share)
    kinds = [kind == ASKED for kind in single_hop["kind"].to_pylist()]
    texts, titles = paragraphs["text"].to_pylist(), paragraphs["title"].to_pylist()
    own = single_hop["paragraph"].to_pylist()
    found = np.zeros(len(answers), np.bool_)
    for row, (answer, asked, question) in enumerate(zip(answers.to_pylist(), kinds, single_hop["question"].to_pylist(), strict=True)):
        capital = next((letter.group().isupper() for letter in _CAPITAL.finditer(answer)), False)
        if settings.capital_share and not (capital and written[row]):
            continue
        found[row] = not asked or _is_entity(answer_kinds(question, answer, [shown(titles[own[row]], texts[own[row]])]), answer)
    return found


def shown(title: str, text: str) -> Paragraph:
    """A paragraph of which only this is known."""
    return Paragraph(id="", title=title, text=text, supporting=None)


def _is_entity(kinds: list[Kind], answer: str) -> bool:
    """What figures, phrases and adjectives are not; a name of which nothing is known is one if it has no small content word."""
    if kinds:
        return kinds[0][0] not in {"figures", "phrase"}
    words = answer.split()
    return not any(word[0].isdigit() for word in words) and not any(word[0].islower() and len(word) > 3 for word in words)


def _name_like(names: pa.Array, texts: pa.ChunkedArray, capital_share: float) -> Bools:
    """For each name whether the texts write it as one: with a capital, and not before nouns, as an adjective ("the French army").

    Of the places that begin a text or a sentence the capital is not counted; names that stand nowhere else are taken for names.
    """
    places, group = find_names(names, texts.combine_chunks())
    size = int(group.max(initial=-1)) + 1
    if not size:
        return np.zeros(len(names), np.bool_)
    data, offsets = text_buffers(texts)
    last = len(data) - 1
    at = offsets[places.text] + places.start
    before = np.where(places.start > 1, data[np.maximum(at - 2, 0)], np.uint8(ord(".")))
    inner = ~np.isin(before, np.frombuffer(b'.?!:"', np.uint8))
    small = written_at(data, at, written_table()) == SMALL
    seen = np.bincount(places.name[inner], minlength=size)
    capital = np.bincount(places.name[inner & ~small], minlength=size)
    words, _ = find_names(pa.array(sorted(AFTER_NAMES)), texts.combine_chunks())
    ends = places.end + 1
    follows = (written_at(data, offsets[places.text] + ends, written_table()) == SMALL) & (
        data[np.minimum(ends - 1 + offsets[places.text], last)] == ord(" ")
    )
    known = np.isin(paired(places.text, ends), paired(words.text, words.start))
    every = np.bincount(places.name, minlength=size)
    modifies = np.bincount(places.name[follows & ~known], minlength=size)
    as_name = (seen == 0) | (capital >= capital_share * seen)
    as_noun = (every < 3) | (modifies < MODIFIER_SHARE * every)
    found: Bools = (group >= 0) & (as_name & as_noun)[np.maximum(group, 0)]
    return found
