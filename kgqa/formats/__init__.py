"""Formats of question sets, all by way of :class:`~kgqa.records.Instance`: a module each, or a folder with ``format.py``; ``registry``
lists them. Beside them stands what all share: ``json/``, ``question_set``, ``faults``, ``provenance``, ``base``.
"""
