"""Which questions of a split stay, so that nothing fills it: no answer, last hop, relation or template, and no number of hops (step S5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.recipes.musique.chains import Chains
from kgqa.recipes.musique.choice import ALWAYS
from kgqa.recipes.musique.composers.chain import referring
from kgqa.recipes.musique.measures import REFERENCE, without_names
from kgqa.recipes.musique.shapes import HOPS
from kgqa.recipes.musique.wording import ASKED
from kgqa.records import SPLITS
from kgqa.settings.musique import LeakageSettings

REASONS = {
    "answer": "its answer is the answer of too many other questions of its split",
    "last": "too many questions of its split whose last hop says the same have its answer",
    "relation": "one of its relations is asked about in too many questions of its split",
    "template": "too many questions of its split have its template",
    "hops": "too many questions of its split have as many hops",
}
"""Why a chain is left out → the sentence that reports show."""
SETTINGS = {
    "answer": "max_answer_share", "last": "max_last_share", "relation": "max_relation_share", "template": "max_template_share",
    "hops": "shapes",
}  # fmt: skip
SMALL = 100
"""Questions of a split below which only answers and last hops are counted: of few nearly everything is a large share."""
ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Features:
    """What is counted of one chain."""

    answer: str
    last: str
    """The words of its last hop, without bridges."""
    relations: tuple[str, ...]
    """Of all facts that it asks about; none of questions that somebody wrote."""
    template: str
    hops: str
    shape: str


def features(chains: Chains) -> list[Features]:
    """Of each chain. O(chains)."""
    found = []
    entity = chains.rows["answer_entity"]
    for row, chain in enumerate(chains):
        last = chain.hops[-1]
        place = int(chains.hops[row][len(chain.hops) - 1])
        of_hops = ["+".join(hop.relations) or without_names(referring(hop)) for hop in chain.hops]
        kinds = [hop.kind for hop in chain.hops]
        found.append(
            Features(
                answer=str(entity[place] or last.answer.lower()),
                last=_last_words(chains, row),
                relations=tuple(relation for hop in chain.hops for relation in hop.relations),
                template=f"{chain.shape} {' / '.join(f'{kind} {of}' for kind, of in zip(kinds, of_hops, strict=True))}",
                hops=f"{HOPS[chain.shape]}hop",
                shape=chain.shape,
            )
        )
    return found


def _last_words(chains: Chains, row: int) -> str:
    """What the last hop asks, whatever the form in which it does: of facts their relations and the names that are no bridges."""
    last = chains[row].hops[-1]
    if last.kind == ASKED:
        return REFERENCE.sub("#", referring(last)).lower()
    bridges = {need.slot for need in last.needs}
    names = ["#" if slot in bridges else name for slot, name in enumerate(last.names)]
    return f"{last.kind} {last.noun} {' '.join(sorted(f'{of}={name}' for of, name in zip(last.relations, names, strict=True)))}"


def evened(split: npt.NDArray[np.int8], draws: npt.NDArray[np.uint64], known: list[Features], settings: LeakageSettings) -> dict[int, str]:
    """Row of each chain that is left out of its split → key of ``REASONS``. Chains come in the order of their ``draws``.

    What is too much depends on how many stay, so that it is counted anew until nothing more goes.
    """
    gone: dict[int, str] = {}
    for number in range(len(SPLITS)):
        rows = np.flatnonzero(split == number)
        rows = rows[np.lexsort((rows, draws[rows]))].tolist()
        for _ in range(ROUNDS):
            lost = _over(rows, known, settings)
            gone.update(lost)
            rows = [row for row in rows if row not in lost]
            if not lost:
                break
    return gone


def _over(rows: list[int], known: list[Features], settings: LeakageSettings) -> dict[int, str]:
    """Of one split, what is beyond the limits that so many questions have."""
    count = len(rows)
    whole = count >= SMALL
    limits: dict[str, Callable[[str], float]] = {"answer": lambda _: max(ALWAYS, np.ceil(settings.max_answer_share * count))}
    of_last = Counter(known[row].last for row in rows)
    limits["last"] = lambda key: max(1, int(settings.max_last_share * of_last[key.partition("\0")[0]]))
    if whole:
        facts = sum(len(known[row].relations) for row in rows)
        limits["relation"] = lambda _: np.ceil(settings.max_relation_share * facts)
        limits["template"] = lambda _: np.ceil(settings.max_template_share * count)
        limits["hops"] = lambda key: np.ceil(settings.shapes.get(key, 1.0) * count)
    used: dict[str, Counter[str]] = {name: Counter() for name in limits}
    lost: dict[int, str] = {}
    for row in rows:
        keys = {name: list(_keys(name, known[row])) for name in limits}
        reason = next((name for name, some in keys.items() if any(used[name][key] >= limits[name](key) for key in some)), "")
        if reason:
            lost[row] = reason
            continue
        for name, some in keys.items():
            used[name].update(some)
    return lost


def _keys(name: str, chain: Features) -> Iterable[str]:
    if name == "relation":
        return chain.relations
    if name == "last":
        return (f"{chain.last}\0{chain.answer}",)
    return (str(getattr(chain, name)),)
