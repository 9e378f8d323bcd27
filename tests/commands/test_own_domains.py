"""A domain of 30 and of 170 documents in another language than English: what can be made with the defaults, and what limits it."""

from __future__ import annotations

import json
import random
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

import kgqa
from kgqa.domains import built_in
from kgqa.formats.columns import OF_RECIPES
from kgqa.formats.question_set import open_dataset
from kgqa.records import SPLITS
from tests.command import ROOT
from tests.commands.test_small_domains import town_folk
from tests.conftest import Cli

SENTENCES = {
    "de": (
        "{town} ist eine Stadt in {land}. Viele Züge fahren von dort nach {other}, und im Sommer kommen Gäste aus aller Welt an den Fluss.",
        "{person} lebte in {town} und malte dort viele große Landschaften. Eine frühe Reise führte mit dem Schiff nach {other}, wo ein "
        "großes Bild entstand.",
        "{land} ist ein Land mit weiten Ebenen, hohen Bergen, tiefen Seen und vielen alten Burgen, dessen Hauptstadt seit langer Zeit "
        "{town} heißt.",
    ),
    "tr": (
        "{town}, {land}'da bir şehirdir. Oradan her gün {other}'ya birçok tren gider ve yazın dünyanın her yerinden konuklar ırmağın "
        "kıyısına gelip haftalarca kalır.",
        "{person}, {town}'da yaşadı ve orada büyük manzaralar çizdi. Daha gençken gemiyle {other}'ya gitti, orada uzun süre kaldı ve büyük "
        "bir tablo yaptı.",
        "{land}, geniş ovaları, yüksek dağları, derin gölleri, eski kaleleri ve uzun ırmakları olan bir ülkedir; uzun zamandan beri "
        "başkenti {town}'dur.",
    ),
    "ko": (
        "{town}은 {land}의 도시이다. 많은 기차가 날마다 그곳에서 {other}으로 가고 여름에는 온 세상에서 손님들이 강을 보러 와서 "
        "여러 날을 즐겁게 쉬고 간다.",
        "{person}은 {town}에서 살면서 큰 풍경을 많이 그렸다. 아주 젊은 시절에 배를 타고 {other}으로 여행하여 그곳에서 오래 머물며 "
        "큰 그림을 하나 그렸다.",
        "{land}은 넓은 들과 높은 산과 깊은 호수와 오래된 성과 긴 강과 푸른 숲과 맑은 샘과 넓은 길과 높은 다리가 아주 많은 "
        "나라이며 수도는 {town}이다.",
    ),
}
LATIN = ("ba", "ko", "li", "men", "tar", "vos", "rin", "sul", "pe", "dra", "no", "fim", "gal", "hol", "jus")
HANGUL = ("바", "코", "리", "멘", "타르", "보", "린", "술", "페", "드라", "노", "핌", "갈", "홀", "주")


def own_domain(folder: Path, language: str, people: int) -> Path:
    """Painters who live in towns of countries; each article names a further town."""
    rng, used = random.Random(f"{language} {people}"), set[str]()

    def name(syllables: int) -> str:
        while True:
            result = "".join(rng.choice(HANGUL if language == "ko" else LATIN) for _ in range(syllables)).capitalize()
            if result not in used and not any(result in each or each in result for each in used):
                used.add(result)
                return result

    about_town, about_person, about_land = SENTENCES[language]
    lands = [name(3) for _ in range(max(3, people // 8))]
    towns = [name(3) for _ in range(max(6, people // 2))]
    texts: dict[str, tuple[str, str]] = {}
    facts = []
    for number, land in enumerate(lands):
        texts[f"c{number}"] = (land, about_land.format(land=land, town=towns[number]))
        facts.append((f"c{number}", "capital", f"t{number}"))
    for number, town in enumerate(towns):
        other = rng.choice([each for each in range(len(towns)) if each % len(lands) != number % len(lands)])
        texts[f"t{number}"] = (town, about_town.format(town=town, land=lands[number % len(lands)], other=towns[other]))
        facts.append((f"t{number}", "country", f"c{number % len(lands)}"))
    for number in range(people):
        home, other = rng.sample(range(len(towns)), 2)
        person = f"{name(3)} {name(3)}"
        texts[f"p{number}"] = (person, about_person.format(person=person, town=towns[home], other=towns[other]))
        facts.append((f"p{number}", "residence", f"t{home}"))
    folder.mkdir()
    documents = [{"id": f"d{entity}", "title": title, "entity": entity, "text": text} for entity, (title, text) in texts.items()]
    (folder / "documents.jsonl").write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in documents), "utf-8")
    entities = "".join(f"{entity}\t{title}\t\t\n" for entity, (title, _) in texts.items())
    (folder / "entities.tsv").write_text(f"id\tlabel\taliases\tdescription\n{entities}", "utf-8")
    (folder / "triples.tsv").write_text("".join("\t".join(fact) + "\n" for fact in facts), "utf-8")
    (folder / "relations.tsv").write_text("id\tlabel\nresidence\tresidence\ncountry\tcountry\ncapital\tcapital\n", "utf-8")
    (folder / "own.toml").write_text('extends = "wikidata"\nname = "own"\n[linking]\nlanguage = ""\narticles = ""\n', "utf-8")
    return folder


@pytest.mark.parametrize(
    ("language", "people"), [("tr", 18), *(pytest.param(language, 105, marks=pytest.mark.slow) for language in ("ko", "de"))]
)
def test_the_defaults_make_what_can_be_made(language: str, people: int, tmp_path: Path, cli: Cli) -> None:
    source = own_domain(tmp_path / "source", language, people)
    assert (source / "documents.jsonl").read_text("utf-8").count("\n") == {18: 30, 105: 170}[people]
    arguments = ["--domain", source / "own.toml", "--source", source, "--workspace", tmp_path / "w"]
    generated = cli("generate", *arguments)
    assert generated.status == 0, generated.err
    assert "these limits are turned off" in generated.out
    assert min(counts(tmp_path / "w" / "datasets" / "wikihop").values()) > 0
    composed = cli("compose", *arguments, "--filter", "lexical")
    assert composed.status == 0, composed.err
    result = counts(tmp_path / "w" / "datasets" / "musique")
    assert result["train"] > 0
    empty = [split for split in SPLITS if result[split] == 0]
    assert people < 100 or not empty
    limit = f"Nothing is left for {' and '.join(empty)}: too many questions share an answer"
    assert (limit in " ".join(composed.out.split())) == bool(empty)

    for dataset in ("wikihop", "musique"):
        card = (tmp_path / "w" / "datasets" / dataset / "README.md").read_text("utf-8")
        content = json.loads(card.partition("```json\n")[2].partition("\n```")[0])
        assert set(content) == set(OF_RECIPES.names)
        for section in ("How to load it", "Fields", "Limits", "Licence", "Citation"):
            assert card.count(f"\n## {section}\n") == 1
        assert not [word for word in ("cc-by-sa", "Wikipedia contributors", "Freebase") if word in card]


def counts(dataset: Path) -> dict[str, int]:
    return {split: sum(1 for _ in open_dataset(dataset).read(split)) for split in SPLITS}


def museums(folder: Path, count: int) -> Path:
    """Museums of one town whose articles name the town, and not the country that they are asked for: no two hops in a row."""
    folder.mkdir()
    names = {"town": "Arvik", "f": "Fredonien", "s": "Silvanien", **{f"m{number}": f"Kunsthaus {number:02}" for number in range(count)}}
    articles = {"town": "Arvik liegt in Fredonien. Schiffe fahren von dort nach Silvanien."}
    articles |= {f"m{number}": f"Kunsthaus {number:02} steht in Arvik." for number in range(count)}
    documents = [{"id": f"d{each}", "title": names[each], "entity": each, "text": text} for each, text in articles.items()]
    (folder / "documents.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents), "utf-8")
    rows = "".join(f"{each}\t{name}\t\t\n" for each, name in [*names.items(), ("x", "Nordhaus"), ("y", "Westhaus")])
    (folder / "entities.tsv").write_text(f"id\tlabel\taliases\tdescription\n{rows}", "utf-8")
    facts = [(each, "f") for each in names if each.startswith("m")] + [("x", "s"), ("y", "s")]
    (folder / "triples.tsv").write_text("".join(f"{head}\tcountry\t{tail}\n" for head, tail in facts), "utf-8")
    (folder / "relations.tsv").write_text("id\tlabel\ncountry\tLand\n", "utf-8")
    return folder


OWN = (
    'extends = "wikidata"\nname = "own"\ndataset = "haushop"\n[qangaroo.evidence]\nuse = false\n'
    "[qangaroo.splits]\ntrain = 0.6\ndev = 0.2\ntest = 0.2\n"
)


def test_where_no_two_hops_stand_in_a_row_single_relations_are_asked_about(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "own.toml").write_text(OWN, "utf-8")
    source = museums(tmp_path / "source", 24)
    arguments = ["--domain", tmp_path / "own.toml", "--source", source, "--workspace", tmp_path / "w"]
    result = cli("generate", *arguments)
    assert result.status == 0, result.err
    sentence = (
        "about paths no sample is left: no two stated hops in a row lead from a subject to an answer, so single relations are asked about"
    )
    assert f"qangaroo.queries: {sentence}" in result.out
    dataset = tmp_path / "w" / "datasets" / "haushop"
    assert sentence in (dataset / "README.md").read_text("utf-8")
    manifest = json.loads((dataset / "manifest.json").read_text("utf-8"))
    assert manifest["settings"]["qangaroo"]["queries"] == "relations"
    assert manifest["settings"]["qangaroo"]["splits"]["train"] == 0.6  # what the user says stays
    assert manifest["funnel"][0]["setting"] == "qangaroo.queries"
    assert min(counts(dataset).values()) > 0
    before = (dataset / "dev.parquet").read_bytes()
    assert cli("generate", *arguments).status == 0
    assert (dataset / "dev.parquet").read_bytes() == before


def test_who_asks_about_paths_gets_paths_or_a_sentence(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "own.toml").write_text(f'{OWN}[qangaroo]\nqueries = "paths"\n', "utf-8")
    source = museums(tmp_path / "source", 24)
    refused = cli("generate", "--domain", tmp_path / "own.toml", "--source", source, "--workspace", tmp_path / "w")
    refused.sentence("no two stated hops in a row", 'qangaroo.queries = "relations"')


def test_where_neither_makes_a_sample_both_reasons_are_given(tmp_path: Path, cli: Cli) -> None:
    source = town_folk(tmp_path / "source", 18)
    refused = cli("generate", "--domain", source / "own.toml", "--source", source, "--workspace", tmp_path / "w")
    refused.sentence("about paths no sample is left", "about single relations no sample is left", "states the answer")


def test_relations_without_a_question_are_listed_with_the_reason(tmp_path: Path, cli: Cli) -> None:
    source = own_domain(tmp_path / "source", "tr", 60)
    with (source / "relations.tsv").open("a", encoding="utf-8") as file:
        file.write("made\tfounded by\nteam\tplays for\nfar\tpen friend\nskip\tcolour\n")
    people = [f"p{number}" for number in range(60)]
    facts = [f"{one}\tmade\t{other}\n" for one, other in pairwise(people)]
    facts += [f"{one}\tfar\t{other}\n" for one, other in zip(people[:40], people[20:], strict=False)]
    facts += ["p0\tskip\tp5\n"]
    with (source / "triples.tsv").open("a", encoding="utf-8") as file:
        file.writelines(facts)
    with (source / "own.toml").open("a", encoding="utf-8") as file:
        file.write('[musique]\nunasked = ["skip"]\n')
    result = cli("compose", "--domain", source / "own.toml", "--source", source, "--filter", "none", "--workspace", tmp_path / "w")
    assert result.status == 0, result.err
    text = "no question is asked about 3 relations that have facts: colour (musique.unasked leaves it out); founded by (its label makes no"
    assert text in result.out
    assert "pen friend (no text states any of its facts)" in result.out
    card = (tmp_path / "w" / "datasets" / "musique" / "README.md").read_text("utf-8")
    section = card.partition("## Relations without a question\n")[2].partition("\n## ")[0]
    assert [line.split(" | ")[:2] for line in section.splitlines() if line.startswith("| ")][2:] == [
        ["| colour", "1"], ["| founded by", "59"], ["| pen friend", "40"]
    ]  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name == "wikidata" else pytest.mark.slow) for name in built_in()])
def test_a_built_in_domain_uses_nothing_that_a_users_file_cannot(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The same files in a user's folder give the same samples."""
    seed = ROOT / "seeds" / name
    place = Path(shutil.copytree(seed, tmp_path / "place"))
    (place / "base.toml").write_text((ROOT / "kgqa" / "domains" / f"{name}.toml").read_text("utf-8"), "utf-8")
    (place / "own.toml").write_text('extends = "base.toml"\n' + (place / "domain.toml").read_text("utf-8"), "utf-8")
    has_imports = "[[imports]]" in (place / "domain.toml").read_text("utf-8")
    report = kgqa.generate(place / "own.toml", source=None if has_imports else seed, workspace=tmp_path / "w")
    (shipped,) = (request.getfixturevalue(f"seed_{name}") / "datasets").iterdir()
    assert min(report.counts.values()) > 0
    for split in SPLITS:
        assert (report.dataset / f"{split}.parquet").read_bytes() == (shipped / f"{split}.parquet").read_bytes()
