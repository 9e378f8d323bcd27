// For kgqa.store.names, which finds entities, documents and relations by their names; may be asked by name, but are not listed and may change.
// An empty text is in every name, as is the line feed before each: with OR a server would look at all nodes in place of its index.

// name: entities_with_id
// purpose: what the entities are that have these ids
// params: ids: strings
// returns: id: string, label: string, kind: string, description: string, documents: integer
// stores: embedded, neo4j
UNWIND $ids AS id
MATCH (e:Entity)
WHERE e.id = id
RETURN e.id AS id, e.label AS label, e.kind AS kind, e.description AS description, e.documents AS documents
ORDER BY e.row

// name: entities_named
// purpose: entities that bear exactly this name, as their label or as an alias, often mentioned ones first; text is the name as `search` has it, line feeds around it
// params: name: string, text: string
// returns: id: string, label: string, kind: string, description: string, documents: integer
// stores: embedded, neo4j
WITH CASE WHEN $text = '' THEN '\n' ELSE $text END AS wanted
MATCH (e:Entity)
WHERE e.search CONTAINS wanted AND (e.label = $name OR $name IN e.aliases)
RETURN e.id AS id, e.label AS label, e.kind AS kind, e.description AS description, e.documents AS documents
ORDER BY documents DESC, e.row

// name: entities_like
// purpose: entities whose names, as `search` has them, contain either of two texts: those named so, those with names that begin so, all others; of each often mentioned ones first
// params: text: string, also: string, limit: integer
// returns: id: string, label: string, kind: string, description: string, documents: integer, search: string
// stores: embedded, neo4j
WITH CASE WHEN $text = '' THEN '\n' ELSE $text END AS wanted, CASE WHEN $also = '' THEN '\n' ELSE $also END AS other
MATCH (e:Entity)
WHERE e.search CONTAINS wanted OR e.search CONTAINS other
WITH e, CASE WHEN e.search CONTAINS replace('\n*\n', '*', $text) THEN 0 WHEN e.search CONTAINS replace('\n*', '*', $text) THEN 1 ELSE 2 END AS rank
RETURN e.id AS id, e.label AS label, e.kind AS kind, e.description AS description, e.documents AS documents, e.search AS search
ORDER BY rank, documents DESC, e.row
LIMIT $limit

// name: documents_with_id
// purpose: what the documents are that have these ids
// params: ids: strings
// returns: id: string, label: string
// stores: embedded, neo4j
UNWIND $ids AS id
MATCH (d:Document)
WHERE d.id = id
RETURN d.id AS id, d.title AS label
ORDER BY d.row

// name: documents_named
// purpose: documents that bear exactly this title; text is the title as `search` has it, line feeds around it
// params: name: string, text: string
// returns: id: string, label: string
// stores: embedded, neo4j
WITH CASE WHEN $text = '' THEN '\n' ELSE $text END AS wanted
MATCH (d:Document)
WHERE d.search CONTAINS wanted AND d.title = $name
RETURN d.id AS id, d.title AS label
ORDER BY d.row

// name: documents_like
// purpose: documents whose title, as `search` has it, contains either of two texts: those called so, those whose title begins so, all others
// params: text: string, also: string, limit: integer
// returns: id: string, label: string, search: string
// stores: embedded, neo4j
WITH CASE WHEN $text = '' THEN '\n' ELSE $text END AS wanted, CASE WHEN $also = '' THEN '\n' ELSE $also END AS other
MATCH (d:Document)
WHERE d.search CONTAINS wanted OR d.search CONTAINS other
WITH d, CASE WHEN d.search CONTAINS replace('\n*\n', '*', $text) THEN 0 WHEN d.search CONTAINS replace('\n*', '*', $text) THEN 1 ELSE 2 END AS rank
RETURN d.id AS id, d.title AS label, d.search AS search
ORDER BY rank, d.row
LIMIT $limit

// name: relations_with_id
// purpose: what the relations are that have these ids; one has a row for each label that its facts have
// params: ids: strings
// returns: id: string, label: string, facts: integer
// stores: embedded, neo4j
UNWIND $ids AS id
MATCH (r:Relation)
WHERE r.id = id
RETURN r.id AS id, r.label AS label, r.facts AS facts
ORDER BY r.row

// name: relations_named
// purpose: relations that bear exactly this label, those with most facts first; text is the label as `search` has it, line feeds around it
// params: name: string, text: string
// returns: id: string, label: string, facts: integer
// stores: embedded, neo4j
WITH CASE WHEN $text = '' THEN '\n' ELSE $text END AS wanted
MATCH (r:Relation)
WHERE r.search CONTAINS wanted AND r.label = $name
RETURN r.id AS id, r.label AS label, r.facts AS facts
ORDER BY facts DESC, r.row

// name: relations_like
// purpose: relations whose label, as `search` has it, contains either of two texts: those called so, those whose label begins so, all others; of each those with most facts first
// params: text: string, also: string, limit: integer
// returns: id: string, label: string, facts: integer, search: string
// stores: embedded, neo4j
WITH CASE WHEN $text = '' THEN '\n' ELSE $text END AS wanted, CASE WHEN $also = '' THEN '\n' ELSE $also END AS other
MATCH (r:Relation)
WHERE r.search CONTAINS wanted OR r.search CONTAINS other
WITH r, CASE WHEN r.search CONTAINS replace('\n*\n', '*', $text) THEN 0 WHEN r.search CONTAINS replace('\n*', '*', $text) THEN 1 ELSE 2 END AS rank
RETURN r.id AS id, r.label AS label, r.facts AS facts, r.search AS search
ORDER BY rank, facts DESC, r.row
LIMIT $limit
