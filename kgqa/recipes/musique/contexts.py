"""Step S6 (Trivedi et al. 2022): contexts: the question's own paragraphs among distractors from the same pool.

BM25 retrieves distractors with the single-hop questions, without the intermediate answers. Paragraphs that name a bridge or rival the
answer come first (``rivals.py``). All distractors support good single-hop questions, so that nothing sets the supporting ones apart. No
distractor states the answer to a hop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import MIX, mixed
from kgqa.arrays.kernel import kernel
from kgqa.arrays.parallel import Engine
from kgqa.arrays.rows import Adjacency
from kgqa.arrays.search import meet
from kgqa.recipes.musique.heads_and_tails import answer_names
from kgqa.recipes.musique.mentions import everywhere, find_names
from kgqa.retrieval.bm25 import Bm25
from kgqa.sources.tables import arrow, frame

FIRST, MORE = 64, 1024
"""Paragraphs to retrieve per question, first and where too few of these fit."""
RANDOM = 4096
"""Random paragraphs to try where too few share a word with the question."""
Rows2 = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Stating:
    """Finds the paragraphs that answer a question: they name its answer and its subject.

    The subject: the entities that the question was made from, the answers of other questions that it names, or the title of its own
    paragraph.
    """

    mentions: Adjacency
    """Paragraph → groups of the names in it."""
    answers: Adjacency
    """Question → groups of its answer's names."""
    subjects: Adjacency
    """Question → groups of its subjects' names."""
    title: npt.NDArray[np.int32]
    """Paragraph → a number for its title."""
    paragraph: npt.NDArray[np.int32]
    """Question → its paragraph."""
    text: npt.NDArray[np.int32]
    """Paragraph → a number for the letters and digits of its text; copies with other punctuation share it."""

    @classmethod
    def of(cls, single_hop: pa.Table, paragraphs: pa.Table) -> Stating:
        """Find the names of all answers and entities in all paragraphs and questions. O(bytes)."""
        answers, owners = answer_names(single_hop)
        entities, entity_owners = _subject_names(single_hop)
        names = pa.concat_arrays([answers, entities])
        places, groups = find_names(names, pa.array(shown_texts(paragraphs), pa.large_string()))
        question_mentions, asked_groups = find_names(names, single_hop["question"].combine_chunks())
        assert (groups == asked_groups).all()
        of_answers, of_entities = groups[: len(answers)], groups[len(answers) :]
        answer_rows = Adjacency.from_pairs(owners[of_answers >= 0], of_answers[of_answers >= 0], len(single_hop))
        about = np.concatenate([entity_owners[of_entities >= 0], question_mentions.text])
        subjects = Adjacency.from_pairs(about, np.concatenate([of_entities[of_entities >= 0], question_mentions.name]), len(single_hop))
        title = frame(paragraphs)["title"].rank("dense").to_numpy().astype(np.int32)
        paragraph = single_hop["paragraph"].to_numpy()
        plain_text = pl.col("text").str.to_lowercase().str.replace_all(r"[^\p{L}\p{M}\p{N}]+", " ").str.strip_chars()
        text = frame(paragraphs).select(plain_text.rank("dense")).to_series().to_numpy().astype(np.int32)
        return cls(Adjacency.from_pairs(places.text, places.name, len(paragraphs)), answer_rows, subjects, title, paragraph, text)

    def silent(self, rows: Rows2, hops: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """For each of ``rows``, whether the paragraph answers none of the questions ``hops``, and so may be a distractor."""
        return _silent(rows, hops, *self.arrays()[:-1])

    def arrays(self) -> tuple[npt.NDArray[np.integer], ...]:
        """The arrays of the index in the order of the kernels' parameters."""
        rows = (self.mentions, self.answers, self.subjects)
        return (*(array for adjacency in rows for array in (adjacency.offsets, adjacency.targets)), self.title, self.paragraph, self.text)


def _subject_names(single_hop: pa.Table) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """All names of the entities behind each question, and the question's row for each."""
    pool = frame(single_hop.select(["names", "called"])).with_row_index("row")
    subject_names = pl.concat([pool.select("row", name=names).explode("name").drop_nulls() for names in ("names", "called")])
    # Texts may use another article, or none ("the Central African Republic").
    short_names = subject_names.filter(pl.col("name").str.contains("^[Tt]he .")).with_columns(pl.col("name").str.slice(len("the ")))
    table = pl.concat([subject_names, short_names])
    return arrow(table.select("name"))["name"].combine_chunks(), table["row"].to_numpy().astype(np.int64)


def masked_texts(single_hop: pa.Table, pairs: pa.Table, hops: Rows2, edges: Rows2) -> list[str]:
    """For each chain its questions in one text, without the names of the bridges."""
    questions = single_hop["question"].to_pylist()
    tail, start, end = (pairs[name].to_pylist() for name in ("tail", "start", "end"))
    texts = []
    for rows, pair_rows in zip(hops.tolist(), edges.tolist(), strict=True):
        cuts: dict[int, list[tuple[int, int]]] = {}
        for edge in pair_rows:
            if edge >= 0:
                cuts.setdefault(tail[edge], []).extend(same_name(questions[tail[edge]], start[edge], end[edge]))
        texts.append(" ".join(without(questions[row], cuts.get(row, [])) for row in rows if row >= 0))
    return texts


def same_name(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """All places (start, end) of the words at one place, in any case; in characters."""
    lower_text = text.lower()
    places = everywhere(lower_text, lower_text[start:end]) if len(lower_text) == len(text) else everywhere(text, text[start:end])
    return sorted({(start, end), *places})


def without(text: str, places: list[tuple[int, int]], replacement: str = "") -> str:
    """``text`` with ``replacement`` in these places."""
    for begin, end in sorted(set(places), reverse=True):
        text = text[:begin] + replacement + text[end:]
    return text


def build_contexts(
    queries: list[str],
    hops: Rows2,
    single_hop: pa.Table,
    paragraphs: pa.Table,
    *,
    count: int,
    seed: int,
    ids: npt.NDArray[np.uint64],
    engine: Engine | None = None,
    index: Bm25 | None = None,
    stating: Stating | None = None,
    among: Rows2 | None = None,
    required: Rows2 | None = None,
    first: Rows2 | None = None,
    often: Rows2 | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Rows2:
    """For each question ``count`` different rows of ``paragraphs`` in random order, its ``hops``' own among them; -1 if too few fit.

    ``hops``: questions × hops, rows of ``single_hop``, -1 behind the last hop. ``ids``: seeds of the random choices. ``among``: rows that
    may be distractors (default: all); ``index`` holds their texts. ``required`` and ``first``: questions × rows that come before the
    retrieved ones, padded with -1. ``often``: how many more times each row may be a distractor; the call decrements it. Required rows are
    exempt.
    """
    rows = np.arange(len(paragraphs), dtype=np.int32) if among is None else among.astype(np.int32)
    index = index or Bm25(pa.chunked_array([pa.array(shown_texts(paragraphs.take(pa.array(rows))), pa.large_string())]))
    stating = stating or Stating.of(single_hop, paragraphs)
    words = index.queries(pa.array(queries, pa.large_string()))
    contexts = np.full((len(queries), count), -1, np.int32)
    no_rows = np.full((len(queries), 0), -1, np.int32)
    required, first = no_rows if required is None else required, no_rows if first is None else first
    uses_left = np.full(len(paragraphs), np.iinfo(np.int32).max, np.int32) if often is None else often
    pending_rows = np.arange(len(queries))
    # A short list of candidates fills most contexts; only the others search for more, and at last add random paragraphs.
    for max_candidates, random_count in ((FIRST, 0), (MORE, 0), (MORE, RANDOM)):
        if not len(pending_rows):
            break
        candidates, _ = index.search(
            words.take(pending_rows),
            min(max(max_candidates, 4 * count), max(1, index.count)),
            engine=engine,
            advance=advance if max_candidates == FIRST else lambda _: None,
        )
        candidates = np.where(candidates < 0, -1, rows[np.maximum(candidates, 0)])
        candidates = np.concatenate([required[pending_rows], first[pending_rows], candidates], axis=1).astype(np.int32)
        contexts[pending_rows] = _filled(
            candidates,
            required.shape[1],
            hops[pending_rows],
            count,
            ids[pending_rows],
            random_count,
            rows,
            uses_left,
            len(paragraphs),
            np.uint64(seed),
            *stating.arrays(),
        )
        pending_rows = pending_rows[contexts[pending_rows, -1] < 0]
    order = shuffling(np.repeat(ids, count), contexts.ravel(), purpose="paragraphs shown", seed=seed).reshape(contexts.shape)
    return np.take_along_axis(contexts, np.argsort(order, axis=1, kind="stable"), axis=1)


def shown_texts(paragraphs: pa.Table) -> list[str]:
    """Title and text of each paragraph, as a reader sees them."""
    return [f"{title}\n{text}" for title, text in zip(paragraphs["title"].to_pylist(), paragraphs["text"].to_pylist(), strict=True)]


@kernel
def _states(row, question, mention_offsets, mentions, answer_offsets, answers, subject_offsets, subjects, title, paragraph):  # type: ignore[no-untyped-def]
    if not meet(mention_offsets, mentions, row, answer_offsets, answers, question):
        return False
    return title[row] == title[paragraph[question]] or meet(mention_offsets, mentions, row, subject_offsets, subjects, question)


@kernel
def _silent(rows, hops, mention_offsets, mentions, answer_offsets, answers, subject_offsets, subjects, title, paragraph):  # type: ignore[no-untyped-def]
    out = np.ones(len(rows), np.bool_)
    for i in range(len(rows)):
        for k in range(len(hops)):
            if _states(rows[i], hops[k], mention_offsets, mentions, answer_offsets, answers, subject_offsets, subjects, title, paragraph):
                out[i] = False
    return out


@kernel
def _filled(  # type: ignore[no-untyped-def]  # noqa: PLR0912
    candidates, required, hops, count, ids, random_count, among, uses_left, total, seed,
    mention_offsets, mentions, answer_offsets, answers, subject_offsets, subjects, title, paragraph, text,
):  # fmt: skip
    """Fill each context: the question's own paragraphs, the ``candidates``, then ``random_count`` random rows of ``among``.

    No text comes twice. ``uses_left`` limits the uses of each row as a distractor; the first ``required`` candidates are exempt. A question
    with two copies of one text among its own paragraphs gets no context (-1 in the last column).
    """
    out = np.full((len(hops), count), -1, np.int32)
    last_user = np.full(total + 1, -1, np.int32)  # text number (from 1) → last question that used it
    for i in range(len(hops)):
        fill_count = 0
        copies = False
        for k in range(hops.shape[1]):
            if hops[i, k] >= 0:
                row = paragraph[hops[i, k]]
                if last_user[text[row]] != i and fill_count < count:
                    last_user[text[row]] = i
                    out[i, fill_count] = row
                    fill_count += 1
                elif not (out[i, :fill_count] == row).any():
                    copies = True
        if copies:
            out[i, count - 1] = -1
            continue
        # Then distractors: the candidates in order, and at the end random rows from a stream seeded by the question's id.
        supports = fill_count
        state = mixed(ids[i] ^ seed)
        for place in range(candidates.shape[1] + random_count):
            if fill_count == count:
                break
            if place < candidates.shape[1]:
                row = np.int64(candidates[i, place])
                if row < 0:
                    continue
            else:
                state = mixed(state + MIX)
                row = np.int64(among[np.int64(state % np.uint64(len(among)))])
            if last_user[text[row]] == i or (place >= required and uses_left[row] <= 0):
                continue
            states = False
            for k in range(hops.shape[1]):
                if hops[i, k] >= 0 and _states(
                    row, hops[i, k], mention_offsets, mentions, answer_offsets, answers, subject_offsets, subjects, title, paragraph
                ):
                    states = True
                    break
            if states:
                continue
            last_user[text[row]] = i
            out[i, fill_count] = row
            fill_count += 1
        if fill_count < count:
            out[i, count - 1] = -1
            continue
        for place in range(supports, count):
            uses_left[out[i, place]] -= 1
    return out
