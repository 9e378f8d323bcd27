"""Two examples at the end of each command's help; the tests run them in this order, in one folder."""

from __future__ import annotations

from typing import Any

_WIKIHOP = "kgqa-workspace/datasets/wikihop"
EXAMPLES = {
    "generate": ("kgqa generate --domain wikidata", "kgqa generate --domain medline --workspace medline --limit 300"),
    "compose": (
        "kgqa compose --domain companies --workspace companies",
        "kgqa compose --domain companies --workspace companies --name all --seed 1",
    ),
    "import": ("kgqa import edges facts.csv --out tables", "kgqa import texts articles.jsonl --out tables --licence cc0-1.0"),
    "init": (
        "kgqa init harbours --extends companies --title Harbours",
        "kgqa init museums --from edges:facts.csv --from texts:articles.jsonl",
    ),
    "validate": ("kgqa validate wikidata", "kgqa validate medline --workspace medline"),
    "estimate": ("kgqa estimate wikidata", "kgqa estimate companies --workspace companies --share 0.5"),
    "relations": ("kgqa relations wikidata --recipe entailed", "kgqa relations wikidata --recipe entailed --sort facts --out r.tsv"),
    "show": (f"kgqa show {_WIKIHOP}", f"kgqa show {_WIKIHOP} --masked"),
    "query": (
        "kgqa query hubs --limit 5",
        "kgqa query facts_about --entity Portugal",
    ),
    "load": (
        "kgqa load --store embedded --dataset wikihop",
        "kgqa load --store embedded --dataset wikihop --rejected",
    ),
    "export": (f"kgqa export {_WIKIHOP} --to qangaroo --out official", "kgqa export London.graphml --to graphml --entity London"),
    "explore": ("kgqa explore --port 0", "kgqa explore --workspace companies --port 0"),
    "convert": (
        "kgqa convert companies/datasets/musique --to musique --out musique",
        "kgqa convert musique --to native --out musique-native",
    ),
    "contrast": (
        "kgqa contrast probe companies/datasets/musique --out probe",
        f"kgqa contrast gold-chain {_WIKIHOP} --out gold-chain",
    ),
    "split": (
        f"kgqa split {_WIKIHOP} --out by-question --by question",
        "kgqa split companies/datasets/all --out halves --shares 0.5,0.25,0.25 --cut",
    ),
    "audit": (f"kgqa audit {_WIKIHOP}", f"kgqa audit {_WIKIHOP} --fail-on 'leakage>0'"),
    "train": (f"kgqa train tf-idf {_WIKIHOP} --out runs/tf-idf", f"kgqa train majority {_WIKIHOP} --out runs/majority"),
    "predict": (
        f"kgqa predict runs/tf-idf {_WIKIHOP} --out dev.json",
        f"kgqa predict runs/tf-idf {_WIKIHOP} --split test --out test.json",
    ),
    "evaluate": (f"kgqa evaluate {_WIKIHOP} dev.json", f"kgqa evaluate {_WIKIHOP} test.json --json scores.json"),
    "runs": ("kgqa runs runs", "kgqa runs runs --compare tf-idf majority"),
    "publish": (f"kgqa publish {_WIKIHOP} --to published --dry-run", f"kgqa publish {_WIKIHOP} --to published"),
    "doctor": ("kgqa doctor --queries 20", "kgqa doctor --queries 20 --seed 7 --script wrong.py"),
    "annotate": (f"kgqa annotate {_WIKIHOP} --port 0 --sample 5", f"kgqa annotate {_WIKIHOP} --print --sample 2"),
    "annotate serve": (
        f"kgqa annotate serve {_WIKIHOP} --port 0 --sample 5",
        "kgqa annotate serve companies/datasets/musique --port 0 --person ann",
    ),
    "annotate links": (f"kgqa annotate links {_WIKIHOP}", f"kgqa annotate links {_WIKIHOP} --days 7 --renew"),
    "annotate status": (f"kgqa annotate status {_WIKIHOP}", f"kgqa annotate status {_WIKIHOP} --json"),
    "annotate seat": (
        f"kgqa annotate seat {_WIKIHOP} --model small --limit 1",
        f"kgqa annotate seat {_WIKIHOP} --model small --person bot",
    ),
    "annotate export": (
        f"kgqa annotate export {_WIKIHOP} --to parquet --out answers",
        f"kgqa annotate export {_WIKIHOP} --to label-studio --out tasks",
    ),
    "annotate import": (
        f"kgqa annotate import {_WIKIHOP} done.json --person annotator",
        f"kgqa annotate import {_WIKIHOP} more.json --person annotator --annotator 1",
    ),
    "annotate figures": (f"kgqa annotate figures {_WIKIHOP} ann.tsv", f"kgqa annotate figures {_WIKIHOP} ann.tsv bob.tsv"),
    "annotate withdraw": (
        f"kgqa annotate withdraw {_WIKIHOP} annotator --reason 'left the project'",
        "kgqa annotate withdraw companies/datasets/musique ann --reason 'fell ill'",
    ),
}  # fmt: skip
"""Command, and sub-command → its examples."""


def with_examples(command: Any, name: str) -> Any:
    """The command with its examples, and those of its sub-commands, at the end of their help."""
    # A line with only \b keeps the lines that follow as they are.
    command.epilog = "\n".join(["\b", "Examples:", *(f"  {example}" for example in EXAMPLES[name])])
    for part, sub_command in getattr(command, "commands", {}).items():
        with_examples(sub_command, f"{name} {part}")
    return command
