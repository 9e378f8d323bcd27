"""``kgqa compose``: from sets and from graphs to the official files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import EmptyResult, MissingInput, SettingsError
from kgqa.formats.provenance import everything
from kgqa.recipes.musique.choice import ALWAYS
from kgqa.records import Instance, Paragraph
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.neo4j.connection import Neo4jStore
from tests import contents
from tests.conftest import Cli
from tests.recipes.musique.official import check_export
from tests.small_questions import write_set
from tests.small_single_hops import FILLER, LANDS, RULERS, TOWNS, single_hop
from tests.store.graphs import ad_hoc


def made_of(dataset: Path) -> dict[str, bytes]:
    """Its files, but for the seconds and how many workers there were."""
    result = contents.files(dataset)
    manifest = json.loads(result["manifest.json"])
    del manifest["seconds"], manifest["passed"]["workers"]
    return {**result, "manifest.json": json.dumps(manifest, sort_keys=True).encode()}


def test_from_sets_to_the_official_files(tmp_path: Path) -> None:
    source = single_hop(tmp_path / "set")
    result = kgqa.compose(source, filter="none", workspace=tmp_path / "w", name="mine")
    assert result.dataset == tmp_path / "w" / "datasets" / "mine"
    assert sum(result.counts.values()) > 10
    kgqa.export(result.dataset, to="musique", out=tmp_path / "out")
    assert check_export(tmp_path / "out", twins=0) == sum(result.counts.values())  # too few other paragraphs for a twin of each
    asked = {instance.question for split in result.counts for instance in kgqa.open_dataset(result.dataset).read(split)}
    assert any("the place where Ada was born" in question for question in asked)


def test_the_same_bytes_for_any_number_of_workers_and_after_a_stop(tmp_path: Path) -> None:
    source = single_hop(tmp_path / "set")
    one = kgqa.compose(source, filter="lexical", workspace=tmp_path / "one", workers=1)
    many = kgqa.compose(source, filter="lexical", workspace=tmp_path / "many", workers=3)
    assert made_of(one.dataset) == made_of(many.dataset)
    for stage in ("make_chains", "show_paragraphs"):
        (tmp_path / "many" / "tables" / f"{stage}.json").unlink()
        again = kgqa.compose(source, filter="lexical", workspace=tmp_path / "many", workers=2)
        assert stage not in again.reused
        assert "find_pairs" in again.reused
        assert made_of(again.dataset) == made_of(one.dataset)


def same(one: Path, other: Path) -> bool:
    """Whether two datasets are the same but for what says how they were made."""
    ones, others = contents.files(one), contents.files(other)
    return {**ones, "manifest.json": b""} == {**others, "manifest.json": b""}


@pytest.mark.parametrize("store", ["embedded", pytest.param("neo4j", marks=pytest.mark.slow)])
def test_cypher_finds_in_sets_what_the_kernel_finds(store: str, tmp_path: Path, neo4j_database: Neo4jSettings) -> None:
    source = single_hop(tmp_path / "set")
    kernel = kgqa.compose(source, filter="lexical", workspace=tmp_path / "w", workers=1)
    whole = Path(shutil.copytree(kernel.dataset, tmp_path / "kernel"))
    result = kgqa.compose(source, filter="lexical", workspace=tmp_path / "w", by="cypher", store=store, workers=2)
    assert same(result.dataset, whole)
    assert result.funnel == kernel.funnel
    assert "find_pairs" not in result.reused  # whoever asks for the other way wants to see it done
    manifest = json.loads((result.dataset / "manifest.json").read_text("utf-8"))
    assert (manifest["passed"]["by"], manifest["passed"]["store"]) == ("cypher", store)
    assert (tmp_path / "w" / "store" / "questions.lbug").exists() == (store == "embedded")
    again = kgqa.compose(source, filter="lexical", workspace=tmp_path / "w", by="cypher", store=store)
    assert "write_dataset" in again.reused


@pytest.mark.parametrize("store", [pytest.param("embedded", marks=pytest.mark.thorough), "neo4j"])
def test_cypher_finds_in_facts_what_the_kernel_finds(store: str, tmp_path: Path, neo4j_database: Neo4jSettings) -> None:
    kernel = kgqa.compose(domain="wikidata", filter="none", workspace=tmp_path / "kernel")
    result = kgqa.compose(domain="wikidata", filter="none", workspace=tmp_path / "cypher", by="cypher", store=store)
    assert same(result.dataset, kernel.dataset)
    assert result.funnel == kernel.funnel
    # The facts' own graph is a file all the same: a database holds one graph.
    assert Workspace(tmp_path / "cypher").finished("build_store", None) is not None
    assert Workspace(tmp_path / "cypher").graph.is_file()


def test_a_server_that_cannot_be_used_is_told_before_anything_is_made(tmp_path: Path, cli: Cli, neo4j_database: Neo4jSettings) -> None:
    source = single_hop(tmp_path / "set")
    asked = ("compose", source, "--filter", "none", "--workspace", tmp_path / "w", "--by", "cypher", "--store", "neo4j")
    cli(*asked, "--neo4j-uri", "bolt://localhost:1").sentence("no Neo4j server answers here")
    with Neo4jStore(neo4j_database) as server:
        server.write(ad_hoc("CREATE (:Film {name: 'Alien'})", "none"))
    cli(*asked).sentence("1 nodes in it were not written by kgqa; give kgqa an empty database")
    assert not (tmp_path / "w").exists()


def test_how_it_is_searched_must_make_sense(tmp_path: Path, cli: Cli) -> None:
    asked = ("compose", single_hop(tmp_path / "set"), "--filter", "none", "--workspace", tmp_path / "w")
    cli(*asked, "--by", "kernels").sentence("--by 'kernels' is not known; did you mean kernel")
    cli(*asked, "--store", "neo4j").sentence("--store neo4j is where cypher searches, but the kernel does; add --by cypher")
    cli(*asked, "--by", "cypher", "--store", "neo").sentence("store 'neo' is not known; did you mean neo4j")
    cli(*asked, "--by", "cypher", "--neo4j-uri", "bolt://x").sentence("--neo4j-uri requires --store neo4j")
    with pytest.raises(SettingsError, match="the embedded store needs none"):
        kgqa.compose("x", filter="none", workspace=tmp_path / "w", by="cypher", neo4j=Neo4jSettings())
    assert not (tmp_path / "w").exists()


def test_the_shipped_domain(tmp_path: Path, cli: Cli) -> None:
    result = cli("compose", "--domain", "wikidata", "--filter", "lexical", "--workspace", tmp_path / "w")
    assert result.status == 0, result.err
    dataset = tmp_path / "w" / "datasets" / "musique"
    cli("export", dataset, "--to", "musique", "--out", tmp_path / "out")
    check_export(tmp_path / "out", twins=0)  # a question that is alone in its split has none
    card = (dataset / "README.md").read_text("utf-8")
    assert "log-linear readers of words, trained and cross-fitted" in card
    assert "Leakage certificate" in card
    assert "before the filter" in card


def test_a_limit_takes_so_many_pairs(tmp_path: Path) -> None:
    result = kgqa.compose(single_hop(tmp_path / "set"), filter="none", workspace=tmp_path / "w", limit=12)
    [row] = [row for row in result.funnel if "--limit" in row.reason]
    assert row.left == 12


def test_what_cannot_be_composed(tmp_path: Path) -> None:
    place = tmp_path / "w"
    with pytest.raises(SettingsError, match="nothing to compose"):
        kgqa.compose(workspace=place)
    with pytest.raises(SettingsError, match="--filter 'reader' is not known; did you mean readers"):
        kgqa.compose("x", filter="reader", workspace=place)
    with pytest.raises(SettingsError, match="--composer 'rule' is not known"):
        kgqa.compose("x", composer="rule", workspace=place)
    with pytest.raises(SettingsError, match=r"--name '\.\./x'"):
        kgqa.compose("x", name="../x", workspace=place)
    with pytest.raises(SettingsError, match="has a graph; leave out the question sets"):
        kgqa.compose("x", domain="wikidata", filter="none", workspace=place)
    with pytest.raises(SettingsError, match="holds no graph; give question sets"):
        kgqa.compose(domain="questions", filter="none", workspace=place)
    with pytest.raises(MissingInput, match="there is no such file or folder"):
        kgqa.compose(tmp_path / "none", filter="none", workspace=place)
    with pytest.raises(SettingsError, match="has no graph; compose question sets with kgqa compose"):
        kgqa.generate("questions", workspace=place)
    assert not place.exists()


def test_chains_that_rules_cannot_write_leave_their_place_to_others(tmp_path: Path) -> None:
    """ "Where was the person who founded X born?" cannot be said within a third question, and its parts can."""
    some = []
    for number, (ruler, land, town) in enumerate(zip(RULERS, LANDS, TOWNS, strict=True)):
        texts = {
            f"Who founded Acme {ruler}sson?": (f"Mr {ruler}man", f"Acme {ruler}sson was founded by Mr {ruler}man. {FILLER}"),
            f"Where was Mr {ruler}man born?": (town, f"Mr {ruler}man was born in {town}. {FILLER}"),
            f"Which country contains {town}?": (land, f"{town} is in {land}. {FILLER}"),
        }
        for place, (question, (answer, text)) in enumerate(texts.items()):
            shown = Paragraph(id="0", title=question, text=text, supporting=True)
            name = f"{number}-{place}"
            some.append(Instance(id=name, question=question, paragraphs=(shown,), answers=(answer,), answer_type="span",
                                 answerable=True, group=name, provenance=None))  # fmt: skip
    result = kgqa.compose(write_set(tmp_path / "set", train=some), filter="none", workspace=tmp_path / "w")
    assert {shape for shapes in result.shapes.values() for shape in shapes} == {"2hop"}
    [row] = [row for row in result.funnel if row.stage == "compose" and row.what == "chains"]
    assert row.removed is not None
    assert row.removed > len(RULERS) / 2
    assert row.left == 2 * row.removed


def test_what_says_nothing_of_sets_is_refused(tmp_path: Path) -> None:
    source = single_hop(tmp_path / "set")
    own = tmp_path / "own.toml"
    for said, named in (
        ("[musique.templates.x]\nrelations = ['P1']\nclause = 'has {tail}'\nnoun = 'x'", "musique.templates sets how"),
        ("[musique]\nunasked = ['P1']", "musique.unasked sets how"),
        ("[musique.single_hop]\nfunctional = 0.1", "musique.single_hop.functional sets how"),
        ("[musique.composition]\nmodel = 'x'", "musique.composition.model is for the composers model and llm"),
        ("[musique.composition.llm]\nmax_cost = 1", "musique.composition.llm.max_cost is for the composer llm, but the composer is rules"),
        ("[musique.composition.llm]\nat_once = 2\ntries = 3", "musique.composition.llm.at_once is for the composer llm"),
        ("[musique.disconnection]\nfolds = 3", "musique.disconnection.folds has no effect with the filter none"),
        (
            "[musique.disconnection]\nuse = 'readers'\nhead_reader = 'no such'",
            "musique.disconnection.head_reader has no effect with the filter",
        ),
        ("[musique.single_hop]\nmin_words = 30\nmax_words = 20", "min_words 30 is above max_words 20"),
        ("[musique.shapes]\nshares = { 2hop = 0.9, 3hop1 = 0.2 }", "the shares must add up to"),
        ("[musique.shapes]\nshares = {}", "the shares must add up to"),
    ):
        own.write_text(f'extends = "questions"\n{said}\n')
        with pytest.raises(SettingsError, match=named):
            kgqa.compose(source, domain=own, filter="none", workspace=tmp_path / "w")
    own.write_text('extends = "questions"\ndataset = "mine"\n')
    assert kgqa.compose(source, domain=own, filter="none", workspace=tmp_path / "w").dataset.name == "mine"
    assert kgqa.compose(source, domain=own, filter="none", workspace=tmp_path / "w", name="other").dataset.name == "other"


def test_what_says_nothing_to_the_filter_is_refused(tmp_path: Path) -> None:
    source = single_hop(tmp_path / "set")
    own = tmp_path / "own.toml"
    for name, said, named in (
        ("lexical", "head_reader = 'prior'", "musique.disconnection.head_reader has no effect with the filter lexical"),
        ("lexical", "training = { epochs = 1 }", "musique.disconnection.training has no effect with the filter lexical"),
        (
            "readers",
            "tail_reader = 'prior'\nsettings = { no_such = 1 }",
            "own.toml: unknown setting 'musique.disconnection.settings.no_such'; choose one of bidirectional, encoder,",
        ),
    ):
        own.write_text(f'extends = "questions"\n[musique.disconnection]\n{said}\n')
        with pytest.raises(SettingsError, match=named):
            kgqa.compose(source, domain=own, filter=name, workspace=tmp_path / "w")
    assert not (tmp_path / "w").exists()
    own.write_text('extends = "questions"\n[musique.disconnection]\nfolds = 3\nrivals = 2\n')
    assert kgqa.compose(source, domain=own, filter="lexical", workspace=tmp_path / "w").filter == "lexical"


def test_the_order_of_sets_changes_nothing(tmp_path: Path) -> None:
    """Both sets have all questions, so that the first one read is the source of each."""
    whole = single_hop(tmp_path / "b")
    again = single_hop(tmp_path / "a", told="Do say.")
    one = kgqa.compose([whole, again], filter="none", workspace=tmp_path / "w")
    content = json.loads((one.dataset / "manifest.json").read_text("utf-8"))["content"]
    other = kgqa.compose([again, whole], filter="none", workspace=tmp_path / "w")
    assert "write_dataset" in other.reused
    apart = kgqa.compose([again, whole], filter="none", workspace=tmp_path / "apart")
    assert json.loads((apart.dataset / "manifest.json").read_text("utf-8"))["content"] == content


def test_the_certificate_compares_entities_too(tmp_path: Path) -> None:
    # Of the small domain most hops are not needed, and what is left is too little for three splits.
    own = tmp_path / "own.toml"
    own.write_text(
        'extends = "wikidata"\nseed_domain = "wikidata"\n[musique.shapes]\nneeded = false\n'
        "[musique.contexts]\nbranches = false\n[musique.single_hop]\nbranch_below = 1.0\n",
        "utf-8",
    )
    result = kgqa.compose(domain=own, filter="none", workspace=tmp_path / "w")
    assert min(result.counts.values()) > 0
    sides = ("train", "dev", "test")
    read = {split: list(kgqa.open_dataset(result.dataset).read(split)) for split in sides}
    noted = {split: {entity for each in read[split] for entity in compose_note(each)["entities"] if entity} for split in sides}
    assert all(compose_note(each)["entities"][-1] == each.answer_id for split in sides for each in read[split])
    certificate = (result.dataset / "README.md").read_text("utf-8").partition("Leakage certificate")[2]
    for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        assert f"| hop-entities | {one} – {other} | {len(noted[one] & noted[other])} |" in certificate
        assert not noted[one] & noted[other]
    for split in sides:
        assert f"hop-entities {split} {len(noted[split])} " in certificate


def compose_note(instance: Instance) -> dict[str, Any]:
    note = everything(instance)["compose"]
    assert isinstance(note, dict)
    return note


def test_a_split_that_is_left_empty_is_told(tmp_path: Path, cli: Cli) -> None:
    """All chains end with one answer, so that none can be in another split, nor more than may have one answer in train."""
    some = []
    for number, (ruler, town) in enumerate(zip(RULERS, TOWNS, strict=True)):
        texts = {
            f"Where was {ruler} born?": (town, f"{ruler} was born in {town}. {FILLER}"),
            f"What country is {town} the capital of?": ("Arlia", f"{town} is the capital of Arlia. {FILLER}"),
        }
        for place, (question, (answer, text)) in enumerate(texts.items()):
            shown = Paragraph(id="0", title=question, text=text, supporting=True)
            name = f"{number}-{place}"
            some.append(Instance(id=name, question=question, paragraphs=(shown,), answers=(answer,), answer_type="span",
                                 answerable=True, group=name, provenance=None))  # fmt: skip
    source = write_set(tmp_path / "set", train=some)
    result = kgqa.compose(source, filter="none", workspace=tmp_path / "w")
    assert result.counts == {"train": ALWAYS, "dev": 0, "test": 0}
    assert result.empty == ["dev", "test"]
    told = cli("compose", str(source), "--filter", "none", "--workspace", str(tmp_path / "w"))
    assert "Nothing is left for dev and test" in " ".join(told.out.split())


def test_a_filter_needs_enough_questions_for_its_folds(tmp_path: Path) -> None:
    result = kgqa.compose(single_hop(tmp_path / "set"), filter="lexical", workspace=tmp_path / "w", limit=1)
    (remark,) = [row.reason for row in result.funnel if row.stage == "disconnection"]
    assert remark.startswith("the 1 pairs have too few different questions to fit the filter's readers, so nothing is filtered")


def test_one_answer_everywhere(tmp_path: Path) -> None:
    items = [Paragraph(id="0", title=f"t{number}", text=f"Riga {number} {FILLER}", supporting=True) for number in range(5)]
    some = [
        Instance(id=str(number), question=f"Where is {number}?", paragraphs=(items[number],), answers=("Riga",), answer_type="span",
                 answerable=True, group=str(number), provenance=None)
        for number in range(5)
    ]  # fmt: skip
    with pytest.raises(EmptyResult, match="no two questions can be composed: none names the answer to another one; provide more questions"):
        kgqa.compose(write_set(tmp_path / "set", train=some), filter="none", workspace=tmp_path / "w")


@pytest.mark.real_data
def test_public_sets(real_data: Path, tmp_path: Path) -> None:
    files = ("squad/dev-v1.1.json", "squad/squad_train_v1.1_piece.json", "nq/qed-dev.jsonl", "musique/derived_single_hop.jsonl")
    result = kgqa.compose([real_data / name for name in files], filter="none", workspace=tmp_path / "w")
    assert result.funnel[0].left == 13_552
    assert sum(result.counts.values()) > 300
    kgqa.export(result.dataset, to="musique", out=tmp_path / "out")
    check_export(tmp_path / "out")
