"""How long an audit takes, and how fast near-duplicates are found, beside ``datasketch`` with the same shingles.

``python -m benchmarks.audit``
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.measure import Section, Table, in_turn, ratios, spread
from benchmarks.process import python
from kgqa.arrays.tokens import word_hashes
from kgqa.formats import native
from kgqa.records import Instance, Paragraph
from kgqa.settings.workers import worker_count
from kgqa.splits.near_duplicates import BANDS, ROWS, THRESHOLD, near_duplicates
from kgqa.splits.shingles import Shingles, concatenate, shingle

TITLE = "Audit"
ROUNDS = 3
QUESTIONS, SHOWN = 20_000, 20
TEXTS, SAMPLE = 1_000_000, 10_000
CHUNK = 20_000
WORDS, WIDTH = 100, 3
VOCABULARY = 50_000
EVERY = 20
"""One text in so many is another one with a word changed."""


def main(*, rounds: int = ROUNDS, questions: int = QUESTIONS, texts: int = TEXTS, sample: int = SAMPLE) -> Section:
    """Measure on made-up texts."""
    return Section(title=TITLE, tables=[audit_table(questions), near_duplicate_table(texts), against_datasketch(sample, rounds)])


def made_texts(count: int, *, seed: int = 1) -> Iterator[list[str]]:
    """Texts of ``WORDS`` words of Zipf's kind, in chunks; near-duplicates stand anywhere in the same chunk."""
    rng = np.random.default_rng(seed)
    names = np.array([f"w{number}" for number in range(VOCABULARY)])
    for first in range(0, count, CHUNK):
        size = min(CHUNK, count - first)
        words = names[(VOCABULARY ** rng.random((size, WORDS))).astype(np.int64).clip(max=VOCABULARY - 1)]
        copies = np.arange(0, size - 1, EVERY)
        words[copies + 1] = words[copies]
        words[copies + 1, rng.integers(0, WORDS, len(copies))] = "changed"
        yield [" ".join(row) for row in words[rng.permutation(size)]]


def write_set(folder: Path, questions: int) -> None:
    """A native set of ``questions`` with ``SHOWN`` paragraphs each, half of them train; paragraphs come from a pool of half as many."""
    pool = [text for chunk in made_texts(questions * SHOWN // 2, seed=2) for text in chunk]
    rng = np.random.default_rng(3)
    for split, share in (("train", questions // 2), ("dev", questions - questions // 2)):
        native.write((instance(f"{split}-{number}", pool, rng) for number in range(share)), folder / f"{split}.parquet")


def instance(name: str, pool: list[str], rng: np.random.Generator) -> Instance:
    """Its question and answer are words of two of its paragraphs."""
    texts = [pool[place] for place in rng.integers(0, len(pool), SHOWN)]
    paragraphs = tuple(
        Paragraph(
            id=str(place), title=f"{text[:12]} {place}", text=text, supporting=place < 2, mentions=None, sentences=None,
            supporting_sentences=None,
        )
        for place, text in enumerate(texts)
    )  # fmt: skip
    words = texts[0].split()
    return Instance(
        id=name, question=f"Which {' '.join(words[:9])}?", paragraphs=paragraphs, answers=(texts[1].split()[5],), answer_id=None,
        answer_type="span", candidates=None, chains=None, decomposition=None, answerable=True, group=name, provenance=None,
    )  # fmt: skip


def audit_table(questions: int) -> Table:
    """The whole audit, in a process of its own, reading and report included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set"
        path.mkdir()
        write_set(path, questions)
        program = f"from kgqa.commands.audit import audit; audit({str(path)!r}, out={str(Path(folder) / 'out')!r})"
        python(["-c", program.replace(repr(str(path)), repr(str(small_set(Path(folder)))))])  # compile the kernels
        done = python(["-c", program])
    return Table(
        title=f"`kgqa audit` of {questions:,} questions with {SHOWN} paragraphs of {WORDS} words",
        columns=("", "seconds", "largest memory, GiB"),
        rows=[("all checks, report included", f"{done.seconds:.1f}", f"{done.gibibytes:.2f}")],
        notes=[
            "A separate process, kernels compiled before. Half of the questions are train. On average, a paragraph is in two questions."
        ],
    )


def small_set(folder: Path) -> Path:
    """Enough questions to compile everything."""
    path = folder / "small"
    path.mkdir()
    write_set(path, 40)
    return path


def near_duplicate_table(texts: int) -> Table:
    """Time and memory of finding near-duplicates, in a process of its own."""
    python(["-c", "from benchmarks.audit import search; search(2000)"])
    done = python(["-c", f"from benchmarks.audit import search; search({texts})"])
    found = json.loads(done.output.splitlines()[-1])
    return Table(
        title=f"Near-duplicates among {texts:,} texts of {WORDS} words",
        columns=("", "seconds", "largest memory, GiB"),
        rows=[
            ("texts to shingles", f"{found['shingling']:.1f}", ""),
            (f"signatures, buckets and verification, {worker_count()} threads", f"{found['searching']:.1f}", ""),
            ("both", f"{found['shingling'] + found['searching']:.1f}", f"{done.gibibytes:.2f}"),
        ],
        notes=[
            f"{found['pairs']:,} pairs found of {found['made']:,} that were made; each is at or above {THRESHOLD}. Memory is that of the "
            "process, which also makes the texts, in chunks."
        ],
    )


def search(texts: int) -> None:
    """Print, as JSON, what finding the near-duplicates of made-up texts took."""
    parts, shingling, made = [], 0.0, 0
    for chunk in made_texts(texts):
        column = pa.array(chunk)
        begin = time.perf_counter()
        parts.append(shingle(word_hashes(column), width=WIDTH))
        shingling += time.perf_counter() - begin
        made += len(range(0, len(chunk) - 1, EVERY))
    shingles = concatenate(parts)
    parts.clear()
    begin = time.perf_counter()
    pairs = len(near_duplicates(shingles))
    print(json.dumps({"shingling": shingling, "searching": time.perf_counter() - begin, "pairs": pairs, "made": made}))


def against_datasketch(sample: int, rounds: int) -> Table:
    """Both from the same shingles to verified pairs, which must be the same."""
    shingles = concatenate([shingle(word_hashes(pa.array(chunk)), width=WIDTH) for chunk in made_texts(sample)])
    found: dict[str, set[tuple[int, int]]] = {}

    def ours() -> None:
        pairs = near_duplicates(shingles)
        found["kgqa"] = set(zip(pairs.one.tolist(), pairs.other.tolist(), strict=True))

    def theirs() -> None:
        found["datasketch"] = datasketch_pairs(shingles)

    ours()
    seconds = in_turn({"kgqa": ours, "datasketch": theirs}, rounds=rounds)
    differing = found["kgqa"] ^ found["datasketch"]
    assert len(differing) <= len(found["kgqa"]) // 100, f"{len(differing):,} pairs differ"
    slower = ratios(seconds["datasketch"], seconds["kgqa"])
    return Table(
        title=f"Comparison with datasketch {version('datasketch')}: {sample:,} texts, from shingles to verified pairs",
        columns=("", "seconds", "time ÷ kgqa's"),
        rows=[
            (f"kgqa, {worker_count()} threads", spread(seconds["kgqa"]), "1.00"),
            ("datasketch", spread(seconds["datasketch"]), spread(slower, 1)),
        ],
        notes=[
            f"The same shingles, {BANDS} bands of {ROWS} hashes in both, candidates verified by the same comparison. "
            f"{len(found['kgqa']):,} and {len(found['datasketch']):,} pairs, {len(differing):,} found by one only."
        ],
    )


def datasketch_pairs(shingles: Shingles) -> set[tuple[int, int]]:
    """The pairs that ``MinHashLSH`` offers and that are at or above the threshold."""
    from datasketch import MinHash, MinHashLSH  # type: ignore[import-untyped]

    lsh = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    raw = [
        [value.tobytes() for value in shingles.values[first:last]]
        for first, last in zip(shingles.offsets[:-1], shingles.offsets[1:], strict=True)
    ]
    candidates: list[tuple[int, int]] = []
    for number, signature in enumerate(MinHash.generator(raw, num_perm=BANDS * ROWS)):
        candidates += [(other, number) for other in lsh.query(signature)]
        lsh.insert(number, signature)
    one, other = (np.array(part, np.int64) for part in zip(*candidates, strict=True))
    alike = shingles.jaccard(one, other) >= THRESHOLD
    return set(zip(one[alike].tolist(), other[alike].tolist(), strict=True))


if __name__ == "__main__":
    print(main().plain())
