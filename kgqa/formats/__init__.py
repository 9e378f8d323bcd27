"""Formats of question sets, each read into and written from :class:`~kgqa.records.Instance`.

A format is a module, or a folder with ``format.py``; ``registry`` lists them and says what a format must offer. All formats share
``json/``, ``instance_json``, ``faults`` and ``provenance``. ``question_set`` opens a set of any format, with ``recognise`` and
``text_files``.
"""
