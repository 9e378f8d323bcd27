"""Rows → tensors; a word that is in a batch often is in it once, with a number for each of its places."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from kgqa.readers.recurrent.superdocument import ABSENT
from kgqa.readers.recurrent.vocabulary import UNKNOWN, Vocabulary

Ragged = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""All values behind each other, and how many each row has."""


def collate(examples: pa.Table, vocabulary: Vocabulary) -> Mapping[str, torch.Tensor]:
    """The batch that networks read; B rows, T and Q tokens of text and question at most, U different words.

    ``words`` (U) and ``letters`` (U × letters) are numbers in the vocabulary; ``context`` (B × T) and ``question`` (B × Q) numbers of
    rows of ``words``, of which the first is padding, as are ``lengths`` and ``question_lengths`` (B). ``place``, ``shared`` (B × T) as
    encoded. Mentions, spans and marks of all rows stand behind each other, with ``*_row`` saying whose they are. All int64 but ``shared``.
    """
    columns = {name: _ragged(examples, name) for name in _lists(examples)}
    words, letters, numbers = _words(examples, columns, vocabulary)
    context, question = (_renumbered(columns[name], numbers) for name in ("context", "question"))
    batch = {
        "words": words,
        "letters": letters,
        "context": _padded(*context, filler=0),
        "question": _padded(*question, filler=0),
        "place": _padded(*columns["place"], filler=ABSENT),
        "shared": _padded(*columns["shared"], filler=0).astype(np.float32),
        "lengths": context[1],
        "question_lengths": question[1],
    }
    for group, parts in _GROUPS.items():
        counts = columns[f"{group}_{parts[0]}"][1]
        batch[f"{group}_row"] = np.repeat(np.arange(len(counts)), counts)
        batch |= {f"{group}_{part}": columns[f"{group}_{part}"][0] for part in parts}
    batch |= {name: examples.column(name).to_numpy().astype(np.int64) for name in ("candidates", "gold", "sufficiency")}
    return {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in batch.items()}


_GROUPS = {
    "mention": ("candidate", "start", "end"),
    "span": ("start", "end"),
    "paragraph": ("at", "label"),
    "sentence": ("at", "label"),
}


def _lists(examples: pa.Table) -> list[str]:
    return [field.name for field in examples.schema if pa.types.is_list(field.type) and pa.types.is_integer(field.type.value_type)]


def _ragged(examples: pa.Table, name: str) -> Ragged:
    column = examples.column(name).combine_chunks()
    column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    offsets = column.offsets.to_numpy()
    return column.flatten().to_numpy().astype(np.int64), np.diff(offsets).astype(np.int64)


def _words(
    examples: pa.Table, columns: Mapping[str, Ragged], vocabulary: Vocabulary
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[npt.NDArray[np.int64]]]:
    """The different words of a batch, their letters, and for each row: word → place among them; padding is the first."""
    unknown = examples.column("unknown").to_pylist()
    numbers: dict[str, int] = {}
    for forms in unknown:
        for form in forms:
            numbers.setdefault(form, len(vocabulary) + len(numbers))
    used = np.zeros(len(vocabulary) + len(numbers), np.bool_)
    used[0] = True
    used[len(vocabulary) :] = True
    for name in ("context", "question"):
        values = columns[name][0]
        used[values[values < len(vocabulary)]] = True
    places = np.cumsum(used) - 1
    found = np.flatnonzero(used)
    known = found[found < len(vocabulary)]
    letters = np.concatenate([vocabulary.spellings[known], vocabulary.spelt(list(numbers))])
    words = np.where(found < len(vocabulary), found, UNKNOWN)
    rows = [
        np.concatenate([places[: len(vocabulary)], places[[numbers[form] for form in forms]]]) if forms else places for forms in unknown
    ]
    return words, letters, rows


def _renumbered(column: Ragged, numbers: list[npt.NDArray[np.int64]]) -> Ragged:
    values, counts = column
    parts = np.split(values, np.cumsum(counts)[:-1])
    return np.concatenate([row[part] for row, part in zip(numbers, parts, strict=True)]), counts


def _padded(values: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], *, filler: int) -> npt.NDArray[np.int64]:
    """A row for each count, as long as the largest one."""
    padded = np.full((len(counts), int(counts.max())), filler, np.int64)
    padded[np.arange(padded.shape[1]) < counts[:, None]] = values
    return padded
