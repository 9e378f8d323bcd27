// For kgqa.store.paths, which finds paths step by step; may be asked by name, but are not listed and may change.

// name: path_tails
// purpose: the tails of the facts of some entities, each once for each entity, with the documents that mention it and the facts in which it stands
// params: ids: strings
// returns: entity: string, other: string, row: integer, documents: integer, facts: integer
// stores: embedded, neo4j
UNWIND $ids AS id
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WHERE h.id = id
WITH DISTINCT h, t
RETURN h.id AS entity, t.id AS other, t.row AS row, t.documents AS documents, t.facts AS facts
ORDER BY row, h.row

// name: path_heads
// purpose: the heads of the facts about some entities, each once for each entity, with the documents that mention it and the facts in which it stands
// params: ids: strings
// returns: entity: string, other: string, row: integer, documents: integer, facts: integer
// stores: embedded, neo4j
UNWIND $ids AS id
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WHERE t.id = id
WITH DISTINCT h, t
RETURN t.id AS entity, h.id AS other, h.row AS row, h.documents AS documents, h.facts AS facts
ORDER BY row, t.row

// name: path_facts
// purpose: the facts between any two of some entities
// params: ids: strings
// returns: head: string, tail: string, relation: string, label: string
// stores: embedded, neo4j
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WHERE h.id IN $ids AND t.id IN $ids
RETURN h.id AS head, t.id AS tail, f.relation AS relation, f.label AS label
ORDER BY f.row

// name: path_documents
// purpose: documents that mention an entity together with any of others, in the order of page_shared_documents
// params: entity: string, others: strings
// returns: other: string, document: string, title: string, mentions: integer
// stores: embedded, neo4j
MATCH (a:Entity)<-[m1:MENTIONS]-(d:Document)-[m2:MENTIONS]->(b:Entity)
WHERE a.id = $entity AND b.id IN $others AND a.id <> b.id
WITH b.id AS other, b.row AS place, d.id AS document, d.title AS title, d.row AS row, m1.count + m2.count AS mentions, CASE WHEN m1.count < m2.count THEN m1.count ELSE m2.count END AS least
RETURN other, document, title, mentions
ORDER BY least DESC, mentions DESC, row, place

// name: path_companions
// purpose: entities that share a document with one of some entities, each once for each of these, with the documents that mention it
// params: ids: strings
// returns: entity: string, other: string, row: integer, documents: integer
// stores: embedded, neo4j
UNWIND $ids AS id
MATCH (a:Entity)<-[m1:MENTIONS]-(d:Document)-[m2:MENTIONS]->(b:Entity)
WHERE a.id = id AND b.id <> id
WITH DISTINCT a, b
RETURN a.id AS entity, b.id AS other, b.row AS row, b.documents AS documents
ORDER BY row, a.row
