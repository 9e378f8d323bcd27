// For kgqa generate --traversal cypher; may be asked by name, but are not listed.

// name: wikihop_candidates_1
// purpose: the entities that an entity reaches over one document
// params: entity: entity
// returns: candidate: string
// stores: embedded, neo4j
MATCH (s:Entity)-[a1:ABOUT]->(d1:Document)-[m1:MENTIONS]->(e1:Entity)
WHERE s.id = $entity AND d1.usable AND e1.row <> s.row
WITH DISTINCT e1 AS c
RETURN c.id AS candidate
ORDER BY c.row

// name: wikihop_candidates_2
// purpose: the entities that an entity reaches over two documents
// params: entity: entity
// returns: candidate: string
// stores: embedded, neo4j
MATCH (s:Entity)-[a1:ABOUT]->(d1:Document)-[m1:MENTIONS]->(e1:Entity)
WHERE s.id = $entity AND d1.usable
WITH DISTINCT s, e1
MATCH (e1)-[a2:ABOUT]->(d2:Document)-[m2:MENTIONS]->(e2:Entity)
WHERE d2.usable AND e2.row <> s.row
WITH DISTINCT e2 AS c
RETURN c.id AS candidate
ORDER BY c.row

// name: wikihop_candidates_3
// purpose: the entities that an entity reaches over three documents
// params: entity: entity
// returns: candidate: string
// stores: embedded, neo4j
MATCH (s:Entity)-[a1:ABOUT]->(d1:Document)-[m1:MENTIONS]->(e1:Entity)
WHERE s.id = $entity AND d1.usable
WITH DISTINCT s, e1
MATCH (e1)-[a2:ABOUT]->(d2:Document)-[m2:MENTIONS]->(e2:Entity)
WHERE d2.usable
WITH DISTINCT s, e2
MATCH (e2)-[a3:ABOUT]->(d3:Document)-[m3:MENTIONS]->(e3:Entity)
WHERE d3.usable AND e3.row <> s.row
WITH DISTINCT e3 AS c
RETURN c.id AS candidate
ORDER BY c.row

// name: wikihop_chains_1
// purpose: chains of one document from an entity to given candidates (Welbl et al. 2018, section 3): from article to mention to the mention's own article
// params: entity: entity, candidates: strings
// returns: candidate: string, document_1: string
// stores: embedded, neo4j
MATCH (s:Entity)-[a1:ABOUT]->(d1:Document)-[m1:MENTIONS]->(c:Entity)
WHERE s.id = $entity AND c.id IN $candidates AND d1.usable AND c.row <> s.row
RETURN c.id AS candidate, d1.id AS document_1
ORDER BY c.row, d1.row

// name: wikihop_chains_2
// purpose: chains of two documents from an entity to given candidates (Welbl et al. 2018, section 3): from article to mention to the mention's own article
// params: entity: entity, candidates: strings
// returns: candidate: string, document_1: string, entity_1: string, document_2: string
// stores: embedded, neo4j
MATCH (s:Entity)-[a1:ABOUT]->(d1:Document)-[m1:MENTIONS]->(e1:Entity)
WHERE s.id = $entity AND d1.usable AND e1.row <> s.row
WITH s, d1, e1
MATCH (e1)-[a2:ABOUT]->(d2:Document)-[m2:MENTIONS]->(c:Entity)
WHERE c.id IN $candidates AND d2.usable AND d2.row <> d1.row AND c.row <> s.row AND c.row <> e1.row
RETURN c.id AS candidate, d1.id AS document_1, e1.id AS entity_1, d2.id AS document_2
ORDER BY c.row, d1.row, e1.row, d2.row

// name: wikihop_chains_3
// purpose: chains of three documents from an entity to given candidates (Welbl et al. 2018, section 3): from article to mention to the mention's own article
// params: entity: entity, candidates: strings
// returns: candidate: string, document_1: string, entity_1: string, document_2: string, entity_2: string, document_3: string
// stores: embedded, neo4j
MATCH (s:Entity)-[a1:ABOUT]->(d1:Document)-[m1:MENTIONS]->(e1:Entity)
WHERE s.id = $entity AND d1.usable AND e1.row <> s.row
WITH s, d1, e1
MATCH (e1)-[a2:ABOUT]->(d2:Document)-[m2:MENTIONS]->(e2:Entity)
WHERE d2.usable AND d2.row <> d1.row AND e2.row <> s.row AND e2.row <> e1.row
WITH s, d1, e1, d2, e2
MATCH (e2)-[a3:ABOUT]->(d3:Document)-[m3:MENTIONS]->(c:Entity)
WHERE c.id IN $candidates AND d3.usable AND d3.row <> d1.row AND d3.row <> d2.row AND c.row <> s.row AND c.row <> e1.row AND c.row <> e2.row
RETURN c.id AS candidate, d1.id AS document_1, e1.id AS entity_1, d2.id AS document_2, e2.id AS entity_2, d3.id AS document_3
ORDER BY c.row, d1.row, e1.row, d2.row, e2.row, d3.row
