"""What guessers that only count reach on a masked twin, where all of them should be at chance.

``python -m benchmarks.masked DATASET`` prints, for the dev split, the accuracy of each in per cent and how far it is from chance, which is
the mean of 1 / candidates. Where several candidates have the best score, the answer counts as the share of them that it is.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from kgqa.formats import native
from kgqa.records import Instance

WORD = re.compile(r"___MASK\d+___|\w+")
Scores = Callable[[Instance, str], float]


def words(text: str) -> list[str]:
    """Placeholders as they are, other words in small letters."""
    return [word if word.startswith("___") else word.lower() for word in WORD.findall(text)]


def relation(instance: Instance) -> str:
    """Which relation is asked about."""
    return str(json.loads(instance.provenance or "{}")["relation"])


def max_mention() -> Scores:
    """How often the documents name the candidate."""
    counts: dict[str, Counter[str]] = {}

    def score(instance: Instance, candidate: str) -> float:
        if instance.id not in counts:
            counts[instance.id] = Counter(word for paragraph in instance.paragraphs for word in words(paragraph.text))
        return counts[instance.id][candidate]

    return score


def tf_idf(dev: list[Instance]) -> Scores:
    """The best score of any one document for the words of question and candidate."""
    texts = {(instance.id, i): Counter(words(p.text)) for instance in dev for i, p in enumerate(instance.paragraphs)}
    seen = Counter(word for text in texts.values() for word in text)

    def score(instance: Instance, candidate: str) -> float:
        asked = {*words(instance.question.replace("_", " ")), candidate}
        idf = {word: math.log(len(texts) / (seen[word] + 1)) + 1 for word in asked}
        return max(sum(texts[instance.id, i][word] * idf[word] for word in asked) for i in range(len(instance.paragraphs)))

    return score


def majority(train: Iterable[Instance]) -> Scores:
    """How often the candidate is right in train for the same relation."""
    right = Counter((relation(instance), instance.answers[0]) for instance in train)
    return lambda instance, candidate: right[relation(instance), candidate]


def document_cue(train: Iterable[Instance]) -> Scores:
    """How often the candidate is right in train beside one of the documents, for the document where that is most often."""
    right = Counter((paragraph.id, instance.answers[0]) for instance in train for paragraph in instance.paragraphs)
    return lambda instance, candidate: max(right[paragraph.id, candidate] for paragraph in instance.paragraphs)


def accuracy(dev: list[Instance], score: Scores) -> float:
    """Share of the answers that have the best score, alone or with others."""
    total = 0.0
    for instance in dev:
        scores = {candidate.text: score(instance, candidate.text) for candidate in instance.candidates or ()}
        best = [text for text, value in scores.items() if value == max(scores.values())]
        total += (instance.answers[0] in best) / len(best)
    return total / len(dev)


def main() -> None:
    """Read the masked twin of a dataset and print one line for each guesser."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    folder = parser.parse_args().dataset / "masked"
    train, dev = (list(native.read(folder / f"{split}.parquet")) for split in ("train", "dev"))
    chance = accuracy(dev, lambda *_: 0.0)
    guessers = {
        "max-mention": max_mention(), "TF-IDF": tf_idf(dev), "majority per query type": majority(train), "document-cue": document_cue(train)
    }  # fmt: skip
    print(f"{'chance':24} {100 * chance:5.1f}  ({len(dev):,} samples)")
    for name, score in guessers.items():
        reached = accuracy(dev, score)
        print(f"{name:24} {100 * reached:5.1f}  {100 * (reached - chance):+5.1f}")


if __name__ == "__main__":
    main()
