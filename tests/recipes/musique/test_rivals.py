"""Which chains can have a rival for each of the two facts by which a hop asks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from kgqa.recipes.musique.contexts import Stating
from kgqa.recipes.musique.pool import PARAGRAPHS, SINGLE_HOP, STATED
from kgqa.recipes.musique.rivals import Rivals


@pytest.mark.parametrize(
    ("text", "is_lone"),
    [
        ("Coria features Ann.", False),  # another film with Ann
        ("Coria features Ann, as Alien does with Bob.", True),  # it states the answer, so no context may have it
        ("", True),
    ],
)
def test_a_chain_is_lone_where_no_paragraph_may_rival_a_fact(text: str, is_lone: bool) -> None:
    """Alien features Ann and Bob. Dunia features Bob, too."""
    both = {
        "id": "q0", "source": "", "question": "Which film features Ann and Bob?", "answer": "Alien", "aliases": [], "paragraph": 0,
        "start": 0, "answer_entity": "alien", "kind": "both", "relations": ["cast", "cast"], "entities": ["ann", "bob"],
        "names": ["Ann", "Bob"],
        "called": ["Ann", "Bob"],
    }  # fmt: skip
    texts = ["Alien features Ann and Bob.", "Dunia features Bob.", *([text] if text else [])]
    paragraphs = pa.Table.from_pylist([{"id": f"p{row}", "title": f"t{row}", "text": words} for row, words in enumerate(texts)], PARAGRAPHS)
    facts = [("alien", "ann", 0), ("alien", "bob", 0), ("dunia", "bob", 1), *([("coria", "ann", 2)] if text else [])]
    stated = pa.Table.from_pylist(
        [{"template": "cast", "head": head, "tail": tail, "paragraph": f"p{row}"} for head, tail, row in facts], STATED
    )
    single_hop = pa.Table.from_pylist([both], SINGLE_HOP)
    rivals = Rivals.of(single_hop, paragraphs, stated, Stating.of(single_hop, paragraphs))
    assert rivals.lone(np.array([[0, -1, -1, -1]], np.int32)).tolist() == [is_lone]
