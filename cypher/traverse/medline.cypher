// For kgqa generate --traversal cypher; may be asked by name, but are not listed.

// name: medhop_candidates_1
// purpose: the entities that an entity reaches over one abstract, only through proteins
// params: entity: entity
// returns: candidate: string
// stores: embedded, neo4j
MATCH (s:Entity)<-[m1:MENTIONS]-(d1:Document)-[n1:MENTIONS]->(p1:Entity)
WHERE s.id = $entity AND d1.usable
OPTIONAL MATCH (s)-[f1:FACT]->(p1)
WHERE f1.relation = 'target' OR f1.relation = 'protein_interaction'
OPTIONAL MATCH (s)<-[g1:FACT]-(p1)
WHERE g1.relation = 'protein_interaction' OR g1.relation = 'target'
WITH s, d1, count(f1.relation) + count(g1.relation) AS beside
WHERE beside > 0
WITH DISTINCT s, d1
MATCH (d1)-[o1:MENTIONS]->(c:Entity)
WHERE c.row <> s.row
WITH s, d1, c
MATCH (d1)-[u1:MENTIONS]->(q1:Entity)
OPTIONAL MATCH (c)-[t1:FACT]->(q1)
WHERE t1.relation = 'target'
WITH s, d1, c, count(t1.relation) AS targets
WHERE c.kind = 'protein' OR targets > 0
WITH DISTINCT c
RETURN c.id AS candidate
ORDER BY c.row

// name: medhop_candidates_2
// purpose: the entities that an entity reaches over two abstracts, only through proteins
// params: entity: entity
// returns: candidate: string
// stores: embedded, neo4j
MATCH (s:Entity)<-[m1:MENTIONS]-(d1:Document)-[n1:MENTIONS]->(p1:Entity)
WHERE s.id = $entity AND d1.usable
OPTIONAL MATCH (s)-[f1:FACT]->(p1)
WHERE f1.relation = 'target' OR f1.relation = 'protein_interaction'
OPTIONAL MATCH (s)<-[g1:FACT]-(p1)
WHERE g1.relation = 'protein_interaction' OR g1.relation = 'target'
WITH s, d1, count(f1.relation) + count(g1.relation) AS beside
WHERE beside > 0
WITH DISTINCT s, d1
MATCH (d1)-[o1:MENTIONS]->(e1:Entity)
WITH s, d1, e1
MATCH (d1)-[u1:MENTIONS]->(q1:Entity)
OPTIONAL MATCH (e1)-[t1:FACT]->(q1)
WHERE t1.relation = 'target'
WITH s, d1, e1, count(t1.relation) AS targets
WHERE e1.kind = 'protein'
WITH DISTINCT s, e1
MATCH (e1)<-[m2:MENTIONS]-(d2:Document)-[n2:MENTIONS]->(p2:Entity)
WHERE d2.usable
OPTIONAL MATCH (e1)-[f2:FACT]->(p2)
WHERE f2.relation = 'target' OR f2.relation = 'protein_interaction'
OPTIONAL MATCH (e1)<-[g2:FACT]-(p2)
WHERE g2.relation = 'protein_interaction' OR g2.relation = 'target'
WITH s, e1, d2, count(f2.relation) + count(g2.relation) AS beside
WHERE beside > 0
WITH DISTINCT s, d2
MATCH (d2)-[o2:MENTIONS]->(c:Entity)
WHERE c.row <> s.row
WITH s, d2, c
MATCH (d2)-[u2:MENTIONS]->(q2:Entity)
OPTIONAL MATCH (c)-[t2:FACT]->(q2)
WHERE t2.relation = 'target'
WITH s, d2, c, count(t2.relation) AS targets
WHERE c.kind = 'protein' OR targets > 0
WITH DISTINCT c
RETURN c.id AS candidate
ORDER BY c.row

// name: medhop_candidates_3
// purpose: the entities that an entity reaches over three abstracts, only through proteins
// params: entity: entity
// returns: candidate: string
// stores: embedded, neo4j
MATCH (s:Entity)<-[m1:MENTIONS]-(d1:Document)-[n1:MENTIONS]->(p1:Entity)
WHERE s.id = $entity AND d1.usable
OPTIONAL MATCH (s)-[f1:FACT]->(p1)
WHERE f1.relation = 'target' OR f1.relation = 'protein_interaction'
OPTIONAL MATCH (s)<-[g1:FACT]-(p1)
WHERE g1.relation = 'protein_interaction' OR g1.relation = 'target'
WITH s, d1, count(f1.relation) + count(g1.relation) AS beside
WHERE beside > 0
WITH DISTINCT s, d1
MATCH (d1)-[o1:MENTIONS]->(e1:Entity)
WITH s, d1, e1
MATCH (d1)-[u1:MENTIONS]->(q1:Entity)
OPTIONAL MATCH (e1)-[t1:FACT]->(q1)
WHERE t1.relation = 'target'
WITH s, d1, e1, count(t1.relation) AS targets
WHERE e1.kind = 'protein'
WITH DISTINCT s, e1
MATCH (e1)<-[m2:MENTIONS]-(d2:Document)-[n2:MENTIONS]->(p2:Entity)
WHERE d2.usable
OPTIONAL MATCH (e1)-[f2:FACT]->(p2)
WHERE f2.relation = 'target' OR f2.relation = 'protein_interaction'
OPTIONAL MATCH (e1)<-[g2:FACT]-(p2)
WHERE g2.relation = 'protein_interaction' OR g2.relation = 'target'
WITH s, e1, d2, count(f2.relation) + count(g2.relation) AS beside
WHERE beside > 0
WITH DISTINCT s, d2
MATCH (d2)-[o2:MENTIONS]->(e2:Entity)
WITH s, d2, e2
MATCH (d2)-[u2:MENTIONS]->(q2:Entity)
OPTIONAL MATCH (e2)-[t2:FACT]->(q2)
WHERE t2.relation = 'target'
WITH s, d2, e2, count(t2.relation) AS targets
WHERE e2.kind = 'protein'
WITH DISTINCT s, e2
MATCH (e2)<-[m3:MENTIONS]-(d3:Document)-[n3:MENTIONS]->(p3:Entity)
WHERE d3.usable
OPTIONAL MATCH (e2)-[f3:FACT]->(p3)
WHERE f3.relation = 'target' OR f3.relation = 'protein_interaction'
OPTIONAL MATCH (e2)<-[g3:FACT]-(p3)
WHERE g3.relation = 'protein_interaction' OR g3.relation = 'target'
WITH s, e2, d3, count(f3.relation) + count(g3.relation) AS beside
WHERE beside > 0
WITH DISTINCT s, d3
MATCH (d3)-[o3:MENTIONS]->(c:Entity)
WHERE c.row <> s.row
WITH s, d3, c
MATCH (d3)-[u3:MENTIONS]->(q3:Entity)
OPTIONAL MATCH (c)-[t3:FACT]->(q3)
WHERE t3.relation = 'target'
WITH s, d3, c, count(t3.relation) AS targets
WHERE c.kind = 'protein' OR targets > 0
WITH DISTINCT c
RETURN c.id AS candidate
ORDER BY c.row

// name: medhop_chains_1
// purpose: chains of one abstract from an entity to given candidates, only over proteins. The abstract mentions a drug together with its target, or a protein together with its partner or a drug that targets it
// params: entity: entity, candidates: strings
// returns: candidate: string, document_1: string
// stores: embedded, neo4j
MATCH (s:Entity)<-[m1:MENTIONS]-(d1:Document)-[n1:MENTIONS]->(p1:Entity)
WHERE s.id = $entity AND d1.usable
OPTIONAL MATCH (s)-[f1:FACT]->(p1)
WHERE f1.relation = 'target' OR f1.relation = 'protein_interaction'
OPTIONAL MATCH (s)<-[g1:FACT]-(p1)
WHERE g1.relation = 'protein_interaction' OR g1.relation = 'target'
WITH s, d1, count(f1.relation) + count(g1.relation) AS beside
WHERE beside > 0
WITH s, d1
MATCH (d1)-[o1:MENTIONS]->(c:Entity)
WHERE c.id IN $candidates AND c.row <> s.row
WITH s, d1, c
MATCH (d1)-[u1:MENTIONS]->(q1:Entity)
OPTIONAL MATCH (c)-[t1:FACT]->(q1)
WHERE t1.relation = 'target'
WITH s, d1, c, count(t1.relation) AS targets
WHERE c.kind = 'protein' OR targets > 0
RETURN c.id AS candidate, d1.id AS document_1
ORDER BY c.row, d1.row

// name: medhop_chains_2
// purpose: the same for chains of two abstracts
// params: entity: entity, candidates: strings
// returns: candidate: string, document_1: string, entity_1: string, document_2: string
// stores: embedded, neo4j
MATCH (s:Entity)<-[m1:MENTIONS]-(d1:Document)-[n1:MENTIONS]->(p1:Entity)
WHERE s.id = $entity AND d1.usable
OPTIONAL MATCH (s)-[f1:FACT]->(p1)
WHERE f1.relation = 'target' OR f1.relation = 'protein_interaction'
OPTIONAL MATCH (s)<-[g1:FACT]-(p1)
WHERE g1.relation = 'protein_interaction' OR g1.relation = 'target'
WITH s, d1, count(f1.relation) + count(g1.relation) AS beside
WHERE beside > 0
WITH s, d1
MATCH (d1)-[o1:MENTIONS]->(e1:Entity)
WHERE e1.row <> s.row
WITH s, d1, e1
MATCH (d1)-[u1:MENTIONS]->(q1:Entity)
OPTIONAL MATCH (e1)-[t1:FACT]->(q1)
WHERE t1.relation = 'target'
WITH s, d1, e1, count(t1.relation) AS targets
WHERE e1.kind = 'protein'
WITH s, d1, e1
MATCH (e1)<-[m2:MENTIONS]-(d2:Document)-[n2:MENTIONS]->(p2:Entity)
WHERE d2.usable AND d2.row <> d1.row
OPTIONAL MATCH (e1)-[f2:FACT]->(p2)
WHERE f2.relation = 'target' OR f2.relation = 'protein_interaction'
OPTIONAL MATCH (e1)<-[g2:FACT]-(p2)
WHERE g2.relation = 'protein_interaction' OR g2.relation = 'target'
WITH s, d1, e1, d2, count(f2.relation) + count(g2.relation) AS beside
WHERE beside > 0
WITH s, d1, e1, d2
MATCH (d2)-[o2:MENTIONS]->(c:Entity)
WHERE c.id IN $candidates AND c.row <> s.row AND c.row <> e1.row
WITH s, d1, e1, d2, c
MATCH (d2)-[u2:MENTIONS]->(q2:Entity)
OPTIONAL MATCH (c)-[t2:FACT]->(q2)
WHERE t2.relation = 'target'
WITH s, d1, e1, d2, c, count(t2.relation) AS targets
WHERE c.kind = 'protein' OR targets > 0
RETURN c.id AS candidate, d1.id AS document_1, e1.id AS entity_1, d2.id AS document_2
ORDER BY c.row, d1.row, e1.row, d2.row

// name: medhop_chains_3
// purpose: the same for chains of three abstracts
// params: entity: entity, candidates: strings
// returns: candidate: string, document_1: string, entity_1: string, document_2: string, entity_2: string, document_3: string
// stores: embedded, neo4j
MATCH (s:Entity)<-[m1:MENTIONS]-(d1:Document)-[n1:MENTIONS]->(p1:Entity)
WHERE s.id = $entity AND d1.usable
OPTIONAL MATCH (s)-[f1:FACT]->(p1)
WHERE f1.relation = 'target' OR f1.relation = 'protein_interaction'
OPTIONAL MATCH (s)<-[g1:FACT]-(p1)
WHERE g1.relation = 'protein_interaction' OR g1.relation = 'target'
WITH s, d1, count(f1.relation) + count(g1.relation) AS beside
WHERE beside > 0
WITH s, d1
MATCH (d1)-[o1:MENTIONS]->(e1:Entity)
WHERE e1.row <> s.row
WITH s, d1, e1
MATCH (d1)-[u1:MENTIONS]->(q1:Entity)
OPTIONAL MATCH (e1)-[t1:FACT]->(q1)
WHERE t1.relation = 'target'
WITH s, d1, e1, count(t1.relation) AS targets
WHERE e1.kind = 'protein'
WITH s, d1, e1
MATCH (e1)<-[m2:MENTIONS]-(d2:Document)-[n2:MENTIONS]->(p2:Entity)
WHERE d2.usable AND d2.row <> d1.row
OPTIONAL MATCH (e1)-[f2:FACT]->(p2)
WHERE f2.relation = 'target' OR f2.relation = 'protein_interaction'
OPTIONAL MATCH (e1)<-[g2:FACT]-(p2)
WHERE g2.relation = 'protein_interaction' OR g2.relation = 'target'
WITH s, d1, e1, d2, count(f2.relation) + count(g2.relation) AS beside
WHERE beside > 0
WITH s, d1, e1, d2
MATCH (d2)-[o2:MENTIONS]->(e2:Entity)
WHERE e2.row <> s.row AND e2.row <> e1.row
WITH s, d1, e1, d2, e2
MATCH (d2)-[u2:MENTIONS]->(q2:Entity)
OPTIONAL MATCH (e2)-[t2:FACT]->(q2)
WHERE t2.relation = 'target'
WITH s, d1, e1, d2, e2, count(t2.relation) AS targets
WHERE e2.kind = 'protein'
WITH s, d1, e1, d2, e2
MATCH (e2)<-[m3:MENTIONS]-(d3:Document)-[n3:MENTIONS]->(p3:Entity)
WHERE d3.usable AND d3.row <> d1.row AND d3.row <> d2.row
OPTIONAL MATCH (e2)-[f3:FACT]->(p3)
WHERE f3.relation = 'target' OR f3.relation = 'protein_interaction'
OPTIONAL MATCH (e2)<-[g3:FACT]-(p3)
WHERE g3.relation = 'protein_interaction' OR g3.relation = 'target'
WITH s, d1, e1, d2, e2, d3, count(f3.relation) + count(g3.relation) AS beside
WHERE beside > 0
WITH s, d1, e1, d2, e2, d3
MATCH (d3)-[o3:MENTIONS]->(c:Entity)
WHERE c.id IN $candidates AND c.row <> s.row AND c.row <> e1.row AND c.row <> e2.row
WITH s, d1, e1, d2, e2, d3, c
MATCH (d3)-[u3:MENTIONS]->(q3:Entity)
OPTIONAL MATCH (c)-[t3:FACT]->(q3)
WHERE t3.relation = 'target'
WITH s, d1, e1, d2, e2, d3, c, count(t3.relation) AS targets
WHERE c.kind = 'protein' OR targets > 0
RETURN c.id AS candidate, d1.id AS document_1, e1.id AS entity_1, d2.id AS document_2, e2.id AS entity_2, d3.id AS document_3
ORDER BY c.row, d1.row, e1.row, d2.row, e2.row, d3.row
