"""The rows of the graph of single-hop questions, the same for every store. It is separate from the graph of entities and documents.

question     ``row`` (in the sorted table of questions), ``id``, ``question``, ``answer``, ``tokens`` (words), ``paragraph`` (a number),
             ``entity`` (of the answer; empty if unknown), ``own`` (row of its answer as written; -1: it has no word),
             ``named`` (whether that is a named entity)
answer       ``row``, ``name``: names with the same words are one
subject      ``row``, ``entity``: what questions that were made from facts are about
answered_by  ``question``, ``answer`` (rows): all names of the answer; ``turn`` (place among the questions with this answer)
names        ``question``, ``answer``: which answers are named in the question; ``start``, ``stop`` (in characters), ``whole`` (whether it
             is no part of a longer name), ``turn`` (place among the questions that name it)
asks_about   ``question``, ``subject``, ``slot`` (place among the question's subjects)
composes     ``question``, ``other``: the second one names the answer to the first; ``row`` (in the table of pairs), ``start`` (of the
             name), ``bridge`` (row of the answer)

Numbers are 64 bits wide, and no value is null. Nodes are known by ``row`` and not by their text, as engines do not sort text alike.
"""

from __future__ import annotations

QUESTION_TABLES = ("question", "answer", "subject", "answered_by", "names", "asks_about", "composes")
"""Tables of nodes first, then those of relationships."""
