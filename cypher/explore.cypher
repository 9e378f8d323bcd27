// name: bridge_entities
// purpose: entities that an entity's article shares with other documents, through which a question can hop
// params: entity: string, limit: integer = 50
// returns: bridge: string, label: string, documents: integer
// stores: embedded
MATCH (start:Entity)-[a:ABOUT]->(first:Document)-[m1:MENTIONS]->(bridge:Entity)<-[m2:MENTIONS]-(second:Document)
WHERE start.id = $entity AND first.id <> second.id AND bridge.id <> start.id
RETURN bridge.id AS bridge, bridge.label AS label, count(DISTINCT second.id) AS documents
ORDER BY documents DESC, bridge
LIMIT $limit

// name: bridges_between
// purpose: entities that stand beside both of two entities, in one document each
// params: entity: string, other: string, limit: integer = 50
// returns: bridge: string, label: string, documents: integer
// stores: embedded
MATCH (a:Entity)<-[m1:MENTIONS]-(first:Document)-[m2:MENTIONS]->(bridge:Entity)<-[m3:MENTIONS]-(second:Document)-[m4:MENTIONS]->(b:Entity)
WHERE a.id = $entity AND b.id = $other AND first.id <> second.id AND bridge.id <> a.id AND bridge.id <> b.id
RETURN bridge.id AS bridge, bridge.label AS label, count(DISTINCT first.id) + count(DISTINCT second.id) AS documents
ORDER BY documents DESC, bridge
LIMIT $limit

// name: connecting_documents
// purpose: documents that mention both of two entities
// params: entity: string, other: string, limit: integer = 50
// returns: document: string, title: string
// stores: embedded
MATCH (a:Entity)<-[m1:MENTIONS]-(d:Document)-[m2:MENTIONS]->(b:Entity)
WHERE a.id = $entity AND b.id = $other AND a.id <> b.id
RETURN d.id AS document, d.title AS title
ORDER BY document
LIMIT $limit

// name: facts_about
// purpose: the facts that begin or end at an entity
// params: entity: string, limit: integer = 50
// returns: head: string, head_label: string, relation: string, tail: string, tail_label: string
// stores: embedded
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WHERE h.id = $entity OR t.id = $entity
RETURN h.id AS head, h.label AS head_label, f.label AS relation, t.id AS tail, t.label AS tail_label
ORDER BY relation, head, tail
LIMIT $limit

// name: documents_mentioning
// purpose: the documents that mention an entity most often
// params: entity: string, limit: integer = 50
// returns: document: string, title: string, mentions: integer
// stores: embedded
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
WHERE e.id = $entity
RETURN d.id AS document, d.title AS title, m.count AS mentions
ORDER BY mentions DESC, document
LIMIT $limit

// name: entities_in
// purpose: the entities that a document mentions
// params: document: string, limit: integer = 100
// returns: entity: string, kind: string, label: string, mentions: integer
// stores: embedded
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
WHERE d.id = $document
RETURN e.id AS entity, e.kind AS kind, e.label AS label, m.count AS mentions
ORDER BY mentions DESC, entity
LIMIT $limit

// name: find_entity
// purpose: entities whose label contains a text, in any case
// params: text: string, limit: integer = 50
// returns: entity: string, kind: string, label: string, description: string
// stores: embedded
MATCH (e:Entity)
WHERE lower(e.label) CONTAINS lower($text)
RETURN e.id AS entity, e.kind AS kind, e.label AS label, e.description AS description
ORDER BY label, entity
LIMIT $limit

// name: hubs
// purpose: the entities that most documents mention
// params: limit: integer = 20
// returns: entity: string, label: string, documents: integer
// stores: embedded
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
RETURN e.id AS entity, e.label AS label, count(d.id) AS documents
ORDER BY documents DESC, entity
LIMIT $limit

// name: relation_counts
// purpose: how many facts each relation has, and how many distinct answers
// params: limit: integer = 50
// returns: relation: string, label: string, facts: integer, answers: integer
// stores: embedded
MATCH (h:Entity)-[f:FACT]->(t:Entity)
RETURN f.relation AS relation, f.label AS label, count(f.relation) AS facts, count(DISTINCT t.id) AS answers
ORDER BY facts DESC, relation
LIMIT $limit
