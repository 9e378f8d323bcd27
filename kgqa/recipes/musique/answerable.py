"""Step S1 (Trivedi et al. 2022): keep the single-hop questions that a trained reader answers from their own paragraph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.progress import Progress, Within
from kgqa.readers.scores import answer_score
from kgqa.readers.trained import load_reader
from kgqa.recipes.musique.pool import REASONS, REFUSED
from kgqa.records import Instance, Paragraph
from kgqa.runs.funnel import FunnelRow
from kgqa.training.questions import of_list


def answerable(single_hop: pa.Table, paragraphs: pa.Table, readers: Sequence[str], progress: Progress) -> npt.NDArray[np.bool_]:
    """For each question, whether one of the trained ``readers`` (run folders) reaches an answer F1 above 0.

    A reader only sees the questions that the readers before it did not answer. Shape: questions. Memory: the questions and one reader.
    Raises InputError, SettingsError.
    """
    instances = list(_instances(single_hop, paragraphs))
    is_answered = np.zeros(len(instances), np.bool_)
    for number, run in enumerate(readers, start=1):
        reader = load_reader(run, what="musique.single_hop.readers")
        rows = np.flatnonzero(~is_answered).tolist()
        questions = [instances[row] for row in rows]
        answers = reader.predict(of_list(questions), Within(progress, f"single-hop questions, reader {number} of {len(readers)}"))
        is_answered[rows] = [answer_score(*pair) > 0 for pair in zip(questions, answers, strict=True)]
    return is_answered


def drop_unanswered(
    tables: Mapping[str, pa.Table], funnel: list[FunnelRow], readers: Sequence[str], progress: Progress
) -> tuple[pa.Table, pa.Table]:
    """``single_hop`` and ``refused_single_hop`` after the readers have answered; adds a row to ``funnel``."""
    single_hop, refused = tables["single_hop"], tables["refused_single_hop"]
    reason = REASONS["unread"]
    if not readers:
        funnel.append(
            FunnelRow(
                stage="single-hop", what="questions", reason="no trained reader was given that would have to answer them", removed=0,
                left=len(single_hop), setting="musique.single_hop.readers",
            )
        )  # fmt: skip
        return single_hop, refused
    is_answered = answerable(single_hop, tables["paragraphs"], readers, progress)
    unread = single_hop.filter(pa.array(~is_answered))
    names = [f"{source}/{name}" for source, name in zip(unread["source"].to_pylist(), unread["id"].to_pylist(), strict=True)]
    constants = [[""] * len(unread), ["single-hop"] * len(unread), [reason] * len(unread)]
    refusals = pa.table([pa.array(column, pa.string()) for column in (names, *constants, unread["question"].to_pylist())], schema=REFUSED)
    funnel.append(
        FunnelRow(
            stage="single-hop", what="questions", reason=reason, removed=len(unread), left=int(is_answered.sum()),
            setting="musique.single_hop.readers",
        )
    )  # fmt: skip
    return single_hop.filter(pa.array(is_answered)), pa.concat_tables([refused, refusals])


def _instances(single_hop: pa.Table, paragraphs: pa.Table) -> Iterator[Instance]:
    texts: list[dict[str, Any]] = paragraphs.to_pylist()
    names = ("id", "question", "answer", "aliases", "paragraph")
    for id_, question, answer, aliases, place in zip(*(single_hop[name].to_pylist() for name in names), strict=True):
        row = texts[place]
        yield Instance(
            id=id_, question=question, paragraphs=(Paragraph(id=row["id"], title=row["title"], text=row["text"], supporting=True),),
            answers=(answer, *aliases), answer_type="span", answerable=True, group=id_, provenance=None,
        )  # fmt: skip
