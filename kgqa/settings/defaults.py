"""Defaults of the command line, the functions and the stores."""

from __future__ import annotations

WORKSPACE = "kgqa-workspace"
RECIPE = "qangaroo"
COMPOSED = "musique"
"""Name of a dataset of composed questions."""
LANGUAGE = "en"
"""Language of the texts of a new domain."""
STORE = "embedded"
TRAVERSAL = "kernel"
SEED = 0
"""Seed of datasets, and of the doctor's graphs."""
SHARE = 0.05
"""Share of a domain that is run to predict the rest."""
DRAWS_SEED = 13
"""Seed of draws from an existing set: intervals, folds, removals of a contrast."""
PORT = 8484
ANNOTATE_PORT = 8485
"""Another port, so that both pages can be open."""
LINK_DAYS = 60
"""Days until the link of an annotator expires."""
ANNOTATE_SAMPLE = 100
"""The number of samples that the authors of WikiHop read themselves."""
ANNOTATE_SPLIT = "all"
ANNOTATOR = "annotator"
"""Default name of an annotator."""
RELATIONS_SORT = "kept"
SPLIT_BY = "group"
SPLIT_SHARES = "0.8,0.1,0.1"
"""Shares of train, dev and test."""
DOCTOR_QUERIES = 1000
"""Queries per store; about ten seconds."""
NO_ANSWER_PROBABILITY = 1.0
"""Threshold above which SQuAD 2.0 counts a prediction as no answer."""
GRAPH_HOPS = 1
GRAPH_LIMIT = 100
"""Maximum relationships of a kind that are followed from a node."""
QUERY_SECONDS = 30.0
QUERY_MEMORY = 2 << 30
"""Bytes on top of the opened graph."""
QUERY_ROWS = 1000
QUERY_BYTES = 64 << 20
"""Bytes of all rows of a query."""
