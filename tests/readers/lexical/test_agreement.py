"""The readers score candidates as the baselines of the recipe do, which look at samples and not at texts: on a whole set that kgqa made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kgqa.formats import native
from kgqa.readers.lexical.choices import Choices
from kgqa.readers.lexical.cue_readers import CueReader, DocumentCue, Majority
from kgqa.readers.lexical.max_mention import mention_counts
from kgqa.readers.lexical.tf_idf import TfIdf
from kgqa.recipes.qangaroo.baselines import Baselines
from kgqa.recipes.qangaroo.filtering import baseline_data
from kgqa.recipes.qangaroo.samples import Samples
from kgqa.records import Instance, Paragraph
from tests.readers.lexical.fitting import fitted

ByCandidate = list[dict[str | None, float]]


class MadeSet:
    """A finished set, its samples, and the corpus that they are of."""

    def __init__(self, workspace: Path) -> None:
        names = ("entities", "relations", "documents", "links", "mentions")
        self.tables = {name: pq.read_table(workspace / "tables" / f"{name}.parquet") for name in names}
        samples = Samples.from_table(pq.read_table(workspace / "tables" / "kept.parquet"))
        self.samples = [samples.select(samples.questions.split == number) for number in range(3)]
        (folder,) = (workspace / "datasets").iterdir()
        self.instances = [list(native.read(folder / f"{split}.parquet")) for split in ("train", "dev", "test")]

    def baseline(self, name: str, number: int) -> ByCandidate:
        """What the recipe's own baseline gives each candidate of a split."""
        samples = self.samples[number]
        scores = Baselines(baseline_data(self.tables)).candidate_scores(name, self.samples[0], samples)
        entities = self.tables["entities"]["id"].to_pylist()
        flat = [(entities[e], s) for e, s in zip(samples.candidates.targets.tolist(), scores.tolist(), strict=True)]
        return [dict(flat[a:b]) for a, b in zip(samples.candidates.offsets[:-1], samples.candidates.offsets[1:], strict=True)]

    def corpus(self) -> Instance:
        """A question that shows all documents, from which the same frequencies are learned."""
        texts = self.tables["documents"]["text"].to_pylist()
        paragraphs = tuple(Paragraph(id=str(number), title=None, text=text, supporting=None) for number, text in enumerate(texts))
        return replace(self.instances[0][0], paragraphs=paragraphs)

    def question_tokens(self, number: int) -> list[Instance]:
        """The questions as the baseline reads them: the labels of relation and subject."""
        samples = self.samples[number]
        entities, relations = (self.tables[name]["label"].to_pylist() for name in ("entities", "relations"))
        pairs = zip(samples.questions.relation.tolist(), samples.questions.head.tolist(), strict=True)
        return [replace(i, question=f"{relations[r]} {entities[h]}") for i, (r, h) in zip(self.instances[number], pairs, strict=True)]


def by_candidate(choices: Choices, scores: np.ndarray) -> ByCandidate:
    flat = list(zip(choices.ids, scores.tolist(), strict=True))
    return [dict(flat[a:b]) for a, b in zip(choices.offsets[:-1], choices.offsets[1:], strict=True)]


@pytest.fixture(scope="module", params=["wikidata", pytest.param("medline", marks=pytest.mark.thorough)])
def made(request: pytest.FixtureRequest) -> MadeSet:
    return MadeSet(request.getfixturevalue(f"seed_{request.param}"))


@pytest.mark.parametrize(("reader", "baseline"), [(Majority, "majority per query type"), (DocumentCue, "document-cue")])
def test_what_is_counted_in_training_is_the_same(reader: type[CueReader], baseline: str, made: MadeSet) -> None:
    learned = fitted(reader(), made.instances[0])
    for number in (1, 2):
        choices = Choices.of(made.instances[number])
        assert by_candidate(choices, learned.choice_scores(choices)) == made.baseline(baseline, number)


def test_mentions_are_the_same(made: MadeSet) -> None:
    for number in range(3):
        choices = Choices.of(made.instances[number])
        assert by_candidate(choices, mention_counts(choices)) == made.baseline("max-mention", number)


def test_tf_idf_is_the_same_where_it_learns_from_the_same_documents(made: MadeSet) -> None:
    learned = fitted(TfIdf(), [made.corpus()])
    # Two documents with the same text are one.
    assert learned.documents == len(set(made.tables["documents"]["text"].to_pylist()))
    for number in (1, 2):
        choices = Choices.of(made.question_tokens(number))
        mine, theirs = by_candidate(choices, learned.choice_scores(choices)[0]), made.baseline("TF-IDF", number)
        for one, other in zip(mine, theirs, strict=True):
            assert one == pytest.approx(other, rel=1e-9)


def test_the_best_candidate_of_the_baseline_is_predicted(made: MadeSet) -> None:
    learned = fitted(Majority(), made.instances[0])
    expected = made.baseline("majority per query type", 1)
    predictions = learned.answers(made.instances[1])
    untied = 0
    for instance, prediction, scores in zip(made.instances[1], predictions, expected, strict=True):
        best = [candidate for candidate, score in scores.items() if score == max(scores.values())]
        assert prediction.candidate in best
        assert prediction.id == instance.id
        untied += len(best) == 1
    assert untied


def test_hashes_of_texts_stand_for_what_is_shown(made: MadeSet) -> None:
    choices = Choices.of(made.instances[1])
    assert len(set(choices.hashes().tolist())) == len(set(choices.texts))
    assert pa.types.is_string(pa.array(choices.texts).type)
