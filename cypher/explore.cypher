// For people: kgqa query --list shows them.

// name: find_entity
// purpose: entities with a label or alias that contains a text, in upper or lower case, the most mentioned first. A final sigma counts as any sigma, and a dotted capital I as an i
// params: text: string, limit: integer = 50
// returns: entity: string, kind: string, label: string, description: string, documents: integer
// stores: embedded, neo4j
// Where nothing is wanted, what stands before every name: with OR a server looks at each entity in place of its index.
WITH CASE WHEN $text = '' THEN '\n' ELSE replace(replace(toLower(replace($text, 'İ', 'i')), 'ς', 'σ'), '\n', ' ') END AS wanted
MATCH (e:Entity)
WHERE e.search CONTAINS wanted
RETURN e.id AS entity, e.kind AS kind, e.label AS label, e.description AS description, e.documents AS documents
ORDER BY documents DESC, e.row
LIMIT $limit

// name: bearers
// purpose: entities with exactly this name, as label or alias, and the number of documents that mention each
// params: name: string, limit: integer = 50
// returns: entity: string, kind: string, label: string, description: string, documents: integer
// stores: embedded, neo4j
WITH replace(replace(toLower(replace($name, 'İ', 'i')), 'ς', 'σ'), '\n', ' ') AS wanted
MATCH (e:Entity)
WHERE e.label = $name OR (e.search CONTAINS wanted AND $name IN e.aliases)
RETURN e.id AS entity, e.kind AS kind, e.label AS label, e.description AS description, e.documents AS documents
ORDER BY documents DESC, e.row
LIMIT $limit

// name: ambiguous_names
// purpose: labels that several entities have
// params: limit: integer = 50
// returns: label: string, entities: integer, first: string
// stores: embedded, neo4j
MATCH (e:Entity)
WHERE e.label > ''
WITH e.label AS label, count(e.row) AS entities, min(e.row) AS row
WHERE entities > 1
MATCH (f:Entity)
WHERE f.row = row
RETURN label, entities, f.id AS first
ORDER BY entities DESC, row
LIMIT $limit

// name: facts_about
// purpose: the facts that begin or end at an entity
// params: entity: entity, limit: integer = 50
// returns: head: string, head_label: string, relation: string, relation_label: string, tail: string, tail_label: string
// stores: embedded, neo4j
MATCH (e:Entity)-[f:FACT]-(o:Entity)
WHERE e.id = $entity
WITH e, f, o
ORDER BY f.row
LIMIT $limit
OPTIONAL MATCH (e)-[g:FACT]->(o)
WHERE g.row = f.row
WITH e, o, f.row AS row, f.relation AS relation, f.label AS relation_label, count(g.row) > 0 AS begins
WITH row, relation, relation_label, CASE WHEN begins THEN e.id ELSE o.id END AS head, CASE WHEN begins THEN e.label ELSE o.label END AS head_label,
  CASE WHEN begins THEN o.id ELSE e.id END AS tail, CASE WHEN begins THEN o.label ELSE e.label END AS tail_label
RETURN head, head_label, relation, relation_label, tail, tail_label
ORDER BY row

// name: neighbours
// purpose: the entities that share documents with an entity, with the number of documents and of facts in each direction
// params: entity: entity, limit: integer = 50
// returns: neighbour: string, label: string, documents: integer, facts_to: integer, facts_from: integer
// stores: embedded, neo4j
MATCH (e:Entity)<-[m1:MENTIONS]-(d:Document)-[m2:MENTIONS]->(n:Entity)
WHERE e.id = $entity AND n.row <> e.row
WITH e, n, count(DISTINCT d.row) AS documents
ORDER BY documents DESC, n.row
LIMIT $limit
OPTIONAL MATCH (e)-[f:FACT]->(n)
WITH e, n, documents, count(f.row) AS facts_to
OPTIONAL MATCH (n)-[g:FACT]->(e)
WITH n, documents, facts_to, count(g.row) AS facts_from
RETURN n.id AS neighbour, n.label AS label, documents, facts_to, facts_from
ORDER BY documents DESC, n.row

// name: neighbouring_documents
// purpose: the documents that share entities with a document, with the number of entities
// params: document: document, limit: integer = 50
// returns: neighbour: string, title: string, entities: integer
// stores: embedded, neo4j
MATCH (d:Document)-[m1:MENTIONS]->(e:Entity)<-[m2:MENTIONS]-(n:Document)
WHERE d.id = $document AND n.row <> d.row
WITH n, count(DISTINCT e.row) AS entities
RETURN n.id AS neighbour, n.title AS title, entities
ORDER BY entities DESC, n.row
LIMIT $limit

// name: bridge_entities
// purpose: entities that an entity's article shares with other documents, so that a question can hop over them, the most specific first. documents counts other documents that mention the bridge, together documents that mention both, and facts facts between the two
// params: entity: entity, limit: integer = 50
// returns: bridge: string, label: string, documents: integer, together: integer, facts: integer, score: number
// stores: embedded, neo4j
MATCH (s:Entity)-[a:ABOUT]->(first:Document)-[m1:MENTIONS]->(b:Entity)
WHERE s.id = $entity AND b.row <> s.row AND b.documents > 1
WITH DISTINCT s, b
OPTIONAL MATCH (s)<-[m2:MENTIONS]-(d:Document)-[m3:MENTIONS]->(b)
WITH s, b, count(d.row) AS together
OPTIONAL MATCH (s)-[f:FACT]->(b)
WITH s, b, together, count(f.row) AS facts_to
OPTIONAL MATCH (b)-[g:FACT]->(s)
WITH b, together, facts_to, count(g.row) AS facts_from
WITH b, together, facts_to + facts_from AS facts
RETURN b.id AS bridge, b.label AS label, b.documents - 1 AS documents, together, facts,
  (together * 1.0 / (b.documents + 20) + facts * 1.0 / (b.facts + 20)) * (105 - b.common) / 105 AS score
ORDER BY score DESC, documents DESC, b.row
LIMIT $limit

// name: bridges_between
// purpose: entities that share a document with each of two entities, the most specific first. near counts documents that mention the bridge and the first entity, far those that mention the bridge and the second, and documents all that mention the bridge. facts_near and facts_far count facts between the same pairs
// params: entity: entity, other: entity, limit: integer = 50
// returns: bridge: string, kind: string, label: string, near: integer, far: integer, facts_near: integer, facts_far: integer, documents: integer, score: number
// stores: embedded, neo4j
MATCH (x:Entity)<-[m1:MENTIONS]-(d:Document)-[m2:MENTIONS]->(b:Entity)
WHERE (x.id = $entity OR x.id = $other) AND b.id <> $entity AND b.id <> $other
WITH b, count(CASE WHEN x.id = $entity THEN 1 END) AS near, count(CASE WHEN x.id = $other THEN 1 END) AS far,
  min(CASE WHEN x.id = $entity THEN d.row END) AS only_near, min(CASE WHEN x.id = $other THEN d.row END) AS only_far
WHERE near > 0 AND far > 0 AND (near + far > 2 OR only_near <> only_far)
MATCH (a:Entity), (c:Entity)
WHERE a.id = $entity AND c.id = $other
WITH a, b, c, near, far
OPTIONAL MATCH (a)-[f1:FACT]->(b)
WITH a, b, c, near, far, count(f1.row) AS near_1
OPTIONAL MATCH (b)-[f2:FACT]->(a)
WITH b, c, near, far, near_1, count(f2.row) AS near_2
OPTIONAL MATCH (c)-[f3:FACT]->(b)
WITH b, c, near, far, near_1, near_2, count(f3.row) AS far_1
OPTIONAL MATCH (b)-[f4:FACT]->(c)
WITH b, near, far, near_1, near_2, far_1, count(f4.row) AS far_2
WITH b, near, far, near_1 + near_2 AS facts_near, far_1 + far_2 AS facts_far
RETURN b.id AS bridge, b.kind AS kind, b.label AS label, near, far, facts_near, facts_far, b.documents AS documents,
  (near * 1.0 / (b.documents + 20) + facts_near * 1.0 / (b.facts + 20)) * (far * 1.0 / (b.documents + 20) + facts_far * 1.0 / (b.facts + 20)) * (105 - b.common) / 105 AS score
ORDER BY score DESC, documents DESC, b.row
LIMIT $limit

// name: connecting_documents
// purpose: documents that mention both of two entities
// params: entity: entity, other: entity, limit: integer = 50
// returns: document: string, title: string
// stores: embedded, neo4j
MATCH (a:Entity)<-[m1:MENTIONS]-(d:Document)-[m2:MENTIONS]->(b:Entity)
WHERE a.id = $entity AND b.id = $other AND a.row <> b.row
RETURN d.id AS document, d.title AS title
ORDER BY d.row
LIMIT $limit

// name: paths_over_facts
// purpose: the shortest paths between two entities over facts in either direction, with at most longest (1 to 4) facts
// params: entity: entity, other: entity, longest: integer = 3, limit: integer = 20
// returns: facts: integer, path: strings, names: strings, relations: strings
// stores: embedded, neo4j
// search: facts
// Not one text but a search, by the queries of paths.cypher: from $entity and from $other along FACT, until $limit paths are found, each of $longest facts at most.

// name: paths_over_documents
// purpose: the shortest paths between two entities over documents that mention both ends of a step, with at most longest (1 to 3) documents
// params: entity: entity, other: entity, longest: integer = 3, limit: integer = 20
// returns: documents: integer, path: strings, names: strings
// stores: embedded, neo4j
// search: documents
// Not one text but a search, by the queries of paths.cypher: from $entity and from $other along MENTIONS, until $limit paths are found, each of $longest documents at most.

// name: documents_mentioning
// purpose: the documents that mention an entity most often
// params: entity: entity, limit: integer = 50
// returns: document: string, title: string, mentions: integer
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
WHERE e.id = $entity
RETURN d.id AS document, d.title AS title, m.count AS mentions
ORDER BY mentions DESC, d.row
LIMIT $limit

// name: entities_in
// purpose: the entities that a document mentions
// params: document: document, limit: integer = 100
// returns: entity: string, kind: string, label: string, mentions: integer
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
WHERE d.id = $document
RETURN e.id AS entity, e.kind AS kind, e.label AS label, m.count AS mentions
ORDER BY mentions DESC, e.row
LIMIT $limit

// name: hubs
// purpose: the entities that most documents mention
// params: limit: integer = 20
// returns: entity: string, label: string, documents: integer
// stores: embedded, neo4j
MATCH (e:Entity)
WHERE e.documents > 0
RETURN e.id AS entity, e.label AS label, e.documents AS documents
ORDER BY documents DESC, e.row
LIMIT $limit

// name: relation_counts
// purpose: for each relation, the number of facts and of distinct answers
// params: limit: integer = 50
// returns: relation: string, label: string, facts: integer, answers: integer
// stores: embedded, neo4j
MATCH (r:Relation)
RETURN r.id AS relation, r.label AS label, r.facts AS facts, r.answers AS answers
ORDER BY facts DESC, r.row
LIMIT $limit

// name: answer_frequencies
// purpose: the most frequent objects of a relation, with their number and share of its facts
// params: relation: relation, limit: integer = 50
// returns: answer: string, label: string, facts: integer, share: number
// stores: embedded, neo4j
MATCH (r:Relation)
WHERE r.id = $relation
WITH sum(r.facts) AS total
// Facts connect entities alone, but a server that is told so goes through these in place of its index of facts.
MATCH (h)-[f:FACT]->(t)
WHERE f.relation = $relation
WITH total, t, count(f.row) AS facts
RETURN t.id AS answer, t.label AS label, facts, facts * 1.0 / total AS share
ORDER BY facts DESC, t.row
LIMIT $limit

// name: why_wikihop_candidate
// purpose: why an entity is a candidate for a WikiHop question: how many facts of the relation have it as their object, whether it is a true answer, and how many chains of one, two and three articles lead to it. first is the first of the shortest chains (subject, article, entity, article, …)
// params: subject: entity, relation: relation, candidate: entity
// returns: facts: integer, true_answer: boolean, chains_1: integer, chains_2: integer, chains_3: integer, first: strings
// stores: embedded, neo4j
MATCH (s:Entity), (c:Entity)
WHERE s.id = $subject AND c.id = $candidate AND s.row <> c.row
OPTIONAL MATCH (h:Entity)-[f:FACT]->(c)
WHERE f.relation = $relation
WITH s, c, count(f.row) AS facts
OPTIONAL MATCH (s)-[g:FACT]->(c)
WHERE g.relation = $relation
WITH s, c, facts, count(g.row) AS true_facts
OPTIONAL MATCH (s)-[a1:ABOUT]->(d1:Document)-[m1:MENTIONS]->(c)
WHERE d1.usable
WITH s, c, facts, true_facts, count(d1.row) AS chains_1
OPTIONAL MATCH (s)-[a1:ABOUT]->(d1:Document)-[m1:MENTIONS]->(e1:Entity)-[a2:ABOUT]->(d2:Document)-[m2:MENTIONS]->(c)
WHERE d1.usable AND d2.usable
  AND d1.row <> d2.row AND s.row <> e1.row AND e1.row <> c.row
WITH s, c, facts, true_facts, chains_1, count(d2.row) AS chains_2, min(e1.row) AS first_2
OPTIONAL MATCH (s)-[a1:ABOUT]->(d1:Document)-[m1:MENTIONS]->(e1:Entity)-[a2:ABOUT]->(d2:Document)-[m2:MENTIONS]->(e2:Entity)-[a3:ABOUT]->(d3:Document)-[m3:MENTIONS]->(c)
WHERE d1.usable AND d2.usable AND d3.usable
  AND d1.row <> d2.row AND d1.row <> d3.row AND d2.row <> d3.row AND s.row <> e1.row AND s.row <> e2.row AND e1.row <> e2.row AND e1.row <> c.row AND e2.row <> c.row
WITH s, c, facts, true_facts, chains_1, chains_2, first_2, count(d3.row) AS chains_3, min(e1.row * 4294967296 + e2.row) AS first_3
OPTIONAL MATCH (s)-[b0:ABOUT]->(x0:Document)
WITH s, c, facts, true_facts, chains_1, chains_2, chains_3, x0.id AS article, first_3 % 4294967296 AS row_2,
  CASE WHEN chains_2 > 0 THEN first_2 ELSE first_3 / 4294967296 END AS row_1
OPTIONAL MATCH (y1:Entity)-[b1:ABOUT]->(x1:Document)
WHERE y1.row = row_1
WITH s, c, facts, true_facts, chains_1, chains_2, chains_3, article, row_2, y1.id AS entity_1, x1.id AS article_1
OPTIONAL MATCH (y2:Entity)-[b2:ABOUT]->(x2:Document)
WHERE y2.row = row_2
RETURN facts, true_facts > 0 AS true_answer, chains_1, chains_2, chains_3,
  CASE WHEN chains_1 > 0 THEN [s.id, article, c.id]
    WHEN chains_2 > 0 THEN [s.id, article, entity_1, article_1, c.id]
    WHEN chains_3 > 0 THEN [s.id, article, entity_1, article_1, y2.id, x2.id, c.id] END AS first
ORDER BY c.row

// name: why_medhop_candidate
// purpose: why a drug is a candidate for a MedHop question: the number of its facts of the relation, whether one of them joins it to the subject, and the number of chains of one and two abstracts over proteins (medhop_chains_1 to medhop_chains_3 list them)
// params: subject: entity, candidate: entity, relation: relation = interacts_with
// returns: facts: integer, true_answer: boolean, chains_1: integer, chains_2: integer
// stores: embedded, neo4j
MATCH (s:Entity), (c:Entity)
WHERE s.id = $subject AND c.id = $candidate AND s.row <> c.row
OPTIONAL MATCH (c)-[f:FACT]->(t:Entity)
WHERE f.relation = $relation
WITH s, c, count(f.row) AS facts_from, count(CASE WHEN t.row = s.row THEN 1 END) AS true_from
OPTIONAL MATCH (c)<-[g:FACT]-(h:Entity)
WHERE g.relation = $relation
WITH s, c, facts_from, true_from, count(g.row) AS facts_to, count(CASE WHEN h.row = s.row THEN 1 END) AS true_to
WITH s, c, facts_from + facts_to AS facts, true_from + true_to > 0 AS true_answer
// Without a target or a partner nothing leads on, and a hub has many documents to look at for nothing.
OPTIONAL MATCH (s)-[z:FACT]-(p0:Entity)
WHERE z.relation = 'target' OR z.relation = 'protein_interaction'
WITH s, c, facts, true_answer, count(z.row) > 0 AS leads
OPTIONAL MATCH (s)<-[a1:MENTIONS]-(d1:Document)-[m1:MENTIONS]->(c)
WHERE leads AND d1.usable
  AND (EXISTS { MATCH (s)-[x:FACT]->(p:Entity)<-[y:MENTIONS]-(d1) WHERE x.relation = 'target' OR x.relation = 'protein_interaction' }
    OR EXISTS { MATCH (s)<-[x:FACT]-(p:Entity)<-[y:MENTIONS]-(d1) WHERE x.relation = 'target' OR x.relation = 'protein_interaction' })
  AND (c.kind = 'protein' OR EXISTS { MATCH (c)-[x:FACT]->(p:Entity)<-[y:MENTIONS]-(d1) WHERE x.relation = 'target' })
WITH s, c, facts, true_answer, leads, count(d1.row) AS chains_1
OPTIONAL MATCH (s)<-[a1:MENTIONS]-(d1:Document)-[m1:MENTIONS]->(e1:Entity)<-[a2:MENTIONS]-(d2:Document)-[m2:MENTIONS]->(c)
WHERE leads AND d1.usable AND d2.usable
  AND d1.row <> d2.row AND s.row <> e1.row AND e1.row <> c.row AND e1.kind = 'protein'
  AND (EXISTS { MATCH (s)-[x:FACT]->(p:Entity)<-[y:MENTIONS]-(d1) WHERE x.relation = 'target' OR x.relation = 'protein_interaction' }
    OR EXISTS { MATCH (s)<-[x:FACT]-(p:Entity)<-[y:MENTIONS]-(d1) WHERE x.relation = 'target' OR x.relation = 'protein_interaction' })
  AND (EXISTS { MATCH (e1)-[x:FACT]->(p:Entity)<-[y:MENTIONS]-(d2) WHERE x.relation = 'target' OR x.relation = 'protein_interaction' }
    OR EXISTS { MATCH (e1)<-[x:FACT]-(p:Entity)<-[y:MENTIONS]-(d2) WHERE x.relation = 'target' OR x.relation = 'protein_interaction' })
  AND (c.kind = 'protein' OR EXISTS { MATCH (c)-[x:FACT]->(p:Entity)<-[y:MENTIONS]-(d2) WHERE x.relation = 'target' })
WITH c, facts, true_answer, chains_1, count(d2.row) AS chains_2
RETURN facts, true_answer, chains_1, chains_2
ORDER BY c.row

// name: what_blocks_wikihop
// purpose: why a fact does not become a WikiHop sample. The columns follow the order of the filters: whether the fact exists, the subject's article, how often it mentions the answer, and the number of articles on the shortest chain to the answer (0: more than three)
// params: subject: entity, relation: relation, answer: entity
// returns: facts: integer, article: string, usable: boolean, stated: integer, documents: integer, reason: string
// stores: embedded, neo4j
MATCH (s:Entity), (c:Entity)
WHERE s.id = $subject AND c.id = $answer AND s.row <> c.row
OPTIONAL MATCH (s)-[g:FACT]->(c)
WHERE g.relation = $relation
WITH s, c, count(g.row) AS facts
OPTIONAL MATCH (s)-[a:ABOUT]->(d:Document)
WITH s, c, facts, d.id AS article, d.usable AS usable
OPTIONAL MATCH (s)-[a0:ABOUT]->(d0:Document)-[m0:MENTIONS]->(c)
WITH s, c, facts, article, usable, max(m0.count) AS told
OPTIONAL MATCH (s)-[a1:ABOUT]->(d1:Document)-[m1:MENTIONS]->(c)
WHERE d1.usable
WITH s, c, facts, article, usable, told, count(d1.row) AS chains_1
OPTIONAL MATCH (s)-[a1:ABOUT]->(d1:Document)-[m1:MENTIONS]->(e1:Entity)-[a2:ABOUT]->(d2:Document)-[m2:MENTIONS]->(c)
WHERE d1.usable AND d2.usable
  AND d1.row <> d2.row AND s.row <> e1.row AND e1.row <> c.row
WITH s, c, facts, article, usable, told, chains_1, count(d2.row) AS chains_2
OPTIONAL MATCH (s)-[a1:ABOUT]->(d1:Document)-[m1:MENTIONS]->(e1:Entity)-[a2:ABOUT]->(d2:Document)-[m2:MENTIONS]->(e2:Entity)-[a3:ABOUT]->(d3:Document)-[m3:MENTIONS]->(c)
WHERE d1.usable AND d2.usable AND d3.usable
  AND d1.row <> d2.row AND d1.row <> d3.row AND d2.row <> d3.row AND s.row <> e1.row AND s.row <> e2.row AND e1.row <> e2.row AND e1.row <> c.row AND e2.row <> c.row
WITH s, facts, article, usable, coalesce(told, 0) AS stated, chains_1, chains_2, count(d3.row) AS chains_3
WITH s, facts, article, usable, stated, CASE WHEN chains_1 > 0 THEN 1 WHEN chains_2 > 0 THEN 2 WHEN chains_3 > 0 THEN 3 ELSE 0 END AS documents
RETURN facts, article, usable, stated, documents,
  CASE WHEN facts = 0 THEN 'there is no such fact'
    WHEN usable IS NULL OR NOT usable THEN 'no document leads on from the subject'
    WHEN stated > 0 THEN "the subject's own article states the answer"
    WHEN documents = 0 THEN 'no chain of documents leads from the subject to the answer'
    ELSE 'nothing in the graph' END AS reason
ORDER BY s.row

// name: what_blocks_medhop
// purpose: why a pair of drugs does not become a MedHop sample. The columns follow the order of the filters: how many facts join the two drugs, how many abstracts lead on from the subject, how many abstracts mention both, and how many chains of two abstracts over proteins there are
// params: subject: entity, answer: entity, relation: relation = interacts_with
// returns: facts: integer, leading: integer, stated: integer, chains_2: integer, reason: string
// stores: embedded, neo4j
MATCH (s:Entity), (c:Entity)
WHERE s.id = $subject AND c.id = $answer AND s.row <> c.row
OPTIONAL MATCH (s)-[f:FACT]->(c)
WHERE f.relation = $relation
WITH s, c, count(f.row) AS facts_to
OPTIONAL MATCH (c)-[g:FACT]->(s)
WHERE g.relation = $relation
WITH s, c, facts_to, count(g.row) AS facts_from
OPTIONAL MATCH (s)<-[b1:MENTIONS]-(b:Document)-[b2:MENTIONS]->(c)
WITH s, c, facts_to + facts_from AS facts, count(DISTINCT b.row) AS stated
// Without a target or a partner nothing leads on, and a hub has many documents to look at for nothing.
OPTIONAL MATCH (s)-[z:FACT]-(p0:Entity)
WHERE z.relation = 'target' OR z.relation = 'protein_interaction'
WITH s, c, facts, stated, count(z.row) > 0 AS leads
OPTIONAL MATCH (s)<-[l1:MENTIONS]-(l:Document)
WHERE leads AND l.usable
  AND (EXISTS { MATCH (s)-[x:FACT]->(p:Entity)<-[y:MENTIONS]-(l) WHERE x.relation = 'target' OR x.relation = 'protein_interaction' }
    OR EXISTS { MATCH (s)<-[x:FACT]-(p:Entity)<-[y:MENTIONS]-(l) WHERE x.relation = 'target' OR x.relation = 'protein_interaction' })
WITH s, c, facts, stated, count(DISTINCT l.row) AS leading
OPTIONAL MATCH (s)<-[a1:MENTIONS]-(d1:Document)-[m1:MENTIONS]->(e1:Entity)<-[a2:MENTIONS]-(d2:Document)-[m2:MENTIONS]->(c)
WHERE leading > 0 AND d1.usable AND d2.usable
  AND d1.row <> d2.row AND s.row <> e1.row AND e1.row <> c.row AND e1.kind = 'protein'
  AND (EXISTS { MATCH (s)-[x:FACT]->(p:Entity)<-[y:MENTIONS]-(d1) WHERE x.relation = 'target' OR x.relation = 'protein_interaction' }
    OR EXISTS { MATCH (s)<-[x:FACT]-(p:Entity)<-[y:MENTIONS]-(d1) WHERE x.relation = 'target' OR x.relation = 'protein_interaction' })
  AND (EXISTS { MATCH (e1)-[x:FACT]->(p:Entity)<-[y:MENTIONS]-(d2) WHERE x.relation = 'target' OR x.relation = 'protein_interaction' }
    OR EXISTS { MATCH (e1)<-[x:FACT]-(p:Entity)<-[y:MENTIONS]-(d2) WHERE x.relation = 'target' OR x.relation = 'protein_interaction' })
  AND (c.kind = 'protein' OR EXISTS { MATCH (c)-[x:FACT]->(p:Entity)<-[y:MENTIONS]-(d2) WHERE x.relation = 'target' })
WITH s, facts, stated, leading, count(d2.row) AS chains_2
RETURN facts, leading, stated, chains_2,
  CASE WHEN facts = 0 THEN 'there is no such fact'
    WHEN leading = 0 THEN 'no document leads on from the subject'
    WHEN stated > 0 THEN 'a document states subject and answer together'
    WHEN chains_2 = 0 THEN 'no chain of two documents leads from the subject to the answer; medhop_chains_3 looks for three'
    ELSE 'nothing in the graph' END AS reason
ORDER BY s.row

// name: blocked_questions
// purpose: for each relation, the number of facts that give no WikiHop question because the subject has no usable article, or because its article mentions the object
// params: limit: integer = 50
// returns: relation: string, label: string, facts: integer, no_article: integer, stated: integer, remaining: integer
// stores: embedded, neo4j
MATCH (r:Relation)
RETURN r.id AS relation, r.label AS label, r.facts AS facts, r.no_article AS no_article, r.stated AS stated, r.facts - r.no_article - r.stated AS remaining
ORDER BY facts DESC, r.row
LIMIT $limit
