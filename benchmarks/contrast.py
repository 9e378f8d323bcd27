"""How fast a question set is transformed: each contrast on synthetic questions with twenty paragraphs, in memory and with writing.

One core does all of it, so its own time is taken, which other programs on the machine do not lengthen.

``python -m benchmarks.contrast``
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq

from benchmarks.measure import Section, Table, spread
from kgqa.commands.contrast import contrast
from kgqa.formats import native
from kgqa.formats.columns import SCHEMA, table_of
from kgqa.formats.native import PARQUET
from kgqa.recipes.contrasts.transforms import KINDS, Settings
from kgqa.records import Instance, Paragraph, Step
from kgqa.runs.funnel import Rejection

MADE = tuple(kind for kind in KINDS if kind != "document-removal")
"""The synthetic questions have no candidates, of which that one tells what to remove."""
TITLE = "Contrast: question sets transformed"
ROUNDS, QUESTIONS, WHOLE = 3, 20_000, 2_000
PARAGRAPHS, WORDS, PAGES = 20, 80, 30_000
"""Of a question, of a paragraph, and different ones in the set."""
NOUNS = ("novelist", "painter", "engineer", "film", "river", "castle", "band", "journal")
SEED = 13


def main(*, rounds: int = ROUNDS, questions: int = QUESTIONS, whole: int = WHOLE) -> Section:
    """Measure every kind, with two and with four supporting facts where these differ."""
    tables = [in_memory(questions, rounds=rounds), whole_command(whole)]
    return Section(title=TITLE, tables=tables)


def in_memory(questions: int, *, rounds: int) -> Table:
    """The transforms alone, one core, and what writing their instances adds."""
    rows = []
    for facts in (2, 4):
        instances = list(synthetic(questions, facts=facts))
        for kind in MADE:
            settings = Settings(kind=kind, seed=SEED)
            begin = time.process_time()
            make = settings.maker(lambda found=instances: iter(found))  # type: ignore[misc]
            looking = time.process_time() - begin
            speeds, made = [], 0
            for _ in range(rounds):
                begin, made = time.process_time(), 0
                for instance in instances:
                    made += count(make(instance))
                speeds.append(made / (time.process_time() - begin))
            written = written_per_second(instances[: questions // 4], settings)
            rows.append((kind, str(facts), f"{made / len(instances):.2f}", spread(speeds, 0), f"{written:,.0f}", f"{looking:.1f}"))
    return Table(
        title="Instances a second of one core",
        columns=("contrast", "supporting facts", "instances a question", "in memory", "and written", "seconds to analyse the set first"),
        rows=rows,
        notes=[
            f"{questions:,} questions of {PARAGRAPHS} paragraphs with about {WORDS} words; {rounds} rounds, median and range. In memory: "
            "from Instances to Instances, which share texts. Written: also into a Parquet file, for a quarter of the questions.",
            "For each instance, adversarial finds a link and eight names of two kinds and makes four new paragraphs; unanswerable looks "
            "for a step's answer in all twenty. The length of the texts limits these two; the number of paragraphs limits the others.",
        ],
    )


def whole_command(questions: int) -> Table:
    """``kgqa contrast`` from one dataset folder to another, with every group held to its invariant."""
    rows = []
    with TemporaryDirectory() as place:
        source = Path(place) / "set"
        source.mkdir()
        native.write(synthetic(questions, facts=2), source / "dev.parquet")
        for kind in MADE:
            begin = time.process_time()
            made = sum(contrast(kind, source, out=Path(place) / kind).counts.values())
            seconds = time.process_time() - begin
            rows.append((kind, f"{made:,}", f"{seconds:.2f}", f"{made / seconds:,.0f}"))
    return Table(
        title="The whole command",
        columns=("contrast", "instances", "seconds", "instances a second"),
        rows=rows,
        notes=[
            f"{questions:,} questions with two supporting facts: read from Parquet, transformed, checked against the invariants, "
            "written, hashed."
        ],
    )


def written_per_second(instances: Sequence[Instance], settings: Settings) -> float:
    """Instances a second, into one Parquet file."""
    make = settings.maker(lambda: iter(instances))
    with TemporaryDirectory() as place:
        begin, total = time.process_time(), 0
        with pq.ParquetWriter(Path(place) / "made.parquet", SCHEMA, **PARQUET) as writer:
            waiting: list[Instance] = []
            for number, instance in enumerate(instances, start=1):
                made = make(instance)
                waiting += [] if isinstance(made, Rejection) else made
                if len(waiting) >= 4096 or number == len(instances):
                    writer.write_table(table_of(waiting))
                    total += len(waiting)
                    waiting.clear()
        return total / (time.process_time() - begin)


def count(made: list[Instance] | Rejection) -> int:
    """How many; none where a question was rejected, which no synthetic one may be."""
    assert not isinstance(made, Rejection), made
    return len(made)


def synthetic(questions: int, *, facts: int, seed: int = 0) -> Iterator[Instance]:
    """Chains of pages of which each names the next, among pages that name nothing of them; the last one states the answer."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array(["".join(letters) for letters in rng.choice(list("abcdefghiklmnoprstuvé"), (4_000, 7))])
    names = [f"{first.title()} {last.title()}" for first, last in vocabulary[rng.integers(0, len(vocabulary), (PAGES, 2))]]
    names = [f"{name} {number:x}" for number, name in enumerate(names)]
    fillers = [" ".join(words) for words in vocabulary[rng.integers(0, len(vocabulary), (PAGES, WORDS))]]
    leads = [f"{name} was a {NOUNS[number % len(NOUNS)]} of {number % 97} towns." for number, name in enumerate(names)]
    for number in range(questions):
        chosen = rng.choice(PAGES, PARAGRAPHS, replace=False)
        places = sorted(rng.choice(PARAGRAPHS, facts, replace=False).tolist())
        answer = vocabulary[number % len(vocabulary)].title() + f" {number:x}q"
        named = [*(names[chosen[place]] for place in places[1:]), answer]
        after = dict(zip(places, named, strict=True))
        paragraphs = []
        for place, page in enumerate(chosen.tolist()):
            said = f" Then came {after[place]}." if place in after else ""
            paragraphs.append(page_of(str(place), names[page], f"{leads[page]}{said} {fillers[page]}", supporting=place in after))
        steps = tuple(
            Step(
                id=f"{hop}",
                question=f"Which {'river' if hop == facts - 1 else 'page'} came after #{hop}?",
                answer=named[hop],
                paragraph_id=f"{place}",
                depends_on=(f"{hop - 1}",)[: hop > 0],
            )
            for hop, place in enumerate(places)
        )
        yield Instance(
            id=f"synthetic-{number}", question=f"Which river came last after {names[chosen[places[0]]]}?", paragraphs=tuple(paragraphs),
            answers=(answer,), answer_id=None, answer_type="span", candidates=None, chains=None, decomposition=steps, answerable=True,
            group=f"synthetic-{number}", provenance=None,
        )  # fmt: skip


def page_of(id: str, title: str, text: str, *, supporting: bool) -> Paragraph:  # noqa: A002 - what it is called
    """A paragraph without marks of mentions and sentences."""
    return Paragraph(id=id, title=title, text=text, supporting=supporting, mentions=None, sentences=None, supporting_sentences=None)


if __name__ == "__main__":
    print(main().plain())
