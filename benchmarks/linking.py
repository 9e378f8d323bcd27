"""How fast names are found in texts, beside ``ahocorasick_rs`` with the same token boundaries and the same result.

``python -m benchmarks.linking``
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import ahocorasick_rs as ac
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.aho_corasick import IMPLEMENTATIONS, AhoCorasick, Patterns, batches, patterns, watched_names
from benchmarks.measure import Section, Table, absent, data_folder, in_turn, ratios, spread
from kgqa.arrays.parallel import Threads
from kgqa.arrays.texts import text_buffers
from kgqa.domains import load_domain
from kgqa.linking.dictionary import build_dictionary
from kgqa.linking.link import link_mentions, matched
from kgqa.linking.matcher import Spans, match
from kgqa.linking.resolve import resolve
from kgqa.linking.trie import build_trie
from kgqa.recipes.qangaroo.corpus import possible_candidates
from kgqa.settings.domain import DomainSettings
from kgqa.sources.layouts import LAYOUTS

TITLE = "Linking: names to mentions"
ROUNDS = 5


def main(*, rounds: int = ROUNDS) -> Section:
    """Measure on the real wikidata texts."""
    source = data_folder("wikidata")
    if source is None:
        return Section(title=TITLE, skipped=absent("wikidata"))
    return Section(title=TITLE, tables=measured(*read(source), rounds=rounds))


def read(source: Path | None) -> tuple[Mapping[str, pa.Table], DomainSettings]:
    """The tables and settings of the wikidata domain; its seed without ``source``."""
    domain = load_domain("wikidata", source=source)
    return dict(LAYOUTS[domain.settings.source.layout].read(domain.source)), domain.settings


def measured(tables: Mapping[str, pa.Table], settings: DomainSettings, *, rounds: int) -> list[Table]:
    """Build both, check that they find the same, then time them in turn."""
    texts = tables["documents"]["text"]
    megabytes = size_of(texts)
    with watched_names() as seen:
        begin = time.perf_counter()
        candidates = possible_candidates(tables, settings.qangaroo)
        # The competitor knows no names whose article is left out of the mention.
        linking = settings.linking.model_copy(update={"articles": ""})
        dictionary = build_dictionary(tables["names"], tables["entities"], linking, candidates, documents=tables["documents"])
        building = {"kgqa: the name rules and the trie": time.perf_counter() - begin}
    begin = time.perf_counter()
    build_trie(seen[0][0])
    building["kgqa: the trie alone"] = time.perf_counter() - begin
    found = patterns(*seen[0], dictionary)
    automaton, kinds = fastest(found, texts)

    ours = match(texts, dictionary, engine=Threads(1), occurrences=False, before_number=settings.linking.before_number)
    theirs, shared = automaton.match(texts)
    differing = differences(ours.mentions, theirs)
    assert not differing, f"{differing:,} mentions differ"
    assert shared == ours.shared, f"{shared:,} shared places instead of {ours.shared:,}"

    parts: dict[str, list[float]] = {"form": [], "automaton": [], "lookup": []}

    def competitor() -> None:
        automaton.match(texts)
        for part, values in parts.items():
            values.append(getattr(automaton.seconds, part))

    whole = build_dictionary(
        tables["names"], tables["entities"], settings.linking, candidates, documents=tables["documents"], facts=tables.get("facts")
    )
    cpu: dict[str, list[float]] = {"matching": [], "deciding": [], "link_mentions": []}

    def in_context() -> None:
        begin = time.process_time()
        matches, written = matched(tables, whole, settings.linking, engine=Threads(1))
        middle = time.process_time()
        resolve(matches.pairs, whole, written, tables, settings.linking)
        end = time.process_time()
        link_mentions(tables, settings.linking, settings.documents, candidates=candidates)
        for name, value in (("matching", middle - begin), ("deciding", end - middle), ("link_mentions", time.process_time() - end)):
            cpu[name].append(value)

    in_context()
    for values in cpu.values():
        values.clear()
    raw_automaton, raw_texts = raw_overlapping(seen[0][0], texts)

    def raw() -> None:
        for text in raw_texts:
            raw_automaton.find_matches_as_indexes(text, overlapping=True)

    seconds = in_turn(
        {
            "kgqa": lambda: (
                match(texts, dictionary, engine=Threads(1), occurrences=False, before_number=settings.linking.before_number).mentions
            ),
            "kgqa, occurrences too": lambda: (
                match(texts, dictionary, engine=Threads(1), before_number=settings.linking.before_number).mentions
            ),
            "ahocorasick_rs": competitor,
            "raw": raw,
            "in context": in_context,
        },
        rounds=rounds,
    )
    rows = [
        ("kgqa, one worker", seconds["kgqa"]),
        ("kgqa, one worker, with every occurrence of a possible candidate", seconds["kgqa, occurrences too"]),
        ("ahocorasick_rs, the same mentions", seconds["ahocorasick_rs"]),
        ("– of it the automaton alone (leftmost-longest, bytes)", parts["automaton"]),
        ("– of it texts to token form (NumPy)", parts["form"]),
        ("– of it matches to mentions (NumPy)", parts["lookup"]),
        ("ahocorasick_rs, overlapping, lower-cased texts, no boundaries, no result made of it", seconds["raw"]),
    ]
    speed = Table(
        title="Speed on one core",
        columns=("", "MB/s", "seconds", "time ÷ kgqa's"),
        rows=[
            (name, spread([megabytes / s for s in values], 1), spread(values), spread(ratios(values, seconds["kgqa"])))
            for name, values in rows
        ],
        notes=[
            f"{len(texts):,} texts, {megabytes:,.1f} MB, {tables['names'].num_rows:,} names before the rules and {len(seen[0][0]):,} "
            f"after them ({len(found[0]):,} patterns). "
            f"{rounds} rounds in turn; median and range. Megabytes count the unchanged texts.",
            f"Both find the same {len(ours.mentions.entity):,} mentions and leave out the same {ours.shared:,} shared names: 0 differences "
            "(checked before timing).",
        ],
    )
    return [speed, context_table(cpu, megabytes), kinds, building_table(building)]


def context_table(cpu: Mapping[str, list[float]], megabytes: float) -> Table:
    """What linking takes when each place is decided by its context."""
    both = [sum(pair) for pair in zip(cpu["matching"], cpu["deciding"], strict=True)]
    rows = [
        ("all places of all names, with every occurrence and the words next to them", cpu["matching"]),
        ("deciding what each place means", cpu["deciding"]),
        ("both: linking with context", both),
        ("link_mentions: also the name rules, the trie, titles and tables", cpu["link_mentions"]),
    ]
    return Table(
        title="Linking with context",
        columns=("", "MB/s per core", "seconds of processor time"),
        rows=[(name, spread([megabytes / s for s in values], 1), spread(values)) for name, values in rows],
        notes=["In the same rounds, after one that does not count. Processor time of all threads, because polars uses several."],
    )


def building_table(building: Mapping[str, float]) -> Table:
    """What the dictionaries cost, which the speed leaves out."""
    return Table(
        title="Building the dictionary, not in the speed above",
        columns=("", "seconds"),
        rows=[(name, f"{seconds:.2f}") for name, seconds in building.items()],
        notes=["One run. The table above has the time to build the automata."],
    )


def differences(ours: Spans, theirs: Spans) -> int:
    """How many mentions only one of the two has."""
    rows = [np.stack([s.document, s.start, s.end, s.entity], axis=1) for s in (ours, theirs)]
    if rows[0].shape == rows[1].shape and bool((rows[0] == rows[1]).all()):
        return 0
    return len(set(map(tuple, rows[0].tolist())) ^ set(map(tuple, rows[1].tolist())))


def raw_overlapping(names: pa.ChunkedArray, texts: pa.ChunkedArray) -> tuple[ac.BytesAhoCorasick, list[bytes]]:
    """The plainest use of the library, from which mentions would still have to be made: lower-cased names, all matches."""
    lower = sorted(set(pc.utf8_lower(names).to_pylist()) - {""})
    data, offsets = text_buffers(pc.utf8_lower(texts))
    automaton = ac.BytesAhoCorasick([name.encode() for name in lower], implementation=IMPLEMENTATIONS["contiguous NFA"])
    return automaton, [data[offsets[first] : offsets[last]].tobytes() for first, last in batches(offsets)]


def fastest(found: Patterns, texts: pa.ChunkedArray) -> tuple[AhoCorasick, Table]:
    """The library's fastest automaton for these patterns, and what each of them takes; one is held at a time."""
    megabytes = size_of(texts)
    building, alone = {}, {}
    for name in IMPLEMENTATIONS:
        begin = time.perf_counter()
        automaton = AhoCorasick.build(found, name)
        building[name] = time.perf_counter() - begin
        alone[name] = min(in_seconds(automaton, texts) for _ in range(2))
        del automaton
    chosen = min(alone, key=alone.__getitem__)
    table = Table(
        title="Automata of ahocorasick_rs",
        columns=("", "MB/s, automaton alone", "seconds to build"),
        rows=[(name, f"{megabytes / alone[name]:,.1f}", f"{building[name]:.1f}") for name in IMPLEMENTATIONS],
        notes=[f"Leftmost-longest on bytes, better of two runs. The comparison uses the {chosen}."],
    )
    return AhoCorasick.build(found, chosen), table


def in_seconds(automaton: AhoCorasick, texts: pa.ChunkedArray) -> float:
    """What the automaton alone takes."""
    automaton.match(texts)
    return automaton.seconds.automaton


def size_of(texts: pa.ChunkedArray) -> float:
    """Megabytes of UTF-8."""
    offsets = text_buffers(texts)[1]
    return int(offsets[-1] - offsets[0]) / 1e6


if __name__ == "__main__":
    print(main().plain())
