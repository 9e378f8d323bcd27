// The hops of a chain: from a text to an entity that it mentions, and from an entity to the text about it.
// The graph: (:Document {id, row, title, text, usable})-[:MENTIONS {count}]->(:Entity {id, row, kind, label, description}),
// (:Entity)-[:FACT {relation, label}]->(:Entity), (:Entity)-[:ABOUT]->(:Document). Narrow a hop by a condition in WHERE.

// name: own_mentions
// purpose: from a text to every entity that it mentions; for persons alone, for example, add: AND e.kind = 'person'
// params: none
// returns: documents: strings, entities: strings
// stores: embedded, neo4j
MATCH (d:Document)-[:MENTIONS]->(e:Entity)
WHERE d.usable
WITH d.row / 1000 AS part, collect(d.id) AS documents, collect(e.id) AS entities
RETURN documents, entities
ORDER BY part

// name: own_articles
// purpose: from an entity to the text about it
// params: none
// returns: entities: strings, documents: strings
// stores: embedded, neo4j
MATCH (e:Entity)-[:ABOUT]->(d:Document)
WHERE d.usable
WITH d.row / 1000 AS part, collect(e.id) AS entities, collect(d.id) AS documents
RETURN entities, documents
ORDER BY part
