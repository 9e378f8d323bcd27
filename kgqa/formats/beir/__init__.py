"""BEIR: a corpus, queries and judgements in one folder."""
