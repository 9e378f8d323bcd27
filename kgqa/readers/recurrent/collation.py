"""Encoded rows → tensors; each distinct word of a batch occurs once, and texts refer to it by number."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from kgqa.readers.recurrent.embeddings import Table
from kgqa.readers.recurrent.encoding import LISTS
from kgqa.readers.recurrent.superdocument import ABSENT
from kgqa.readers.recurrent.vocabulary import UNKNOWN, Vocabulary
from kgqa.readers.transformer.examples import ragged_values

Ragged = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""The concatenated values, and the length of each row."""


def collate(examples: pa.Table, vocabulary: Vocabulary, table: Table | None = None) -> Mapping[str, torch.Tensor]:
    """The batch of a network: B rows, at most T text tokens and Q question tokens, U distinct words. All int64, but ``shared`` and
    ``unseen``, which are float32.

    - ``words`` (U), ``letters`` (U × LETTERS): numbers in the vocabulary; row 0 is padding.
    - ``unseen`` (N × width): pretrained vectors of the last N words, those that are not in the vocabulary; width 0 without a ``table``.
    - ``context`` (B × T), ``question`` (B × Q): row numbers of ``words``; ``lengths``, ``question_lengths`` (B).
    - ``token_paragraph``, ``shared`` (B × T): as encoded (``encoding.LISTS``).
    - ``candidates``, ``gold``, ``sufficiency`` (B): as encoded.
    - ``mention_*``, ``span_*``, ``paragraph_*``, ``sentence_*``: those of all rows, concatenated; ``*_row`` is the row of each.
    """
    columns = {name: ragged_values(examples, name) for name in LISTS}
    words, letters, unseen, numbers = _words(examples, columns, vocabulary, table)
    context, question = (_renumber(columns[name], numbers) for name in ("context", "question"))
    batch = {
        "words": words,
        "letters": letters,
        "unseen": unseen,
        "context": _pad(*context, filler=0),
        "question": _pad(*question, filler=0),
        "token_paragraph": _pad(*columns["token_paragraph"], filler=ABSENT),
        "shared": _pad(*columns["shared"], filler=0).astype(np.float32),
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


def _words(
    examples: pa.Table, columns: Mapping[str, Ragged], vocabulary: Vocabulary, table: Table | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float32], list[npt.NDArray[np.int64]]]:
    """The distinct words of a batch, their letters, vectors of the unknown ones, and for each row: word → its index; padding is first."""
    unknown_forms = examples.column("unknown").to_pylist()
    numbers: dict[str, int] = {}
    table_rows: list[list[int]] = []
    for forms, rows_of_forms in zip(unknown_forms, examples.column("unknown_rows").to_pylist(), strict=True):
        for form, rows_of_form in zip(forms, rows_of_forms, strict=True):
            if form not in numbers:
                numbers[form] = len(vocabulary) + len(numbers)
                table_rows.append(rows_of_form)
    is_used = np.zeros(len(vocabulary) + len(numbers), np.bool_)
    is_used[0] = True
    is_used[len(vocabulary) :] = True
    for name in ("context", "question"):
        values = columns[name][0]
        is_used[values[values < len(vocabulary)]] = True
    places = np.cumsum(is_used) - 1
    used_numbers = np.flatnonzero(is_used)
    known_numbers = used_numbers[used_numbers < len(vocabulary)]
    letters = np.concatenate([vocabulary.spellings[known_numbers], vocabulary.spell(list(numbers))])
    unseen = np.zeros((len(numbers), 0), np.float32) if table is None else table.vectors(table_rows)
    words = np.where(used_numbers < len(vocabulary), used_numbers, UNKNOWN)
    rows = [
        np.concatenate([places[: len(vocabulary)], places[[numbers[form] for form in forms]]]) if forms else places
        for forms in unknown_forms
    ]
    return words, letters, unseen, rows


def _renumber(column: Ragged, numbers: list[npt.NDArray[np.int64]]) -> Ragged:
    values, counts = column
    parts = np.split(values, np.cumsum(counts)[:-1])
    return np.concatenate([row[part] for row, part in zip(numbers, parts, strict=True)]), counts


def _pad(values: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], *, filler: int) -> npt.NDArray[np.int64]:
    """One row per count, padded to the longest."""
    rows = np.full((len(counts), int(counts.max())), filler, np.int64)
    rows[np.arange(rows.shape[1]) < counts[:, None]] = values
    return rows
