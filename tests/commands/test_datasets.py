"""What both seed domains' datasets promise: every Instance, its masked twin, what was rejected, the manifest and the card."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kgqa
from kgqa.domains import load_domain
from kgqa.formats import native
from kgqa.linking.dictionary import build_dictionary
from kgqa.linking.matcher import match
from kgqa.recipes.qangaroo.corpus import possible_candidates
from kgqa.recipes.qangaroo.gates import (
    GATES,
    AnswerNotReached,
    AnswerStatedBesideSubject,
    AnswerStatedInSubjectDocument,
    AnswerTooFrequent,
    DocumentCue,
    Gate,
    NoDocumentFromSubject,
    TooFewCandidates,
    TooManyCandidates,
    TooManyDocuments,
)
from kgqa.records import Instance
from kgqa.runs.card import escaped
from kgqa.runs.domain import Domain
from kgqa.runs.files import file_hash
from kgqa.runs.manifest import content_digest
from tests.linking.oracle import tokens
from tests.test_bad_input import copy_of_seeds

MASK = re.compile(r"___MASK(\d+)___")
SHOWN_BY_SEEDS: tuple[type[Gate], ...] = (
    NoDocumentFromSubject, AnswerStatedInSubjectDocument, AnswerStatedBesideSubject, AnswerNotReached, TooFewCandidates, TooManyCandidates,
    TooManyDocuments, AnswerTooFrequent, DocumentCue,
)  # fmt: skip


@dataclass(frozen=True)
class Made:
    """A finished workspace of a seed domain."""

    domain: Domain
    workspace: Path

    @property
    def folder(self) -> Path:
        return self.workspace / "datasets" / self.domain.settings.dataset

    def table(self, name: str) -> pa.Table:
        return pq.read_table(self.workspace / "tables" / f"{name}.parquet")

    def rows(self, name: str) -> list[dict[str, Any]]:
        return self.table(name).to_pylist()  # type: ignore[no-any-return]

    @cached_property
    def splits(self) -> dict[str, list[Instance]]:
        return {split: list(native.read(path)) for split, path in native.split_files(self.folder).items()}

    @cached_property
    def masked(self) -> dict[str, list[Instance]]:
        return {split: list(native.read(path)) for split, path in native.split_files(self.folder / "masked").items()}

    @cached_property
    def instances(self) -> list[Instance]:
        return [instance for part in self.splits.values() for instance in part]

    @cached_property
    def twins(self) -> list[tuple[Instance, Instance]]:
        return list(zip(self.instances, (instance for part in self.masked.values() for instance in part), strict=True))

    @cached_property
    def names(self) -> dict[str, set[str]]:
        """Entity → its names, folded."""
        found: dict[str, set[str]] = {}
        for row in self.rows("names"):
            found.setdefault(row["entity"], set()).add(folded(row["name"]))
        return found

    @cached_property
    def labels(self) -> dict[str, str]:
        return {row["id"]: row["label"] for row in self.rows("entities")}

    @cached_property
    def facts(self) -> dict[tuple[str, str], set[str]]:
        """Subject and relation → all true objects."""
        symmetric = {row["id"] for row in self.rows("relations") if row["symmetric"]}
        found: dict[tuple[str, str], set[str]] = {}
        for row in self.rows("facts"):
            found.setdefault((row["head"], row["relation"]), set()).add(row["tail"])
            if row["relation"] in symmetric:
                found.setdefault((row["tail"], row["relation"]), set()).add(row["head"])
        return found

    @cached_property
    def stated(self) -> set[tuple[str, str]]:
        """Document and entity of every occurrence."""
        return {(row["document"], row["entity"]) for row in self.rows("occurrences")}

    @cached_property
    def manifest(self) -> dict[str, Any]:
        return json.loads((self.folder / "manifest.json").read_text("utf-8"))  # type: ignore[no-any-return]


def folded(text: str) -> str:
    return " ".join(token.folded for token in tokens(text))


def origin(instance: Instance) -> tuple[str, str]:
    """Subject and relation."""
    provenance = json.loads(instance.provenance or "")
    return provenance["head"], provenance["relation"]


def chains(instance: Instance) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Candidate and chain."""
    assert instance.candidates is not None
    assert instance.chains is not None
    for candidate, own in zip(instance.candidates, instance.chains, strict=True):
        assert own
        for chain in own:
            yield candidate.id, chain


def candidate_texts(instance: Instance) -> dict[str, str]:
    assert instance.candidates is not None
    return {candidate.id: candidate.text for candidate in instance.candidates}


@pytest.fixture(scope="module")
def wikihop(seed_wikidata: Path) -> Made:
    return Made(load_domain("wikidata"), seed_wikidata)


@pytest.fixture(scope="module")
def medhop(seed_medline: Path) -> Made:
    return Made(load_domain("medline"), seed_medline)


@pytest.fixture(scope="module", params=["wikihop", "medhop"])
def made(request: pytest.FixtureRequest) -> Made:
    return request.getfixturevalue(request.param)  # type: ignore[no-any-return]


def test_every_split_has_samples(made: Made) -> None:
    # A few hundred facts imply few answers.
    assert all(len(part) >= 5 for part in made.splits.values())
    assert len(made.instances) >= 100
    assert list(made.splits) == ["train", "dev", "test"]


def test_the_answer_is_one_of_several_candidates_that_all_read_differently(made: Made) -> None:
    settings = made.domain.settings.qangaroo
    for instance in made.instances:
        result = candidate_texts(instance)
        assert instance.answer_id in result
        assert instance.answers[0] == result[instance.answer_id] == made.labels[instance.answer_id]
        assert 2 <= settings.min_candidates <= len(result) <= settings.max_candidates
        assert len({text.lower() for text in result.values()}) == len(instance.candidates or ())
        assert (instance.answer_type, instance.answerable) == ("candidate", True)


def test_the_order_of_candidates_and_documents_says_nothing(made: Made) -> None:
    first = 0
    for instance in made.instances:
        expression = (lambda c: c.id) if made.domain.settings.qangaroo.surface == "id" else (lambda c: c.text.lower())
        assert list(instance.candidates or ()) == sorted(instance.candidates or (), key=expression)
        first += instance.paragraphs[0].supporting is True
    share = np.mean([np.mean([bool(p.supporting) for p in instance.paragraphs]) for instance in made.instances])
    assert abs(first / len(made.instances) - share) < 4 * 0.5 / len(made.instances) ** 0.5


def test_chains_run_along_edges_from_the_subject_to_their_candidate(made: Made) -> None:
    edges = {(row["direction"], row["document"], row["entity"]) for row in made.rows("edges")}
    limit = made.domain.settings.qangaroo.traversal.max_documents
    for instance in made.instances:
        for candidate, chain in chains(instance):
            assert (chain[0], chain[-1]) == (origin(instance)[0], candidate)
            assert 3 <= len(chain) <= 2 * limit + 1
            assert len(set(chain)) == len(chain)
            for at in range(1, len(chain), 2):
                assert ("entity_to_document", chain[at], chain[at - 1]) in edges
                assert ("document_to_entity", chain[at], chain[at + 1]) in edges


def test_the_documents_are_those_of_the_chains_and_the_supporting_ones_lead_to_the_answer(made: Made) -> None:
    texts = {row["id"]: (row["title"], row["text"]) for row in made.rows("documents")}
    unused = {row["document"] for row in made.rows("unused")}
    for instance in made.instances:
        items = [paragraph.id for paragraph in instance.paragraphs]
        assert len(set(items)) == len(items) <= made.domain.settings.qangaroo.max_documents
        assert set(items) == {document for _, chain in chains(instance) for document in chain[1::2]}
        assert not unused & set(items)
        true = {document for candidate, chain in chains(instance) if candidate == instance.answer_id for document in chain[1::2]}
        assert {paragraph.id for paragraph in instance.paragraphs if paragraph.supporting} == true
        assert all((paragraph.title, paragraph.text) == texts[paragraph.id] for paragraph in instance.paragraphs)


def test_every_mention_is_a_name_of_its_entity(made: Made) -> None:
    count = 0
    for paragraph in {paragraph.id: paragraph for instance in made.instances for paragraph in instance.paragraphs}.values():
        end = 0
        for mention in paragraph.mentions or ():
            assert end <= mention.start < mention.end
            end = mention.end
            assert folded(paragraph.text[mention.start : mention.end]) in made.names[mention.entity]
            count += 1
    assert count > 300


def test_wikihop_the_article_about_the_subject_does_not_state_the_answer(wikihop: Made) -> None:
    article = {row["about"]: row for row in wikihop.rows("documents") if row["about"]}
    for instance in wikihop.instances:
        own = article.get(origin(instance)[0])
        assert own is None or (own["id"], instance.answer_id) not in wikihop.stated
        assert own is None or f" {instance.answers[0]} " not in own["text"]


def test_medhop_no_document_states_subject_and_answer_together(medhop: Made) -> None:
    for instance in medhop.instances:
        head = origin(instance)[0]
        for document in medhop.rows("documents"):
            assert not {(document["id"], head), (document["id"], instance.answer_id)} <= medhop.stated
        for paragraph in instance.paragraphs:
            assert not (f" {medhop.labels[head]} " in paragraph.text and f" {instance.answers[0]} " in paragraph.text)


def test_questions_are_facts_and_no_other_true_object_is_a_candidate(made: Made) -> None:
    for instance in made.instances:
        objects = made.facts[origin(instance)]
        assert objects & set(candidate_texts(instance)) == {instance.answer_id}
        assert origin(instance)[0] not in candidate_texts(instance)
        assert made.labels[origin(instance)[0]] in instance.question


def test_candidates_are_end_points_of_the_relation(made: Made) -> None:
    kinds = {row["id"]: row["kind"] for row in made.rows("entities")}
    questions = made.table("questions")
    entities, relations = made.table("entities")["id"].to_pylist(), made.table("relations")["id"].to_pylist()
    objects = {(relations[q["relation"]], entities[q["answer"]]) for q in questions.to_pylist() if q["split"] == 0}
    for instance in made.instances:
        for candidate in set(candidate_texts(instance)) - {instance.answer_id}:
            if made.domain.settings.qangaroo.endpoint_kind:
                assert kinds[candidate] == made.domain.settings.qangaroo.endpoint_kind
            else:
                assert (origin(instance)[1], candidate) in objects


def test_medhop_every_candidate_has_as_many_chains_as_the_answer(medhop: Made) -> None:
    for instance in medhop.instances:
        assert len({len(own) for own in instance.chains or ()}) == 1
        assert len(instance.candidates or ()) <= medhop.domain.settings.qangaroo.balance.candidates


def test_splits_share_nothing(made: Made) -> None:
    seen: dict[object, str] = {}
    for split, part in made.splits.items():
        for instance in part:
            head = origin(instance)[0]
            by_head = made.domain.settings.qangaroo.splits.by == "head"
            group = head if by_head else frozenset((head, instance.answer_id))
            assert seen.setdefault(group, split) == split
    ids = [instance.id for instance in made.instances]
    assert len(set(ids)) == len(ids)


def test_wikihop_no_answer_is_above_the_cap(wikihop: Made) -> None:
    bias = wikihop.domain.settings.qangaroo.bias
    rejected = Counter(row["split"] for row in wikihop.rows("rejected_filter"))
    plain = Counter(wikihop.table("plain")["split"].to_pylist())
    for number, part in enumerate(wikihop.splits.values()):
        # A share of what the paper's recipe lets in, where that is more.
        entering = max(plain[number], len(part) + rejected[number])
        whole = entering if bias.answer_cap_of == "entering" else len(part)
        assert max(Counter(instance.answer_id for instance in part).values()) <= max(1, bias.answer_cap * whole)


def test_wikihop_no_document_gives_an_answer_away(wikihop: Made) -> None:
    for part in wikihop.splits.values():
        pairs = Counter((paragraph.id, instance.answer_id) for instance in part for paragraph in instance.paragraphs)
        assert max(pairs.values()) <= wikihop.domain.settings.qangaroo.bias.document_cue


def test_twins_are_the_same_samples(made: Made) -> None:
    for split, part in made.splits.items():
        assert [(i.id, i.group) for i in part] == [(i.id, i.group) for i in made.masked[split]]
    for plain, masked in made.twins:
        assert plain.group == plain.id
        assert (plain.question, plain.answer_id, plain.provenance) == (masked.question, masked.answer_id, masked.provenance)
        assert set(candidate_texts(plain)) == set(candidate_texts(masked))
        assert sorted(chains(plain)) == sorted(chains(masked))
        assert [(p.id, p.supporting) for p in plain.paragraphs] == [(p.id, p.supporting) for p in masked.paragraphs]


def test_placeholders_stand_for_one_candidate_each_and_are_drawn_anew_for_each_sample(made: Made) -> None:
    size = made.domain.settings.qangaroo.placeholders
    drawn: dict[str, set[str]] = {}
    for plain, masked in made.twins:
        result = candidate_texts(masked)
        assert list(result.values()) == sorted(set(result.values()))
        assert all((found := MASK.fullmatch(text)) and int(found[1]) < size for text in result.values())
        assert masked.answers == (result[plain.answer_id or ""],)
        for candidate, text in result.items():
            drawn.setdefault(candidate, set()).add(text)
        assert set(MASK.findall(" ".join(p.text + (p.title or "") for p in masked.paragraphs))) <= {text[7:-3] for text in result.values()}
    often = [texts for candidate, texts in drawn.items() if sum(candidate in candidate_texts(i) for i in made.instances) >= 5]
    assert often
    assert all(len(texts) > 1 for texts in often)


def test_masked_mentions_point_at_placeholders_or_names(made: Made) -> None:
    for _, masked in made.twins:
        result = candidate_texts(masked)
        for paragraph in masked.paragraphs:
            spans = [(mention.start, mention.end) for mention in paragraph.mentions or ()]
            assert spans == sorted(spans)
            assert {found.span() for found in MASK.finditer(paragraph.text)} <= set(spans)
            for mention in paragraph.mentions or ():
                text = paragraph.text[mention.start : mention.end]
                assert mention.entity not in result or text == result[mention.entity]
                assert mention.entity in result or folded(text) in made.names[mention.entity]


def test_a_function_word_that_is_a_name_stays_in_the_masked_texts(tmp_path: Path) -> None:
    """Codes such as "in" and "is" are names of countries in Wikidata."""
    source, countries = copy_of_seeds(tmp_path), {"Q45", "Q29", "Q142", "Q38"}
    entities = (source / "entities.tsv").read_text("utf-8")
    for name in ("Portuguese Republic", "Kingdom of Spain", "French Republic", "Italian Republic"):
        entities = entities.replace(f"\t{name}\t", f"\t{name}|is|in\t")
    (source / "entities.tsv").write_text(entities, "utf-8")
    dataset = kgqa.generate("wikidata", source=source, workspace=tmp_path / "w").dataset

    def words(folder: Path) -> Counter[str]:
        instances = [instance for path in native.split_files(folder).values() for instance in native.read(path)]
        assert any(countries & candidate_texts(instance).keys() for instance in instances)
        texts = " ".join(paragraph.text for instance in instances for paragraph in instance.paragraphs)
        return Counter(word for word in re.findall(r"\w+", texts) if word in {"is", "in"})

    assert len(words(dataset)) == 2
    assert words(dataset / "masked") == words(dataset)


def test_outside_of_placeholders_nothing_is_changed(made: Made) -> None:
    for plain, masked in made.twins:
        for before, after in zip(plain.paragraphs, masked.paragraphs, strict=True):
            for text, hidden in ((before.text, after.text), (before.title or "", after.title or "")):
                pieces = MASK.split(hidden)[::2]
                assert re.fullmatch("(?s:.+?)".join(map(re.escape, pieces)), text)


def test_no_name_of_a_candidate_is_left_in_a_masked_text_or_title(made: Made) -> None:
    tables = {name: made.table(name) for name in ("entities", "names", "relations", "facts", "documents")}
    settings = made.domain.settings
    result = build_dictionary(
        tables["names"], tables["entities"], settings.linking, possible_candidates(tables, settings.qangaroo), documents=tables["documents"]
    )
    entities = tables["entities"]["id"].to_pylist()
    items = [(masked, text) for _, masked in made.twins for p in masked.paragraphs for text in (p.text, p.title or "")]
    found = match(pa.chunked_array([[text for _, text in items]]), result, before_number=settings.linking.before_number).occurrences
    assert len(found.document)
    for document, entity in zip(found.document.tolist(), found.entity.tolist(), strict=True):
        assert entities[entity] not in candidate_texts(items[document][0]), items[document][1]


def questions_by_id(made: Made) -> list[str]:
    return [f"{made.domain.settings.dataset}-{number:016x}" for number in made.table("questions")["id"].to_pylist()]


def test_every_question_is_kept_or_rejected_with_a_reason(made: Made) -> None:
    rejected = pq.read_table(made.folder / "rejected.parquet").to_pylist()
    assert sorted([i.id for i in made.instances] + [row["id"] for row in rejected]) == sorted(questions_by_id(made))
    assert {row["reason"] for row in rejected} <= {gate.reason for gate in GATES.values()}
    for row in rejected:
        head, relation, answer = row["detail"].split(" ")
        assert answer in made.facts[head, relation]
        assert row["split"] in made.splits
        assert row["stage"] in {"traverse", "filter"}


@pytest.mark.parametrize("domain", ["wikidata", pytest.param("medline", marks=pytest.mark.slow)])
def test_a_first_try_leaves_out_the_rest_and_says_so(domain: str, tmp_path: Path) -> None:
    report = kgqa.generate(domain, workspace=tmp_path / "w", limit=120)
    tried = Made(load_domain(domain), tmp_path / "w")
    rejected = pq.read_table(tried.folder / "rejected.parquet")["id"].to_pylist()
    asked = [instance.id for instance in tried.instances] + rejected
    assert len(asked) == len(set(asked)) == 120
    assert set(asked) <= set(questions_by_id(tried))
    (row,) = [row for row in report.funnel if row.setting == "--limit"]
    assert (row.removed, row.left) == (len(questions_by_id(tried)) - 120, 120)


def test_the_funnel_counts_what_was_rejected(made: Made) -> None:
    rejected = Counter(pq.read_table(made.folder / "rejected.parquet")["reason"].to_pylist())
    shown = {row["reason"]: row for row in made.manifest["funnel"] if row["what"] == "questions" and row["removed"] is not None}
    assert {reason: row["removed"] for reason, row in shown.items() if row["removed"]} == dict(rejected)
    items = [row["left"] for row in shown.values()]
    assert items == sorted(items, reverse=True)
    assert items[-1] == len(made.instances)


def test_every_reason_that_the_seeds_are_made_to_show_occurs(wikihop: Made, medhop: Made) -> None:
    reasons = {reason for made in (wikihop, medhop) for reason in pq.read_table(made.folder / "rejected.parquet")["reason"].to_pylist()}
    assert {gate.reason for gate in SHOWN_BY_SEEDS} <= reasons


def test_the_manifest_tells_the_truth(made: Made) -> None:
    manifest = made.manifest
    written = {p.relative_to(made.folder).as_posix() for p in made.folder.rglob("*") if p.is_file()} - {"manifest.json"}
    assert manifest["files"] == {name: hashlib.sha256((made.folder / name).read_bytes()).hexdigest() for name in written}
    assert manifest["counts"] == {split: len(part) for split, part in made.splits.items()}
    inputs = {name: hashlib.sha256((made.domain.source / name).read_bytes()).hexdigest() for name in manifest["inputs"]}
    assert manifest["inputs"] == inputs
    assert len(inputs) >= 4
    assert manifest["settings"] == made.domain.settings.resolved()


def test_the_content_digest_sees_every_data_file_and_nothing_else(made: Made) -> None:
    files = {name: digest for name, digest in made.manifest["files"].items() if name.endswith(".parquet")}
    assert files == {name: file_hash(made.folder / name) for name in files}
    assert set(made.manifest["files"]) - set(files) == {"README.md"}
    assert content_digest(dict(reversed(files.items()))) == made.manifest["content"]
    for name in files:
        assert content_digest({**files, name: files[name][::-1]}) != made.manifest["content"]
        assert content_digest({other: digest for other, digest in files.items() if other != name}) != made.manifest["content"]


@pytest.mark.parametrize("domain", ["wikidata", pytest.param("medline", marks=pytest.mark.slow)])
def test_card_and_files_depend_on_nothing_but_data(domain: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    first = Made(load_domain(domain), request.getfixturevalue(f"seed_{domain}"))
    second = Made(load_domain(domain), tmp_path / "elsewhere")
    kgqa.generate(domain, workspace=second.workspace, workers=3)
    for name in first.manifest["files"]:
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes(), name
    card = (first.folder / "README.md").read_text("utf-8")
    assert first.manifest["content"] in card
    for split, count in first.manifest["counts"].items():
        assert f"| {split} | {count} |" in card
    assert not re.search(r"/tmp|/home|/root|/work|20\d\d-\d\d-\d\d|\d\d:\d\d", card)
    for row in first.manifest["funnel"]:
        assert f"| {escaped(row['reason'])} |" in card


@pytest.mark.filterwarnings("default")
def test_the_hub_library_loads_every_split_of_both_configurations(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    for configuration, folder in (("default", made.folder), ("masked", made.folder / "masked")):
        result = datasets.load_dataset(str(made.folder), configuration, cache_dir=str(tmp_path))
        for name, split in (("train", "train"), ("validation", "dev"), ("test", "test")):
            rows = pq.read_table(folder / f"{split}.parquet").to_pylist()
            assert result[name].to_list() == rows
