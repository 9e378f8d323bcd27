"""Parsers of Wikidata and other Wikibase repositories: the JSON dump, pages of XML with JSON inside, RDF, and a SPARQL endpoint."""
