// The hops of a chain: from a text to an entity that it mentions, and from an entity to a text that mentions it.
// The graph: (:Document {id, row, title, text, usable})-[:MENTIONS {count}]->(:Entity {id, row, kind, label, description}),
// (:Entity)-[:FACT {relation, label}]->(:Entity), (:Entity)-[:ABOUT]->(:Document). Narrow a hop by a condition in WHERE.

// name: own_mentions
// purpose: from a text to every entity that it mentions beside one with which a fact joins it
// params: none
// returns: documents: strings, entities: strings
// stores: embedded, neo4j
MATCH (d:Document)-[:MENTIONS]->(e:Entity)-[:FACT]-(other:Entity)<-[:MENTIONS]-(d)
WHERE d.usable
WITH DISTINCT d, e
WITH d.row / 1000 AS part, collect(d.id) AS documents, collect(e.id) AS entities
RETURN documents, entities
ORDER BY part

// name: own_mentioned
// purpose: the same hops in the other direction, from an entity to a text that mentions it beside one with which a fact joins it
// params: none
// returns: entities: strings, documents: strings
// stores: embedded, neo4j
MATCH (d:Document)-[:MENTIONS]->(e:Entity)-[:FACT]-(other:Entity)<-[:MENTIONS]-(d)
WHERE d.usable
WITH DISTINCT d, e
WITH d.row / 1000 AS part, collect(e.id) AS entities, collect(d.id) AS documents
RETURN entities, documents
ORDER BY part
