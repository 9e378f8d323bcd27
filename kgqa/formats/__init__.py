"""Formats of question sets, one file each, all by way of :class:`~kgqa.records.Instance`."""
