"""A person's own domain of thirty or of some more documents: composed questions with the defaults, and a sentence on what limits them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import kgqa
from kgqa.formats.question_set import open_dataset
from tests.conftest import Cli

SYLLABLES = ("ba", "ko", "li", "men", "tar", "vos", "rin", "sul", "pe", "dra", "no", "fim", "gal", "hol", "jus")
ABOUT = "It has been described in several books, was visited by many travellers, and is talked about in every season of the year."


def town_folk(folder: Path, people: int, *, relations: tuple[str, ...] = ("residence", "country", "capital")) -> Path:
    """Painters who live in towns, which lie in countries: a source in the layout of wikidata, and a TOML that names nothing else."""
    rng, used = random.Random(7), set[str]()

    def name(syllables: int, end: str = "") -> str:
        while True:
            found = "".join(rng.choice(SYLLABLES) for _ in range(syllables)).capitalize() + end
            if found not in used:
                used.add(found)
                return found

    countries = [name(3, "ia") for _ in range(max(2, people // 6))]
    towns = [name(3, "ton") for _ in range(max(4, people // 3))]
    texts: dict[str, tuple[str, str]] = {}
    facts = []
    for number, country in enumerate(countries):
        texts[f"c{number}"] = (country, f"{country} is a country with wide plains, and its capital is {towns[number]}. {ABOUT}")
        facts.append((f"c{number}", "capital", f"t{number}"))
    for number, town in enumerate(towns):
        texts[f"t{number}"] = (town, f"{town} is a town in {countries[number % len(countries)]}. {ABOUT}")
        facts.append((f"t{number}", "country", f"c{number % len(countries)}"))
    for number in range(people):
        painter, home = f"{name(2)} {name(3)}", rng.randrange(len(towns))
        texts[f"p{number}"] = (painter, f"{painter} was a painter who lived in {towns[home]}. {ABOUT}")
        facts.append((f"p{number}", "residence", f"t{home}"))
    folder.mkdir()
    documents = [{"id": f"d{entity}", "title": title, "entity": entity, "text": text} for entity, (title, text) in texts.items()]
    (folder / "documents.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents), "utf-8")
    entities = "".join(f"{entity}\t{title}\t\t\n" for entity, (title, _) in texts.items())
    (folder / "entities.tsv").write_text(f"id\tlabel\taliases\tdescription\n{entities}", "utf-8")
    (folder / "triples.tsv").write_text("".join("\t".join(fact) + "\n" for fact in facts if fact[1] in relations), "utf-8")
    (folder / "relations.tsv").write_text("id\tlabel\n" + "".join(f"{relation}\t{relation}\n" for relation in relations), "utf-8")
    (folder / "own.toml").write_text('extends = "wikidata"\nname = "own"\n', "utf-8")
    return folder


def test_thirty_documents_make_questions_and_say_what_limits_them(tmp_path: Path, cli: Cli) -> None:
    source = town_folk(tmp_path / "source", 21)
    for filtered in ("lexical", "none"):
        workspace = tmp_path / filtered
        result = cli("compose", "--domain", source / "own.toml", "--source", source, "--filter", filtered, "--workspace", workspace)
        assert result.status == 0, result.err
        questions = list(open_dataset(workspace / "datasets" / "musique").instances())
        assert questions
        assert all(any(p.text.startswith(str(step.answer)) or str(step.answer) in p.text for p in each.paragraphs)
                   for each in questions for step in each.decomposition or ())  # fmt: skip
        if len(questions[0].paragraphs) < 20:
            assert "too few to show 20 with a question" in result.out


@pytest.mark.slow
def test_more_documents_make_all_splits(tmp_path: Path) -> None:
    source = town_folk(tmp_path / "source", 120)
    result = kgqa.compose(domain=source / "own.toml", source=source, filter="lexical", workspace=tmp_path / "w")
    assert min(result.counts.values()) > 0
    card = (result.dataset / "README.md").read_text("utf-8")
    assert "cc-by-sa" not in card
    assert "Freebase" not in card


@pytest.mark.slow
@pytest.mark.parametrize("order", [("generate", "compose"), pytest.param(("compose", "generate"), marks=pytest.mark.thorough)])
def test_one_workspace_holds_what_generate_and_compose_make(order: tuple[str, str], tmp_path: Path, cli: Cli) -> None:
    own = tmp_path / "own.toml"
    own.write_text('extends = "wikidata"\nseed_domain = "wikidata"\nname = "mine"\ndataset = "museumhop"\n', "utf-8")
    options = {"generate": (), "compose": ("--filter", "none")}
    for command in order:
        result = cli(command, "--domain", own, "--workspace", tmp_path / "w", *options[command])
        assert result.status == 0, result.err
    assert {path.name for path in (tmp_path / "w" / "datasets").iterdir()} == {"museumhop", "museumhop-musique"}


def test_one_relation_alone_is_said_to_make_no_chains(tmp_path: Path, cli: Cli) -> None:
    source = town_folk(tmp_path / "source", 21, relations=("residence",))
    sentence = cli("compose", "--domain", source / "own.toml", "--source", source, "--filter", "none", "--workspace", tmp_path / "w")
    assert "no two questions can be composed" in sentence.sentence()


def test_the_only_one_that_a_sparse_graph_knows_is_not_asked_for(tmp_path: Path) -> None:
    """Each town has one painter here, as far as the graph knows."""
    source = town_folk(tmp_path / "source", 21)
    facts = [line.split("\t") for line in (source / "triples.tsv").read_text("utf-8").splitlines()]
    result = set[str]()
    items = [fact for fact in facts if fact[1] != "residence" or not (fact[2] in result or result.add(fact[2]))]  # type: ignore[func-returns-value]
    (source / "triples.tsv").write_text("".join("\t".join(fact) + "\n" for fact in items), "utf-8")
    made = kgqa.compose(domain=source / "own.toml", source=source, filter="none", workspace=tmp_path / "w")
    steps = [step.question for each in open_dataset(made.dataset).instances() for step in each.decomposition or ()]
    assert steps
    assert not [question for question in steps if question.startswith(("Who ", "Which person", "Which painter"))]
