"""The dataset card (after step S8, Trivedi et al. 2022) of composed questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from kgqa.recipes import papers
from kgqa.recipes.card import SAMPLES, percent, with_steps, write_recipe_card
from kgqa.recipes.musique.measures import MEASURES, evenness, set_measures
from kgqa.recipes.musique.shortcut_baselines import HOPS, SCORES, unlearned
from kgqa.recipes.musique.unasked_relations import WHY, SilentRelation
from kgqa.records import SPLITS, Instance
from kgqa.runs.card import escaped, funnel_table, table
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run
from kgqa.settings.musique import COMPOSERS, FILTERS, SHAPES, MusiqueSettings
from kgqa.splits.certificate import Certificate

ABOUT = (
    "Questions of two to four hops, composed from single-hop ones by kgqa with the recipe of MuSiQue (Trivedi et al. 2022): pairs whose "
    "second question names the answer to the first, without those that can be answered without it; six reasoning graphs; splits that "
    "share no single-hop question, answer or paragraph; contexts whose distractors are paragraphs of other questions. `full/` holds every "
    "question once more with its unanswerable twin, in whose context one hop has no answer. `rejected.parquet` lists what was left out."
)
FACTS_LIMITS = (
    "Single-hop questions are made from facts by templates. That a paragraph states a fact is what a model says that is learned from the "
    "facts, and that a question has one answer from the graph, which is taken to be complete and is not: others may have what a question "
    "asks for, "
    "though relations that mostly have several answers are not asked about (`musique.single_hop.functional`, `by_chance`). "
    "Part of the facts is read out "
    "of articles by a model that is learned from the facts (`musique.single_hop.reading`); each question's provenance says which."
)
"""The card's limits for questions from a graph, where the domain file gives none."""
UNFILTERED = (
    "**No disconnection filter was used: for comparison only, as part of the questions can be answered without all of their hops.**"
)
UNLEARNED = (
    "**The filter's readers answer {hops} no better than guesses: they have learned nothing, so passing the filter means nothing. Use more "
    "questions, other readers, or longer training (`musique.disconnection`).**"
)
UNTOLD = (
    "They find supporting paragraphs no better than guesses, so tails were filtered by their answers alone "
    "(`musique.disconnection.tail_at_most`)."
)


def write_dataset_card(
    folder: Path,
    run: Run,
    *,
    splits: Mapping[str, Sequence[Instance]],
    shapes: Mapping[str, Mapping[str, int]],
    funnel: Iterable[FunnelRow],
    proof: Certificate,
    unpaired_count: int,
    filter_figures: Mapping[str, Any],
    guess_figures: Mapping[str, Mapping[str, Any]],
    silent: Sequence[SilentRelation],
    idle: Sequence[str],
) -> dict[str, Any]:
    """Write the card (:func:`write_recipe_card`)."""
    musique = run.section(MusiqueSettings)
    composer, filter_name = musique.composition.composer, musique.disconnection.use
    warning = f"\n\n{UNFILTERED}" if filter_name == "none" else ""
    random = (
        "" if musique.split.leak_free else "\n\n**Split at random, for comparison only: splits share questions, answers and paragraphs.**"
    )
    sections = [
        f"Questions without a twin: {unpaired_count:,}.",
        "## What was dropped, and why\n\n" + funnel_table(funnel),
        *([_silent(silent, idle)] if silent or idle else []),
        f"## How the questions were written\n\nBy `{composer}`: {COMPOSERS[composer]}. Disconnected pairs "
        f"were found by `{filter_name}`{': ' + FILTERS[filter_name] if filter_name in FILTERS else ''}.",
        "## Shortcut baselines\n\n" + _guessed(filter_figures, guess_figures),
        "## Shortcuts and balance\n\n" + _given_away(splits),
        "## Splits\n\n" + proof.to_markdown().strip(),
        "## Samples\n\n" + "\n".join(map(with_steps, islice(chain.from_iterable(splits.values()), SAMPLES))),
    ]
    counts = {split: len(instances) for split, instances in splits.items()}
    return write_recipe_card(
        folder,
        run,
        "musique",
        about=ABOUT + warning + random,
        counts=counts,
        size=table(["split", "questions", *SHAPES], [_size(split, counts, shapes) for split in SPLITS]),
        sections=sections,
        paper=papers.MUSIQUE,
        twins=("full",),
    )


def _silent(silent: Sequence[SilentRelation], idle: Sequence[str]) -> str:
    parts = ["## Relations without a question"]
    if silent:
        rows = [[escaped(relation.label), f"{relation.facts:,}", WHY[relation.why]] for relation in silent]
        parts += ["No single-hop question is asked about these relations:", table(["relation", "facts", "why"], rows)]
    if idle:
        parts.append(
            "No composed question uses these templates, because their single-hop questions fit into no chain, or a filter or limit removed "
            f"them all: {', '.join(map(escaped, idle))}."
        )
    return "\n\n".join(parts)


def _guessed(filter_figures: Mapping[str, Any], set_figures: Mapping[str, Mapping[str, Any]]) -> str:
    sides = ("before the filter", "after it")
    parts = ["In per cent, with 95% bootstrap intervals."]
    if filter_figures:
        hops = filter_figures["hops"]
        rows = [[HOPS[name], f"{100 * of['chance']:.1f}", _interval(of["before"]), _interval(of["after"])] for name, of in hops.items()]
        parts += ["Scores of the filter's readers on single hops:", table(["", "guesses", *sides], rows)]
        if untrained_note := unlearned(hops):
            parts.append(UNLEARNED.format(hops=" and ".join(untrained_note)))
        if not filter_figures["tells_support"]:
            parts.append(UNTOLD)
        rows = [
            [name, meaning, *(_interval(filter_figures["pairs"][side][name]) for side in ("before", "after"))]
            for name, meaning in SCORES.items()
        ]
        parts.append(
            "Answer F1 of lexical readers on composable pairs as two-hop questions: the same number before and after the filter, with "
            "splits of their own:"
        )
        parts.append(table(["", "what it is", *sides], rows))
    rows = [[name, meaning, _interval(set_figures[name])] for name, meaning in SCORES.items()]
    parts.append("The same readers, fitted on train, on dev and test (`kgqa audit --readers minimal` uses trained readers):")
    return "\n\n".join([*parts, table(["", "what it is", "answer F1"], rows)])


def _given_away(splits: Mapping[str, Sequence[Instance]]) -> str:
    measures, even = set_measures(splits), {split: evenness(instances) for split, instances in splits.items()}
    rows = [[name, MEASURES[name], percent(sum(scores) / len(scores)) if scores else "–"] for name, scores in measures.items()]
    columns = ["split", "different answers", "most frequent answer", "last step", "wording without names", "relation, of all facts", "hops"]
    by_split = [
        [
            split, f"{of.answers:,}", *map(percent, (of.answer, of.last, of.template, of.relation)),
            ", ".join(f"{number}: {percent(share)}" for number, share in of.hops.items()),
        ]
        for split, of in even.items()
    ]  # fmt: skip
    return "\n\n".join(["In per cent. No reader is used.", table(["", "what it is", "share"], rows), table(columns, by_split)])


def _interval(figure: Mapping[str, Any]) -> str:
    if figure["mean"] is None:
        return "–"
    return f"{100 * figure['mean']:.1f} ({100 * figure['low']:.1f} to {100 * figure['high']:.1f}) of {figure['of']:,}"


def _size(split: str, counts: Mapping[str, int], shapes: Mapping[str, Mapping[str, int]]) -> list[str]:
    return [split, f"{counts[split]:,}", *(f"{shapes[split].get(name, 0):,}" for name in SHAPES)]
