"""Step S5 (Trivedi et al. 2022): limit how much of a split one answer, last hop, relation, template or hop count may fill."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.recipes.musique.chains import Chains
from kgqa.recipes.musique.choice import ALWAYS
from kgqa.recipes.musique.composers.chain import Hop, referring
from kgqa.recipes.musique.measures import REFERENCE, without_names
from kgqa.recipes.musique.shapes import HOPS
from kgqa.recipes.musique.wording import ASKED
from kgqa.records import SPLITS
from kgqa.settings.musique import LeakageSettings

REASONS = {
    "answer": "its answer is the answer of too many other questions of its split",
    "last": "others of its split whose last hop says the same have its answer, and too many questions could be guessed so",
    "relation": "one of its relations is asked about in too many questions of its split",
    "template": "too many questions of its split have its template",
    "hops": "too many questions of its split have as many hops",
}
"""Reason for leaving out a chain → the sentence in reports."""
SETTINGS = {
    "answer": "max_answer_share", "last": "max_last_share", "relation": "max_relation_share", "template": "max_template_share",
    "hops": "shapes",
}  # fmt: skip
SMALL = 100
"""Questions of a split below which only answers and last hops are limited; in a small split any share is large."""
STEP = 0.96
"""The assumed size of a split shrinks by this factor until that many questions satisfy all limits."""


@dataclass(frozen=True, slots=True)
class Features:
    """The values of one chain that the limits count."""

    answer: str
    last: str
    """The words of its last hop, without bridges."""
    relations: tuple[str, ...]
    """Relations of all its facts; empty for questions that annotators wrote."""
    template: str
    hops: str


def features(chains: Chains) -> list[Features]:
    """The features of each chain, in order. O(chains)."""
    feature_rows = []
    entity = chains.rows["answer_entity"]
    for row, chain in enumerate(chains):
        last_hop = chain.hops[-1]
        place = int(chains.hops[row][len(chain.hops) - 1])
        of_hops = [f"{hop.kind} {'+'.join(hop.relations) or without_names(referring(hop))}" for hop in chain.hops]
        feature_rows.append(
            Features(
                answer=str(entity[place] or last_hop.answer.lower()),
                last=_last_words(last_hop),
                relations=tuple(relation for hop in chain.hops for relation in hop.relations),
                template=f"{chain.shape} {' / '.join(of_hops)}",
                hops=f"{HOPS[chain.shape]}hop",
            )
        )
    return feature_rows


def _last_words(last_hop: Hop) -> str:
    """The content of the last hop, independent of its wording: for facts, their relations and the names that are not bridges."""
    if last_hop.kind == ASKED:
        return REFERENCE.sub("#", referring(last_hop)).lower()
    bridges = {need.slot for need in last_hop.needs}
    names = ["#" if slot in bridges else name for slot, name in enumerate(last_hop.names)]
    return f"{last_hop.kind} {last_hop.noun} {' '.join(sorted(f'{of}={name}' for of, name in zip(last_hop.relations, names, strict=True)))}"


def excluded_chains(
    split: npt.NDArray[np.int8], draws: npt.NDArray[np.uint64], chain_features: list[Features], settings: LeakageSettings
) -> dict[int, str]:
    """Row of each chain that is left out of its split → key of ``REASONS``.

    Rare relations should keep most of their questions, so chains are sorted by how common their relations are, then by ``draws``. A second
    order puts long chains first; the order that keeps more chains wins. The limits depend on the number of questions that stay, so the
    largest size is taken whose questions keep them.
    """
    reasons: dict[int, str] = {}
    for number in range(len(SPLITS)):
        rows = np.flatnonzero(split == number).tolist()
        frequency = Counter(relation for row in rows for relation in set(chain_features[row].relations))
        # There are too few long questions for a share in every split, so this limit holds for train only.
        split_settings = settings if number == 0 else settings.model_copy(update={"shapes": {}})
        rarest_first = sorted(rows, key=lambda row: (_commonness(chain_features[row], frequency), int(draws[row]), row))
        order = _new_answers_first(rarest_first, chain_features)
        orders = [order, _long_first(order, chain_features)]
        options = [_excluded(order, chain_features, split_settings) for order in orders]
        reasons.update(options[0] if len(options[0]) <= len(options[1]) else options[1])
    return reasons


def _long_first(rows: list[int], chain_features: list[Features]) -> list[int]:
    """The same chains, those of three and four hops before the others."""
    return sorted(rows, key=lambda row: chain_features[row].hops == "2hop")


def _new_answers_first(rows: list[int], chain_features: list[Features]) -> list[int]:
    """The same chains, the first one of each answer before the others."""
    first_rows = {chain_features[row].answer: row for row in reversed(rows)}
    return sorted(rows, key=lambda row: first_rows[chain_features[row].answer] != row)


def _excluded(rows: list[int], chain_features: list[Features], settings: LeakageSettings) -> dict[int, str]:
    """Row → reason for the chains left out of one split, which are given in the order of preference."""
    # Limits are shares of the final size, which they change: shrink the assumed size until that many chains, and facts, keep the limits.
    facts_of = [len(chain_features[row].relations) for row in rows]
    size, facts = float(len(rows)), float(sum(facts_of))
    reasons = _over(rows, chain_features, settings, len(rows), facts)
    while size >= 1:
        kept_facts = sum(count for row, count in zip(rows, facts_of, strict=True) if row not in reasons)
        lacks_questions, lacks_facts = len(rows) - len(reasons) < size, kept_facts < facts
        if not lacks_questions and not lacks_facts:
            break
        size = min(size * STEP, size - 1) if lacks_questions else size
        facts = facts * STEP if lacks_facts else facts
        reasons = _over(rows, chain_features, settings, int(size), facts)
    return reasons


def _commonness(chain: Features, frequency: Counter[str]) -> float:
    """Mean frequency of its relations per hop; among chains of one kind the longer one comes first."""
    return sum(frequency[relation] for relation in chain.relations) / int(chain.hops[0])


def _over(rows: list[int], chain_features: list[Features], settings: LeakageSettings, size: int, facts: float) -> dict[int, str]:
    """Row → reason for the chains of one split that exceed the limits of ``size`` questions with that many ``facts``."""
    limits: dict[str, Callable[[str], float]] = {"answer": lambda _: max(ALWAYS, np.ceil(settings.max_answer_share * size))}
    if len(rows) >= SMALL:
        size = max(size, SMALL)
        limits["relation"] = lambda _: np.ceil(settings.max_relation_share * facts)
        limits["template"] = lambda _: np.ceil(settings.max_template_share * size)
        limits["hops"] = lambda key: np.ceil(settings.shapes.get(key, 1.0) * size)  # type: ignore[call-overload]
    counts: dict[str, Counter[str]] = {name: Counter() for name in limits}
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    top_counts = Counter[str]()
    guess_count, may = 0, max(ALWAYS, settings.max_last_share * size)
    reasons: dict[int, str] = {}
    for row in rows:
        chain = chain_features[row]
        keys = {name: chain.relations if name == "relation" else (str(getattr(chain, name)),) for name in limits}
        reason = next((name for name, values in keys.items() if any(counts[name][key] >= limits[name](key) for key in values)), "")
        of_last, top_count = answers[chain.last], top_counts[chain.last]
        next_top_count = max(top_count, of_last[chain.answer] + 1)
        gain = _guessable(next_top_count) - _guessable(top_count)
        if not reason and guess_count + gain > may and gain > 0:
            reason = "last"
        if reason:
            reasons[row] = reason
            continue
        guess_count += gain
        of_last[chain.answer] += 1
        top_counts[chain.last] = next_top_count
        for name, values in keys.items():
            counts[name].update(values)
    return reasons


def _guessable(top_count: int) -> int:
    """Number of questions with one last hop that share its most common answer, which ``top_count`` have; 0 where no answer repeats."""
    return top_count if top_count > 1 else 0
