"""The layouts of source files that are read, each by a module of this folder."""

from __future__ import annotations

from kgqa.sources import imported, medline, wikidata

LAYOUTS = {"wikidata": wikidata, "medline": medline, "import": imported}
