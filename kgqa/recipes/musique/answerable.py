"""Which single-hop questions a trained reader answers from their own paragraph (the rest of step S1)."""

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
    """For each question whether one of the trained ``readers`` (folders of their runs) reaches an F1 above 0; each is asked the rest.

    Raises InputError, SettingsError. Memory: the questions, and one reader.
    """
    asked = list(_instances(single_hop, paragraphs))
    found = np.zeros(len(asked), np.bool_)
    for number, run in enumerate(readers, start=1):
        reader = load_reader(run, what="musique.single_hop.readers")
        rest = np.flatnonzero(~found).tolist()
        questions = [asked[row] for row in rest]
        answers = reader.predict(of_list(questions), Within(progress, f"single-hop questions, reader {number} of {len(readers)}"))
        found[rest] = [answer_score(*pair) > 0 for pair in zip(questions, answers, strict=True)]
    return found


def without_unread(
    tables: Mapping[str, pa.Table], funnel: list[FunnelRow], readers: Sequence[str], progress: Progress
) -> tuple[pa.Table, pa.Table]:
    """``single_hop`` and ``refused_single_hop`` after the readers; what they take is added to the ``funnel``."""
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
    found = answerable(single_hop, tables["paragraphs"], readers, progress)
    lost = single_hop.filter(pa.array(~found))
    names = [f"{source}/{name}" for source, name in zip(lost["source"].to_pylist(), lost["id"].to_pylist(), strict=True)]
    same = [[""] * len(lost), ["single-hop"] * len(lost), [reason] * len(lost)]
    more = pa.table([pa.array(column, pa.string()) for column in (names, *same, lost["question"].to_pylist())], schema=REFUSED)
    funnel.append(
        FunnelRow(
            stage="single-hop", what="questions", reason=reason, removed=len(lost), left=int(found.sum()),
            setting="musique.single_hop.readers",
        )
    )  # fmt: skip
    return single_hop.filter(pa.array(found)), pa.concat_tables([refused, more])


def _instances(single_hop: pa.Table, paragraphs: pa.Table) -> Iterator[Instance]:
    texts: list[dict[str, Any]] = paragraphs.to_pylist()
    names = ("id", "question", "answer", "aliases", "paragraph")
    for id_, question, answer, aliases, place in zip(*(single_hop[name].to_pylist() for name in names), strict=True):
        shown = texts[place]
        yield Instance(
            id=id_, question=question, paragraphs=(Paragraph(id=shown["id"], title=shown["title"], text=shown["text"], supporting=True),),
            answers=(answer, *aliases), answer_type="span", answerable=True, group=id_, provenance=None,
        )  # fmt: skip
