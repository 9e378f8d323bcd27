"""Parsers of the public formats of biomedicine: DrugBank, PubMed, UniProt, Reactome, and texts with annotated entities."""
