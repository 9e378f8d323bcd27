// For the pages of kgqa explore; may be asked by name, but are not listed and may change.

// name: page_entities
// purpose: what entities are called, by their ids
// params: ids: strings
// returns: entity: string, kind: string, label: string, description: string
// stores: embedded, neo4j
UNWIND $ids AS id
MATCH (e:Entity)
WHERE e.id = id
RETURN e.id AS entity, e.kind AS kind, e.label AS label, e.description AS description
ORDER BY e.row

// name: page_documents
// purpose: what documents are called, by their ids
// params: ids: strings
// returns: document: string, title: string, usable: boolean
// stores: embedded, neo4j
UNWIND $ids AS id
MATCH (d:Document)
WHERE d.id = id
RETURN d.id AS document, d.title AS title, d.usable AS usable
ORDER BY d.row

// name: page_text
// purpose: the text of a document
// params: document: string
// returns: text: string
// stores: embedded, neo4j
MATCH (d:Document)
WHERE d.id = $document
RETURN d.text AS text
ORDER BY d.row

// name: page_facts_from
// purpose: facts that begin at an entity, often mentioned tails first; relation may be empty: any
// params: entity: string, relation: string = '', limit: integer = 1000
// returns: entity: string, kind: string, label: string, relation: string, relation_label: string, documents: integer
// stores: embedded, neo4j
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WHERE h.id = $entity AND ($relation = '' OR f.relation = $relation)
WITH t, f.relation AS relation, f.label AS relation_label, f.row AS row, t.documents AS documents
RETURN t.id AS entity, t.kind AS kind, t.label AS label, relation, relation_label, documents
ORDER BY documents DESC, row
LIMIT $limit

// name: page_facts_to
// purpose: facts that end at an entity, often mentioned heads first; relation may be empty: any
// params: entity: string, relation: string = '', limit: integer = 1000
// returns: entity: string, kind: string, label: string, relation: string, relation_label: string, documents: integer
// stores: embedded, neo4j
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WHERE t.id = $entity AND ($relation = '' OR f.relation = $relation)
WITH h, f.relation AS relation, f.label AS relation_label, f.row AS row, h.documents AS documents
RETURN h.id AS entity, h.kind AS kind, h.label AS label, relation, relation_label, documents
ORDER BY documents DESC, row
LIMIT $limit

// name: page_relations_from
// purpose: how many facts of each relation begin at an entity
// params: entity: string
// returns: relation: string, label: string, facts: integer
// stores: embedded, neo4j
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WHERE h.id = $entity
WITH f.relation AS relation, f.label AS label, count(f.row) AS facts, min(f.row) AS row
RETURN relation, label, facts
ORDER BY facts DESC, row

// name: page_relations_to
// purpose: how many facts of each relation end at an entity
// params: entity: string
// returns: relation: string, label: string, facts: integer
// stores: embedded, neo4j
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WHERE t.id = $entity
WITH f.relation AS relation, f.label AS label, count(f.row) AS facts, min(f.row) AS row
RETURN relation, label, facts
ORDER BY facts DESC, row

// name: page_mentioned_in
// purpose: documents that mention an entity, most often first
// params: entity: string, limit: integer = 1000
// returns: document: string, title: string, mentions: integer
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
WHERE e.id = $entity
RETURN d.id AS document, d.title AS title, m.count AS mentions
ORDER BY mentions DESC, d.row
LIMIT $limit

// name: page_mentioned_in_count
// purpose: how many documents mention an entity
// params: entity: string
// returns: documents: integer
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
WHERE e.id = $entity
WITH count(m.count) AS documents
RETURN documents
ORDER BY documents

// name: page_articles
// purpose: the article about an entity
// params: entity: string
// returns: document: string, title: string
// stores: embedded, neo4j
MATCH (e:Entity)-[a:ABOUT]->(d:Document)
WHERE e.id = $entity
RETURN d.id AS document, d.title AS title
ORDER BY d.row

// name: page_subjects
// purpose: the entities that a document is the article about
// params: document: string
// returns: entity: string, kind: string, label: string
// stores: embedded, neo4j
MATCH (e:Entity)-[a:ABOUT]->(d:Document)
WHERE d.id = $document
RETURN e.id AS entity, e.kind AS kind, e.label AS label
ORDER BY e.row

// name: page_mentions
// purpose: entities that a document mentions, most often first
// params: document: string, limit: integer = 1000
// returns: entity: string, kind: string, label: string, mentions: integer
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
WHERE d.id = $document
RETURN e.id AS entity, e.kind AS kind, e.label AS label, m.count AS mentions
ORDER BY mentions DESC, e.row
LIMIT $limit

// name: page_mentions_count
// purpose: how many entities a document mentions
// params: document: string
// returns: entities: integer
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
WHERE d.id = $document
WITH count(m.count) AS entities
RETURN entities
ORDER BY entities

// name: page_shared_documents
// purpose: documents that mention both of two entities, those that mention both most often first
// params: entity: string, other: string, limit: integer = 10
// returns: document: string, title: string, mentions: integer
// stores: embedded, neo4j
MATCH (a:Entity)<-[m1:MENTIONS]-(d:Document)-[m2:MENTIONS]->(b:Entity)
WHERE a.id = $entity AND b.id = $other AND a.id <> b.id
WITH d.id AS document, d.title AS title, d.row AS row, m1.count + m2.count AS mentions, CASE WHEN m1.count < m2.count THEN m1.count ELSE m2.count END AS least
RETURN document, title, mentions
ORDER BY least DESC, mentions DESC, row
LIMIT $limit

// name: page_graph_size
// purpose: how many entities and documents the graph has
// params: none
// returns: entities: integer, documents: integer
// stores: embedded, neo4j
MATCH (e:Entity)
WITH count(e.row) AS entities
OPTIONAL MATCH (d:Document)
WITH entities, count(d.row) AS documents
RETURN entities, documents
ORDER BY entities

// name: page_facts_among
// purpose: facts whose both ends are among these entities
// params: ids: strings, limit: integer = 500
// returns: head: string, tail: string, relation: string, relation_label: string
// stores: embedded, neo4j
UNWIND $ids AS id
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WHERE h.id = id AND t.id IN $ids
WITH h, t, f.relation AS relation, f.label AS relation_label, f.row AS row
RETURN h.id AS head, t.id AS tail, relation, relation_label
ORDER BY row
LIMIT $limit

// name: page_mentions_among
// purpose: which of these documents mention which of these entities
// params: documents: strings, entities: strings, limit: integer = 500
// returns: document: string, entity: string
// stores: embedded, neo4j
UNWIND $documents AS id
MATCH (d:Document)-[:MENTIONS]->(e:Entity)
WHERE d.id = id AND e.id IN $entities
WITH DISTINCT d, e
RETURN d.id AS document, e.id AS entity
ORDER BY d.row, e.row
LIMIT $limit

// name: page_articles_among
// purpose: which of these documents are about which of these entities
// params: documents: strings, entities: strings
// returns: document: string, entity: string
// stores: embedded, neo4j
UNWIND $entities AS id
MATCH (e:Entity)-[:ABOUT]->(d:Document)
WHERE e.id = id AND d.id IN $documents
RETURN d.id AS document, e.id AS entity
ORDER BY d.row, e.row
