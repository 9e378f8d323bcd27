"""Small sets: a filter that would bite too hard is bent, and everywhere where the funnel stands it says so."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from kgqa.formats import native
from kgqa.records import SPLITS
from tests.conftest import Cli

MUSEUMS = 24
NO_SHORTCUT_BOUNDS = "position_share = 1\ncount_share = 1\ntrain_share = 1\n"


def source(folder: Path) -> Path:
    """So many museums of one city, each asked for its country, and another country with a museum that has no article."""
    folder.mkdir()
    names = {"city": "Port Alder", "f": "Freedonia", "s": "Sylvania", **{f"m{number}": f"Museum {number:02}" for number in range(MUSEUMS)}}
    articles = {"city": "Port Alder lies in Freedonia. Ships go from there to Sylvania."}
    articles |= {f"m{number}": f"Museum {number:02} is in Port Alder." for number in range(MUSEUMS)}
    documents = [{"id": f"d{id_}", "title": names[id_], "entity": id_, "text": text} for id_, text in articles.items()]
    (folder / "documents.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    others = {f"x{number}": f"Gallery {number:02}" for number in range(8)}
    rows = "".join(f"{id_}\t{name}\t\tsomething\n" for id_, name in (names | others).items())
    (folder / "entities.tsv").write_text(f"id\tlabel\taliases\tdescription\n{rows}")
    facts = [(museum, "f") for museum in names if museum.startswith("m")] + [(gallery, "s") for gallery in others]
    (folder / "triples.tsv").write_text("".join(f"{head}\tcountry\t{tail}\n" for head, tail in facts))
    (folder / "relations.tsv").write_text("id\tlabel\ncountry\tcountry\n")
    return folder


def made(folder: Path, cli: Cli, settings: str) -> tuple[str, Path, dict[str, Any]]:
    """What the run printed, the dataset and its manifest."""
    (folder / "own.toml").write_text(
        'extends = "wikidata"\n[qangaroo]\nqueries = "relations"\n[qangaroo.evidence]\nuse = false\n'
        + "[qangaroo.splits]\ntrain = 0.6\ndev = 0.2\ntest = 0.2\n"
        + settings
    )
    outcome = cli("generate", "--domain", folder / "own.toml", "--source", source(folder / "source"), "--workspace", folder / "w")
    assert outcome.status == 0, outcome.err
    dataset = folder / "w" / "datasets" / "wikihop"
    return outcome.out, dataset, json.loads((dataset / "manifest.json").read_text("utf-8"))


def check_said(out: str, dataset: Path, manifest: dict[str, Any], setting: str) -> list[str]:
    """The remarks of the funnel, all about ``setting``, which the console and the card have too."""
    remarks = [row for row in manifest["funnel"] if row["removed"] is None and row["left"] is None]
    card = (dataset / "README.md").read_text("utf-8")
    for row in remarks:
        assert row["setting"] == setting
        assert f"| {row['reason']} |" in card
        assert f"{setting}: {row['reason']}." in out.splitlines()
    return [row["reason"] for row in remarks]


def test_a_cap_of_less_than_one_sample_says_what_it_became(tmp_path: Path, cli: Cli) -> None:
    out, dataset, manifest = made(tmp_path, cli, f"[qangaroo.bias]\n{NO_SHORTCUT_BOUNDS}answer_cap = 0.005\ndocument_cue = 0\n")
    result = check_said(out, dataset, manifest, "qangaroo.bias.answer_cap")
    assert len(result) == 3
    assert sum(manifest["counts"].values()) == MUSEUMS
    for sentence, split in zip(result, ("train", "dev", "test"), strict=True):
        kept = Counter(row["answer_id"] for row in native.read_fields(dataset / f"{split}.parquet", "answer_id"))
        match = re.fullmatch(
            rf"0\.005 of the (\d+) samples of {split} is less than one; an answer keeps at most (\d+) of them, as .*", sentence
        )
        assert match
        assert max(kept.values()) == int(match[2]) > 1
        assert sum(kept.values()) == manifest["counts"][split] == int(match[1])


def test_a_cue_that_would_empty_every_split_says_what_it_became(tmp_path: Path, cli: Cli) -> None:
    out, dataset, manifest = made(
        tmp_path, cli, f"[qangaroo.bias]\n{NO_SHORTCUT_BOUNDS}answer_cap = 1\ndocument_cue = 1\ndocument_cue_drops = 'all'\n"
    )
    assert manifest["settings"]["qangaroo"]["bias"]["document_cue"] == 1
    result = check_said(out, dataset, manifest, "qangaroo.bias.document_cue")
    counts = manifest["counts"]
    assert min(counts[split] for split in SPLITS) > 1
    assert result == [
        f"with 1, nothing would be left of {split}; there a document may be seen with an answer {counts[split]:,} times" for split in SPLITS
    ]
