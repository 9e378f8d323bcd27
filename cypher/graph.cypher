// For kgqa.graph; may be asked by name, but are not listed and may change.

// name: graph_entities
// purpose: entities with all that is said of them, by their ids
// params: entities: strings
// returns: id: string, row: integer, kind: string, label: string, description: string, aliases: strings, common: integer, documents: integer, facts: integer
// stores: embedded, neo4j
UNWIND $entities AS id
MATCH (e:Entity)
WHERE e.id = id
RETURN e.id AS id, e.row AS row, e.kind AS kind, e.label AS label, e.description AS description, CASE WHEN size(e.aliases) > 0 THEN e.aliases END AS aliases, e.common AS common, e.documents AS documents, e.facts AS facts
ORDER BY row

// name: graph_documents
// purpose: documents with all that is said of them, by their ids
// params: documents: strings
// returns: id: string, row: integer, title: string, text: string, usable: boolean
// stores: embedded, neo4j
UNWIND $documents AS id
MATCH (d:Document)
WHERE d.id = id
RETURN d.id AS id, d.row AS row, d.title AS title, d.text AS text, d.usable AS usable
ORDER BY row

// name: graph_facts
// purpose: the facts between any two of some entities
// params: entities: strings
// returns: head: string, tail: string, row: integer, relation: string, label: string
// stores: embedded, neo4j
UNWIND $entities AS id
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WHERE h.id = id AND t.id IN $entities
RETURN h.id AS head, t.id AS tail, f.row AS row, f.relation AS relation, f.label AS label
ORDER BY row

// name: graph_mentions
// purpose: which of some documents mention which of some entities, how often, and where first
// params: documents: strings, entities: strings
// returns: document: string, entity: string, count: integer, start: integer, stop: integer
// stores: embedded, neo4j
UNWIND $documents AS id
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
WHERE d.id = id AND e.id IN $entities
RETURN d.id AS document, e.id AS entity, m.count AS count, m.start AS start, m.stop AS stop
ORDER BY d.row, e.row

// name: graph_about
// purpose: which of some documents are the articles about which of some entities
// params: documents: strings, entities: strings
// returns: entity: string, document: string
// stores: embedded, neo4j
UNWIND $documents AS id
MATCH (e:Entity)-[a:ABOUT]->(d:Document)
WHERE d.id = id AND e.id IN $entities
RETURN e.id AS entity, d.id AS document
ORDER BY d.row, e.row
