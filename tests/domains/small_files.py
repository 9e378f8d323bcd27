"""Raw files of a small graph: towns of invented lands, each with a text, as people have them before an import."""

from __future__ import annotations

import json
from pathlib import Path

LANDS = ["Silvanya", "Borduria", "Ruritania", "Graustark", "Lutha", "Karlsburg"]


def write_raw_files(folder: Path, *, towns: int = 60) -> None:
    """Write ``facts.csv``, ``places.tsv``, ``articles.jsonl``, and two files that are only named."""
    places = {f"t{number}": f"Torvik{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(towns)}
    rivers = {f"r{number}": f"Elvra{chr(97 + number)}" for number in range(12)}
    lands = {f"l{number}": land for number, land in enumerate(LANDS)}
    facts, texts = [], []
    for number, (id_, name) in enumerate(places.items()):
        river = f"r{number % 12}"
        facts += [(id_, "river", river), (id_, "land", f"l{number % 6}")]
        texts.append((id_, name, f"{name} is a town on the {rivers[river]}. It has a market and two bridges."))
    for number, (id_, name) in enumerate(rivers.items()):
        land = f"l{number % 6}"
        facts.append((id_, "flows_through", land))
        other = LANDS[(number + 1) % 6]
        texts.append((id_, name, f"The {name} is a river. It flows through {lands[land]}, and rises near {other}."))
    for id_, name in lands.items():
        texts.append((id_, name, f"{name} is a land of hills."))
    (folder / "facts.csv").write_text("head,relation,tail\n" + "".join(",".join(fact) + "\n" for fact in facts), "utf-8")
    everything = {**{id_: (name, "town") for id_, name in places.items()}, **{id_: (name, "river") for id_, name in rivers.items()}}
    everything |= {id_: (name, "land") for id_, name in lands.items()}
    rows = "".join(f"{id_}\t{name}\t{kind}\n" for id_, (name, kind) in everything.items())
    (folder / "places.tsv").write_text("id\tlabel\tdescription\n" + rows, "utf-8")
    lines = [json.dumps({"id": f"d-{id_}", "title": name, "about": id_, "text": text}) + "\n" for id_, name, text in texts]
    (folder / "articles.jsonl").write_text("".join(lines), "utf-8")
    (folder / "more[1].jsonl").write_text("", "utf-8")
    (folder / "dump.json").write_text("[]", "utf-8")
