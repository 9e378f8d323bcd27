"""The public formats that ``kgqa import`` reads, each with the parser of its files."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any, cast

from kgqa.errors import SettingsError, suggestion
from kgqa.settings.base import Settings, plain_fault
from kgqa.settings.kinds import UNQUOTED, toml
from kgqa.sources.formats import Parser


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format; its parser is imported when it is used."""

    parser: str
    """``module:Class``; the class's fields are the format's options."""
    files: str
    """What the files are, for lists of formats."""
    licence: str
    """Licence of the files that the publisher offers, as the Hugging Face hub spells it."""
    attribution: str = ""
    """A sentence for the card."""
    domain: str = "wikidata"
    """The built-in domain whose rules fit such files."""

    def model(self) -> type[Settings]:
        """The parser's class, imported here; its fields are the options of the format."""
        module, name = self.parser.split(":")
        return cast(type[Settings], getattr(import_module(module), name))


FORMATS: dict[str, Format] = {
    "wikidata": Format(
        parser="kgqa.sources.wikibase.dump:WikidataJson",
        files="JSON dumps of Wikidata or another Wikibase, and Special:EntityData files",
        licence="cc0-1.0",
        attribution="Facts: Wikidata contributors (https://www.wikidata.org), CC0.",
    ),
    "wikipedia": Format(
        parser="kgqa.sources.mediawiki.dump:MediaWikiDump",
        files="pages-articles dumps of Wikipedia or another MediaWiki, in XML",
        licence="cc-by-sa-4.0",
        attribution="Articles: Wikipedia contributors (https://www.wikipedia.org), CC BY-SA.",
    ),
    "wikidata-rdf": Format(
        parser="kgqa.sources.wikibase.rdf:WikidataRdf",
        files="truthy N-Triples dumps of Wikidata or another Wikibase, and Turtle of Special:EntityData",
        licence="cc0-1.0",
        attribution="Facts: Wikidata contributors (https://www.wikidata.org), CC0.",
    ),
    "wikidata-xml": Format(
        parser="kgqa.sources.wikibase.pages:WikidataXml",
        files="pages-articles dumps of Wikidata, in XML with an entity's JSON on each page",
        licence="cc0-1.0",
        attribution="Facts: Wikidata contributors (https://www.wikidata.org), CC0.",
    ),
    "wikiextractor": Format(
        parser="kgqa.sources.mediawiki.extracted:WikiExtractor",
        files="JSON lines that WikiExtractor made of a dump, with or without links",
        licence="cc-by-sa-4.0",
        attribution="Articles: Wikipedia contributors (https://www.wikipedia.org), CC BY-SA.",
    ),
    "drugbank": Format(
        domain="medline",
        parser="kgqa.sources.biomedicine.drugbank:DrugBank",
        files="DrugBank's full database in XML",
        licence="cc-by-nc-4.0",
        attribution="Drugs: DrugBank (https://go.drugbank.com), CC BY-NC 4.0.",
    ),
    "drugbank-vocabulary": Format(
        domain="medline",
        parser="kgqa.sources.biomedicine.drugbank:DrugBankVocabulary",
        files="DrugBank's open vocabulary in CSV",
        licence="cc0-1.0",
        attribution="Names of drugs: DrugBank's open data (https://go.drugbank.com), CC0.",
    ),
    "pubmed": Format(
        domain="medline",
        parser="kgqa.sources.biomedicine.pubmed:PubMed",
        files="PubMed's baseline and update files in XML, in the order of their numbers",
        licence="other",
        attribution="Abstracts: U.S. National Library of Medicine (https://pubmed.ncbi.nlm.nih.gov); publishers may hold rights.",
    ),
    "uniprot": Format(
        domain="medline",
        parser="kgqa.sources.biomedicine.uniprot:UniProtXml",
        files="UniProtKB in XML",
        licence="cc-by-4.0",
        attribution="Proteins: UniProt (https://www.uniprot.org), CC BY 4.0.",
    ),
    "uniprot-text": Format(
        domain="medline",
        parser="kgqa.sources.biomedicine.uniprot:UniProtText",
        files="UniProtKB as flat text",
        licence="cc-by-4.0",
        attribution="Proteins: UniProt (https://www.uniprot.org), CC BY 4.0.",
    ),
    "reactome": Format(
        domain="medline",
        parser="kgqa.sources.biomedicine.reactome:Reactome",
        files="Reactome's interactions in PSI-MITAB or tab-separated, and its functional interactions",
        licence="cc0-1.0",
        attribution="Interactions: Reactome (https://reactome.org), CC0.",
    ),
    "pubtator": Format(
        parser="kgqa.sources.biomedicine.pubtator:PubTator",
        files="annotated abstracts in PubTator's format, such as BioRED",
        licence="unknown",
    ),
    "bioc": Format(
        parser="kgqa.sources.biomedicine.bioc:BioCXml",
        files="annotated texts in BioC's XML",
        licence="unknown",
    ),
    "bioc-json": Format(
        parser="kgqa.sources.biomedicine.bioc:BioCJson",
        files="annotated texts in BioC's JSON",
        licence="unknown",
    ),
    "drugprot": Format(
        parser="kgqa.sources.biomedicine.drugprot:DrugProt",
        files="abstracts of DrugProt or ChemProt, tab-separated",
        licence="cc-by-4.0",
        attribution="Annotations: DrugProt (https://doi.org/10.5281/zenodo.4955410), CC BY 4.0; the abstracts are their publishers'.",
    ),
    "docred": Format(
        parser="kgqa.sources.biomedicine.docred:DocRed",
        files="annotated articles in the JSON of DocRED or Re-DocRED",
        licence="unknown",
    ),
    "rdf": Format(parser="kgqa.sources.graphs.rdf:Rdf", files="N-Triples, N-Quads or Turtle of any vocabulary", licence="unknown"),
    "edges": Format(parser="kgqa.sources.graphs.edge_list:Edges", files="tables of edges, comma- or tab-separated", licence="unknown"),
    "nodes": Format(parser="kgqa.sources.graphs.edge_list:Nodes", files="tables of entities, to go with edges", licence="unknown"),
    "relations": Format(parser="kgqa.sources.graphs.edge_list:Relations", files="tables of relations, to go with edges", licence="unknown"),
    "graphml": Format(parser="kgqa.sources.graphs.graphml:GraphMl", files="GraphML", licence="unknown"),
    "sparql": Format(
        parser="kgqa.sources.wikibase.sparql:SparqlEndpoint",
        files="SELECT queries for a SPARQL endpoint, one a file",
        licence="unknown",
    ),
    "neo4j": Format(
        parser="kgqa.runs.neo4j_queries:Neo4jQueries",
        files="TOML files with Cypher queries for a Neo4j database",
        licence="unknown",
    ),
    "texts": Format(parser="kgqa.sources.graphs.texts:JsonTexts", files="JSON lines, a document each", licence="unknown"),
    "textfiles": Format(parser="kgqa.sources.graphs.texts:TextFiles", files=".txt files, a document each", licence="unknown"),
}
"""Name → format."""


def find_format(name: str) -> Format:
    """The format of this name. Raises SettingsError."""
    if name not in FORMATS:
        raise SettingsError(f"there is no format {name!r} to import; {suggestion(name, list(FORMATS))}")
    return FORMATS[name]


def parser_of(name: str, options: dict[str, Any]) -> Parser:
    """The parser of a format with these options. Raises SettingsError for one that it does not have, or a wrong value."""
    from pydantic import ValidationError

    model = find_format(name).model()
    for option in options:
        if option not in model.model_fields:
            hint = suggestion(option, list(model.model_fields)) if model.model_fields else "it has none."
            raise SettingsError(f"the format {name} has no option {option!r}; {hint}")
    try:
        return cast(Parser, model(**options))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        option = str(first["loc"][0]) if first["loc"] else ""
        if first["type"] == "missing":
            raise SettingsError(f"the format {name} needs the option {option}; give it as {option}=VALUE.") from None
        message = plain_fault(first).removesuffix(UNQUOTED)  # whoever gives the option on the command line wrote none
        shown_value = "so" if "://" in str(first["input"]) else toml(first["input"])  # an address may hold a password
        raise SettingsError(f"the option {option!r} of the format {name} cannot be {shown_value}: {message}.") from None


def describe_options(name: str) -> dict[str, tuple[str, str]]:
    """Option of a format → its default, and the docstring that says what it means."""
    model = find_format(name).model()
    texts = _attribute_docstrings(model)
    return {
        option: ("required" if field.is_required() else _as_option(field.get_default(call_default_factory=True)), texts.get(option, ""))
        for option, field in model.model_fields.items()
    }


def _as_option(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value)) or "none"
    return "none" if value is None or value in ("", {}) else str(value)


def _attribute_docstrings(model: type) -> dict[str, str]:
    """Name of a field → the string below it, of the class and its bases."""
    import ast

    result: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if base.__module__.startswith(("kgqa.sources", "kgqa.runs")):
            body = cast(ast.ClassDef, ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]).body
            for statement, text in pairwise(body):
                if isinstance(statement, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                    result[cast(ast.Name, statement.target).id] = " ".join(str(text.value.value).replace("``", "").split())
    return result
