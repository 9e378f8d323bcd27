"""How well counts predict that a query about a path is useful: ``python -m benchmarks.usefulness``.

Fits the weights of :mod:`kgqa.recipes.qangaroo.usefulness` on the verdicts of language models in ``docs/readings/paths-*.tsv``, by logistic
regression, and tests them on folds that share no bridge with the part that the weights are fitted on. No person made these verdicts.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import rankdata

from benchmarks.measure import Section, Table, absent, data_folder
from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.parallel import Threads
from kgqa.commands.generate import prepared
from kgqa.progress import Silent
from kgqa.recipes.qangaroo.path_queries import path_names
from kgqa.recipes.qangaroo.questions import joined
from kgqa.recipes.qangaroo.traverse import PathSearch
from kgqa.recipes.qangaroo.usefulness import INTERCEPT, WEIGHTS, scaled
from kgqa.settings.qangaroo import QangarooSettings

TITLE = "Which queries about paths are useful"
READINGS = Path(__file__).parent.parent / "docs" / "readings"
SHARES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
FOLDS, PENALTY = 10, 0.3
"""Folds by bridge, and the inverse strength of the L2 penalty."""
Floats = npt.NDArray[np.float64]


def main() -> Section:
    """Fit and test on ``data/wikidata-long``."""
    source = data_folder("wikidata-long")
    if source is None:
        return Section(title=TITLE, skipped=absent("wikidata-long"))
    with tempfile.TemporaryDirectory() as folder:
        queries = measured(source, Path(folder))
    judged = verdicts().join(queries, on="id")
    measures, columns = judged.select(*WEIGHTS).to_numpy(), ("holds", "unique", "not trivial", "useful")
    labels = judged.with_columns(useful=pl.col("holds") & pl.col("unique") & pl.col("not trivial")).select(columns).to_numpy().astype(float)
    # Hashes of bridges, not draws, so that a new verdict does not move the others.
    fold = (text_hashes(pa.chunked_array([judged["bridge"].cast(pl.String).to_arrow().cast(pa.string())])) % np.uint64(FOLDS)).astype(int)
    rows = []
    for number, name in enumerate(columns):
        label, score = labels[:, number], np.zeros(len(labels))
        for held_out in range(FOLDS):
            test = fold == held_out
            score[test] = measures[test] @ fitted(measures[~test], label[~test])[1:]
        order = np.argsort(-score, kind="stable")
        shares = (f"{100 * label[order[: int(share * len(order))]].mean():.0f}" for share in SHARES)
        rows.append((name, f"{area(score, label):.2f}", *shares))
    weights = fitted(measures, labels[:, -1])
    named = [("(intercept)", f"{weights[0]:.2f}", f"{INTERCEPT:.2f}")]
    named += [(name, f"{weight:.2f}", f"{WEIGHTS[name]:.2f}") for name, weight in zip(WEIGHTS, weights[1:], strict=True)]
    return Section(
        title=TITLE,
        tables=[
            Table(
                title=f"Share of {len(judged):,} verdicts on {judged['id'].n_unique():,} queries, in per cent, among those ranked highest, "
                "on held-out bridges",
                columns=("verdict", "area under the curve", *(f"best {share:.0%}" for share in SHARES)),
                rows=rows,
            ),
            Table(title="Weights of the measures", columns=("measure", "fitted", "in kgqa"), rows=named),
        ],
    )


def measured(source: Path, workspace: Path) -> pl.DataFrame:
    """The queries of the default settings before usefulness is looked at: ``id``, ``bridge``, and the measures, scaled."""
    runner = prepared(
        "wikidata", recipe=None, source=source, workspace=workspace, seed=0, engine=Threads(), limit=None, store="embedded",
        traversal="kernel", neo4j=None, progress=Silent(),
    )  # fmt: skip
    runner.perform(last="read_texts")
    run = runner.run
    names = ("entities", "relations", "facts", "occurrences", "links", "edges", "mentions")
    tables = {**run.tables(*names), "documents": run.table("documents", columns=["id", "about", "text"])}
    search, settings = PathSearch(run=run, tables=tables), run.domain.settings.section(QangarooSettings)
    chains = search.finder(settings).chains(search.stated, search.linked).frame
    measures = search.usefulness(settings).measures(chains)
    relations = path_names(
        chains["first_class"].to_list(), chains["second_class"].to_list(), tables["relations"]["id"].to_pylist(), of=False
    )
    subjects = tables["entities"]["id"].combine_chunks().take(chains["subject"].to_arrow())
    hashes = text_hashes(joined(subjects, pa.array(relations)))
    frame = chains.with_columns(id=pl.Series(hashes), **{name: pl.Series(scaled(name, values)) for name, values in measures.items()})
    best = frame.sort(["confidence", "document", "bridge", "answer"], descending=[True, False, False, False])
    return best.unique("id", keep="first", maintain_order=True).select("id", "bridge", *WEIGHTS)


def verdicts() -> pl.DataFrame:
    """All verdicts: ``id`` (hash of the query), ``holds``, ``unique``, ``not trivial``."""
    rows = []
    for path in sorted(READINGS.glob("paths-*.tsv")):
        lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
        for row in csv.DictReader(lines, delimiter="\t"):
            rows.append(
                (
                    int(row["id"].rsplit("-", 1)[1], 16),
                    row["holds"] in {"yes", "follows", "likely"},
                    row["unique"] == "yes",
                    row["trivial"] == "no" if "trivial" in row else row["not_trivial"] == "yes",
                )
            )
    return pl.DataFrame(rows, {"id": pl.UInt64, "holds": pl.Boolean, "unique": pl.Boolean, "not trivial": pl.Boolean}, orient="row")


def fitted(measures: Floats, labels: Floats) -> Floats:
    """The intercept and the weights of a logistic regression with an L2 penalty on the weights."""
    inputs = np.column_stack([np.ones(len(measures)), measures])

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = inputs @ weights
        penalty = np.append(0.0, weights[1:])
        value = np.logaddexp(0, logits).sum() - labels @ logits + penalty @ penalty / (2 * PENALTY)
        return float(value), inputs.T @ (expit(logits) - labels) + penalty / PENALTY

    result: Floats = minimize(loss, np.zeros(inputs.shape[1]), jac=True, method="L-BFGS-B").x
    return result


def area(scores: Floats, labels: Floats) -> float:
    """The area under the ROC curve: the share of pairs of a positive and a negative in the right order.

    >>> area(np.array([0.9, 0.2, 0.4]), np.array([1.0, 0.0, 1.0]))
    1.0
    """
    positives = labels.sum()
    return float((rankdata(scores)[labels == 1].sum() - positives * (positives + 1) / 2) / (positives * (len(labels) - positives)))


if __name__ == "__main__":
    sys.stdout.write(main().plain() + "\n")
