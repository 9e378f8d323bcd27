"""Defaults of the command line, the functions and the stores."""

from __future__ import annotations

from pathlib import Path

WORKSPACE = Path("kgqa-workspace")
RECIPE = "qangaroo"
COMPOSED = "musique"
"""What a dataset of composed questions is called."""
STORE = "embedded"
TRAVERSAL = "kernel"
SEED = 0
"""Of what is made, and of the doctor's graphs."""
DRAWS_SEED = 13
"""Of what is drawn from a set that is there: intervals, folds, what a contrast takes away."""
PORT = 8484
REVIEW_PORT = 8485
"""Another one, so that both pages can be open."""
REVIEW_SAMPLE = 100
"""As many as the authors of WikiHop read themselves."""
REVIEW_SPLIT = "all"
READER = "reader"
"""What a reader is called who does not say."""
RELATIONS_SORT = "kept"
SPLIT_BY = "group"
SPLIT_SHARES = "0.8,0.1,0.1"
"""Of train, dev and test."""
DOCTOR_QUERIES = 1000
"""Per store; some ten seconds."""
NO_ANSWER_PROBABILITY = 1.0
"""Above it SQuAD 2.0 takes the answer for none."""
GRAPH_HOPS = 1
GRAPH_LIMIT = 100
"""Relationships of a kind that are followed from a node."""
QUERY_SECONDS = 30.0
QUERY_MEMORY = 2 << 30
"""Bytes above what the opened graph takes."""
QUERY_ROWS = 1000
QUERY_BYTES = 64 << 20
"""Bytes of all rows of a query."""
