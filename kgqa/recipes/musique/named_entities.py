"""Step S2 (Trivedi et al. 2022): tell named entities among the answers by the question, the spelling in texts, and the context."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.letter_case import SMALL, case_table, cases_at
from kgqa.arrays.rows import paired
from kgqa.arrays.texts import text_buffers
from kgqa.recipes.musique.mentions import find_names
from kgqa.recipes.musique.wording import ASKED
from kgqa.recipes.names.english import are_english
from kgqa.recipes.names.kinds import ADJECTIVE, END, NUMBERS, Kind, answer_kinds
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
"""Words that follow a name but no adjective."""
MODIFIER_SHARE = 0.6
"""A name that precedes a noun in this share of its places counts as an adjective."""
_CAPITAL_FIRST = r"^[^\p{L}\p{No}\p{Nl}]*[\p{Lu}\p{Lo}\x{2160}-\x{216F}]"
"""A pattern: the first letter is a capital, or of a script without case, or a Roman numeral sign."""
LOOK = 1000
"""Number of texts that are checked for being English."""
_FIGURE = rf"[\p{{Nd}}\p{{No}}]|(?i:(?:^|\W)(?:{'|'.join(sorted(NUMBERS))})(?:\W|$))"
"""A pattern: a digit, or a number word."""
_SMALL_WORD = r"(?:^|[^\p{L}\p{N}_])[\p{Ll}\p{Lo}\p{Lm}\p{Nl}\p{So}]|\p{M}|^[^\p{L}\p{N}_]*$"
"""A pattern: a word that begins in lower case, or may do so; or no word at all."""
Bools = npt.NDArray[np.bool_]


def entity_answers(single_hop: pa.Table, paragraphs: pa.Table, settings: PairSettings) -> Bools:
    """For each question whether its answer is a named entity."""
    answers = single_hop["answer"].combine_chunks()
    flags: Bools = np.ones(len(answers), np.bool_)
    if settings.capital_share:
        as_names = _name_like(answers, paragraphs["text"], settings.capital_share)
        flags = pc.match_substring_regex(answers, _CAPITAL_FIRST).to_numpy(zero_copy_only=False) & as_names
    is_asked = pc.equal(single_hop["kind"], ASKED).to_numpy()
    # A question from the graph without an entity asks for a date or quantity.
    flags &= is_asked | single_hop["answer_entity"].is_valid().to_numpy()
    is_asked &= flags
    # An answer without figures, small words or adjectives is a name, whatever its question; only the others need a closer look.
    unsure = np.flatnonzero(is_asked)[_may_be_no_name(answers.filter(pa.array(is_asked)))]
    table = single_hop.select(["question", "answer", "paragraph"]).take(pa.array(unsure))
    own_paragraphs = paragraphs.select(["title", "text"]).take(table["paragraph"])
    columns = [*(table[name].to_pylist() for name in ("question", "answer")), *(column.to_pylist() for column in own_paragraphs.columns)]
    for row, question, answer, title, text in zip(unsure.tolist(), *columns, strict=True):
        flags[row] = _is_entity(answer_kinds(question, answer, [paragraph_of(title, text)]), answer)
    return flags


def _may_be_no_name(answers: pa.Array) -> Bools:
    """Mask of answers that look like a figure, a phrase or an adjective; :func:`_is_entity` accepts all others."""
    faults = (_FIGURE, _SMALL_WORD, ADJECTIVE.pattern.join("^$"))
    return np.any([pc.match_substring_regex(answers, fault).to_numpy(zero_copy_only=False) for fault in faults], axis=0)


def paragraph_of(title: str, text: str) -> Paragraph:
    """A paragraph with this title and text only."""
    return Paragraph(id="", title=title, text=text, supporting=None)


def _is_entity(kinds: list[Kind], answer: str) -> bool:
    """Whether an answer of these kinds is a named entity: no figure, phrase or adjective.

    An answer of unknown kind counts as one if it has no lower-case content word and no figure.
    """
    if kinds:
        return kinds[0][0] not in {"figures", "phrase"}
    words = answer.split()
    return not any(word[0].isdigit() for word in words) and not any(word[0].islower() and len(word) > 3 for word in words)


def _name_like(names: pa.Array, texts: pa.ChunkedArray, capital_share: float) -> Bools:
    """For each name, whether the texts write it as a name: with a capital, and not before nouns as an adjective ("the French army").

    A capital at the start of a text or sentence does not count; a name without other places is taken for a name. The words that follow a
    name but no adjective are known for English only, so in other languages no name counts as an adjective.
    """
    places, group = find_names(names, texts.combine_chunks())
    size = int(group.max(initial=-1)) + 1
    if not size:
        return np.zeros(len(names), np.bool_)
    data, offsets = text_buffers(texts)
    last_place = len(data) - 1
    at = offsets[places.text] + places.start
    previous_byte = np.where(places.start > 1, data[np.maximum(at - 2, 0)], np.uint8(ord(".")))
    inner = ~np.isin(previous_byte, np.frombuffer(b'.?!:"', np.uint8))
    is_lower = cases_at(data, at, case_table()) == SMALL
    inner_count = np.bincount(places.name[inner], minlength=size)
    capital = np.bincount(places.name[inner & ~is_lower], minlength=size)
    words, _ = find_names(pa.array(sorted(AFTER_NAMES)), texts.combine_chunks())
    ends = places.end + 1
    follows = (cases_at(data, offsets[places.text] + ends, case_table()) == SMALL) & (
        data[np.minimum(ends - 1 + offsets[places.text], last_place)] == ord(" ")
    )
    has_next = np.isin(paired(places.text, ends), paired(words.text, words.start))
    totals = np.bincount(places.name, minlength=size)
    modifies = np.bincount(places.name[follows & ~has_next], minlength=size)
    as_name = (inner_count == 0) | (capital >= capital_share * inner_count)
    english = are_english(texts.take(np.unique(np.linspace(0, len(texts) - 1, LOOK).astype(np.int64))).to_pylist())
    as_noun = (totals < 3) | (modifies < MODIFIER_SHARE * totals) | (not english)
    return (group >= 0) & (as_name & as_noun)[np.maximum(group, 0)]
