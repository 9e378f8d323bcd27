"""One sample as people read it: names first, ids beside them, and what the graph says of each hop."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import kgqa
from kgqa.commands.show import NamedChain, named_chains
from kgqa.formats import native
from kgqa.records import Candidate, Grade, Instance, Mention, Paragraph
from tests import contents
from tests.conftest import Cli

DATASETS = {"wikidata": "wikihop", "medline": "medhop"}
ESCAPES = "\x1b]0;owned\x07\x1b[2J"


def samples(folder: Path) -> list[Instance]:
    return [instance for path in native.split_files(folder).values() for instance in native.read(path)]


def answer_chains(instance: Instance) -> list[tuple[str, ...]]:
    return [chain for chains in instance.chains or () for chain in chains if chain[-1] == instance.answer_id]


def ids(chain: NamedChain) -> tuple[str, ...]:
    """The ids that the chain is made of."""
    return (chain.entity, *(node for hop in chain.hops for node in (hop.document, hop.entity)))


@pytest.mark.parametrize("domain", DATASETS)
def test_names_and_relations_are_those_of_the_graph(domain: str, request: pytest.FixtureRequest) -> None:
    workspace: Path = request.getfixturevalue(f"seed_{domain}")
    folder = workspace / "datasets" / DATASETS[domain]
    tables = {name: pq.read_table(workspace / "tables" / f"{name}.parquet").to_pylist() for name in ("entities", "facts", "relations")}
    labels = {row["id"]: row["label"] for row in tables["entities"]}
    relations = {row["id"]: row for row in tables["relations"]}
    facts: dict[tuple[str, str], set[str]] = {}
    for fact in tables["facts"]:
        relation = relations[fact["relation"]]
        facts.setdefault((fact["head"], fact["tail"]), set()).add(relation["label"])
        if relation["symmetric"]:
            facts.setdefault((fact["tail"], fact["head"]), set()).add(relation["label"])
    seen = set()
    for instance in samples(folder):
        chains = named_chains(folder, instance)
        assert [ids(chain) for chain in chains] == answer_chains(instance)
        for chain in chains:
            at = chain.entity
            assert chain.name == labels[at]
            for hop in chain.hops:
                assert hop.name == labels[hop.entity]
                there, back = facts.get((at, hop.entity), set()), facts.get((hop.entity, at), set())
                assert set(hop.relations) == (there or back)
                assert hop.forward == bool(there)
                assert hop.title == next(paragraph.title for paragraph in instance.paragraphs if paragraph.id == hop.document)
                seen.add((bool(there), bool(back)))
                at = hop.entity
    assert len(seen) >= 3


def test_a_chain_is_one_line_that_reads_from_left_to_right(seed_wikidata: Path, cli: Cli) -> None:
    folder = seed_wikidata / "datasets" / "wikihop"
    lines = cli("show", folder, "wikihop-a16447ab6d322b5f").out.splitlines()
    assert (
        "Chain: Parthenon (Q10288) → [seed:163 Parthenon] → located in the administrative territorial entity → Athens (Q1524) → "
        "[seed:120 Athens] ← capital ← Greece (Q41)"
    ) in lines
    back = [
        instance
        for instance in samples(folder)
        for chain in named_chains(folder, instance)
        if any(h.relations and not h.forward for h in chain.hops)
    ]
    chain = next(line for line in cli("show", folder, back[0].id).out.splitlines() if line.startswith("Chain: "))
    assert chain.count(" ← ") == 2


@pytest.mark.parametrize("domain", DATASETS)
def test_a_dataset_that_was_moved_has_the_names_that_its_samples_use(
    domain: str, tmp_path: Path, request: pytest.FixtureRequest, cli: Cli
) -> None:
    there = request.getfixturevalue(f"seed_{domain}") / "datasets" / DATASETS[domain]
    folder = Path(shutil.copytree(there, tmp_path / "moved"))
    named = 0
    for instance in samples(folder):
        texts = {candidate.id: {candidate.text} for candidate in instance.candidates or ()}
        for paragraph in instance.paragraphs:
            for mention in paragraph.mentions or ():
                if mention.entity not in {candidate.id for candidate in instance.candidates or ()}:
                    texts.setdefault(mention.entity, set()).add(paragraph.text[mention.start : mention.end])
        for chain in named_chains(folder, instance):
            assert not [hop for hop in chain.hops if hop.relations]
            for entity, name in [(chain.entity, chain.name), *((hop.entity, hop.name) for hop in chain.hops)]:
                assert name in texts.get(entity, {""})
                named += bool(name)
    assert named > 100
    assert " → " in cli("show", folder).out


def _no_tables(workspace: Path) -> None:
    shutil.rmtree(workspace / "tables")


def _damaged(workspace: Path) -> None:
    (workspace / "tables" / "entities.parquet").write_bytes(b"PAR1")


def _unfinished(workspace: Path) -> None:
    (workspace / "tables" / "read_sources.json").unlink()


def _no_record(workspace: Path) -> None:
    (workspace / "tables" / "read_sources.json").write_text("[]")


@pytest.mark.parametrize("spoil", [_damaged, _no_record])
def test_a_damaged_table_is_said_in_place_of_names(spoil: Callable[[Path], None], wikidata_copy: Path, cli: Cli) -> None:
    spoil(wikidata_copy)
    before = contents.files(wikidata_copy)
    cli("show", wikidata_copy / "datasets" / "wikihop").sentence("a table is damaged", "run kgqa generate again")
    assert contents.files(wikidata_copy) == before


@pytest.mark.parametrize("spoil", [_no_tables, _unfinished])
def test_a_workspace_that_is_not_whole_is_not_asked(spoil: Callable[[Path], None], wikidata_copy: Path, cli: Cli) -> None:
    folder = wikidata_copy / "datasets" / "wikihop"
    spoil(wikidata_copy)
    before = contents.files(wikidata_copy)
    result = cli("show", folder, "wikihop-a16447ab6d322b5f")
    assert (result.status, result.err) == (0, "")
    assert "Chain: Parthenon (Q10288) → [seed:163 Parthenon] → Athens (Q1524) → [seed:120 Athens] → Greece (Q41)" in result.out
    assert contents.files(wikidata_copy) == before


def test_what_nobody_names_is_shown_by_its_id_and_nothing_commands_the_terminal(tmp_path: Path, cli: Cli) -> None:
    def paragraph(id_: str, text: str, title: str | None, *mentions: Mention) -> Paragraph:
        return Paragraph(
            id=id_, title=title, text=text, supporting=True, mentions=mentions, sentences=None, supporting_sentences=None
        )  # fmt: skip

    name = f"Ta{ESCAPES}gus"
    instance = Instance(
        id="q",
        question="mouth Tagus",
        paragraphs=(
            paragraph(
                "d1", f"The {name} and\nthe Tagus.", "[bold]x[/bold] " + "long " * 30, Mention(entity="e1", start=4, end=4 + len(name))
            ),
            paragraph("d2", "Nothing.", None),
        ),
        answers=("Sea",),
        answer_id="e3",
        answer_type="candidate",
        candidates=(Candidate(id="e3", text="The\nSea"), Candidate(id="e4", text="e4")),
        chains=((("e1", "d1", "e2", "d2", "e3"), ("e2", "d2", "e3")), (("e1", "d1", "e4"),)),
        decomposition=None,
        answerable=True,
        group="q",
        provenance=json.dumps({"head": "e1", "relation": "r"}),
    )
    folder = tmp_path / "datasets" / "mine"
    folder.mkdir(parents=True)
    native.write([instance], folder / "train.parquet")
    out = cli("show", folder).out
    assert not {character for character in out if character < " "} - {"\n"}
    first, second = [line for line in out.splitlines() if line.startswith("Chain: ")]
    assert first.startswith("Chain: Ta␛]0;owned␇␛[2Jgus (e1) → [d1 [bold]x[/bold] long long long")
    assert first.endswith("…] → e2 → [d2] → The Sea (e3)")
    assert second == "Chain: e2 → [d2] → The Sea (e3)"
    native.write([replace(instance, chains=None)], folder / "train.parquet")
    assert "Chain" not in cli("show", folder).out


def test_grades_are_words(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    candidates = tuple(Candidate(id=name, text=f"Town [{name}]") for name in ("Q1", "Q2", "Q3", "Q4"))
    sure = Grade(confidence=0.928, path=f"place of birth → {ESCAPES}\ncountry", text="in one [bold]sentence")
    maybe = Grade(confidence=0.25, path="twin", text="")
    instance = Instance(
        id="q", question="?", paragraphs=(), answers=("Town",), answer_id="Q2", answer_type="candidate", candidates=candidates,
        grades=(Grade(confidence=0, path="", text="apart"), sure, None, maybe), answerable=True, group="q", provenance=None,
    )  # fmt: skip

    def lines(**changes: object) -> list[str]:
        native.write([replace(instance, **changes)], folder / "train.parquet")  # type: ignore[arg-type]
        return [line for line in cli("show", folder).out.splitlines() if line.startswith(("Grade", "Best"))]

    text = "Grade: 0.93 by place of birth → ␛]0;owned␇␛[2J country; in one [bold]sentence"
    assert lines() == [text, "Best other candidate: Town [Q4] (Q4), 0.25 by twin"]
    assert lines(grades=(*(instance.grades or ())[:2], None, None)) == [text, "Best other candidate: Town [Q1] (Q1), no known path; apart"]
    assert lines(grades=(None, sure, None, None)) == [text]
    assert lines(grades=(None, None, maybe, maybe)) == ["Best other candidate: Town [Q3] (Q3), 0.25 by twin"]
    assert lines(grades=None) == lines(grades=(None,) * 4) == lines(grades=None, candidates=None) == []


def test_the_front_door_has_both(seed_wikidata: Path) -> None:
    folder = seed_wikidata / "datasets" / "wikihop"
    assert kgqa.named_chains(folder, kgqa.show(folder)) == named_chains(folder, kgqa.show(folder))
