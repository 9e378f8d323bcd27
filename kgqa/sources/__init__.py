"""Readers of real formats, one file each; every one returns :class:`~kgqa.sources.tables.SourceTables`."""
