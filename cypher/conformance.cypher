// For kgqa doctor, which compares engines with brute force; cannot be asked by name.

// name: conformance_nodes
// purpose: the names of all entities come back as they were written, empty ones and nulls included
// params: none
// returns: entity: string, kind: string, label: string, description: string, no_label: boolean, label_or: string
// stores: embedded, neo4j
MATCH (e:Entity)
RETURN e.id AS entity, e.kind AS kind, e.label AS label, e.description AS description, e.label IS NULL AS no_label, coalesce(e.label, 'none') AS label_or
ORDER BY e.row

// name: conformance_documents
// purpose: the texts of all documents come back as they were written
// params: none
// returns: document: string, title: string, text: string, usable: boolean
// stores: embedded, neo4j
MATCH (d:Document)
RETURN d.id AS document, d.title AS title, d.text AS text, d.usable AS usable
ORDER BY d.row

// name: conformance_facts
// purpose: all facts are there, parallel and repeated ones each
// params: none
// returns: head: string, relation: string, label: string, tail: string
// stores: embedded, neo4j
MATCH (h:Entity)-[f:FACT]->(t:Entity)
RETURN h.id AS head, f.relation AS relation, f.label AS label, t.id AS tail
ORDER BY f.row

// name: conformance_filtered_hops
// purpose: how many walks of three facts there are, of which the middle one has a relation; later engines count them wrongly
// params: entity: string, relation: string
// returns: walks: integer, last: integer
// stores: embedded, neo4j
MATCH (a:Entity)-[f1:FACT]->(b:Entity)-[f2:FACT]->(c:Entity)-[f3:FACT]->(d:Entity)
WHERE a.id = $entity AND f2.relation = $relation AND c.row <> a.row
RETURN count(f3.row) AS walks, count(DISTINCT d.row) AS last
ORDER BY walks

// name: conformance_filtered_mentions
// purpose: a filter on a number in the middle of a path over three kinds of relationship
// params: entity: string, mentions: integer = 1
// returns: walks: integer
// stores: embedded, neo4j
MATCH (a:Entity)-[x:ABOUT]->(d:Document)-[m:MENTIONS]->(b:Entity)-[f:FACT]->(c:Entity)
WHERE a.id = $entity AND m.count = $mentions
RETURN count(f.row) AS walks
ORDER BY walks

// name: conformance_filtered_everywhere
// purpose: paths of two facts with a filter on each of them, for all entities at once
// params: relation: string, other: string
// returns: head: string, middle: string, tail: string
// stores: embedded, neo4j
MATCH (a:Entity)-[f:FACT]->(b:Entity)-[g:FACT]->(c:Entity)
WHERE f.relation = $relation AND g.relation = $other AND a.row <> c.row
RETURN a.id AS head, b.id AS middle, c.id AS tail
ORDER BY f.row, g.row

// name: conformance_filtered_last
// purpose: how many paths of three mentions end in a node with a property
// params: entity: string, kind: string = protein
// returns: walks: integer, last: integer
// stores: embedded, neo4j
MATCH (a:Entity)<-[m1:MENTIONS]-(d:Document)-[m2:MENTIONS]->(b:Entity)<-[m3:MENTIONS]-(x:Document)
WHERE a.id = $entity AND b.kind = $kind AND a.row <> b.row AND d.row <> x.row
RETURN count(x.row) AS walks, count(DISTINCT b.row) AS last
ORDER BY walks

// name: conformance_triangles
// purpose: directed cycles of three facts through each entity
// params: none
// returns: entity: string, cycles: integer
// stores: embedded, neo4j
MATCH (a:Entity)-[f1:FACT]->(b:Entity)-[f2:FACT]->(c:Entity)-[f3:FACT]->(a)
WHERE a.row <> b.row AND b.row <> c.row AND a.row <> c.row
WITH a, count(f1.row) AS cycles
RETURN a.id AS entity, cycles
ORDER BY a.row

// name: conformance_back_and_forth
// purpose: pairs of entities with facts in both directions
// params: none
// returns: entity: string, other: string, facts: integer
// stores: embedded, neo4j
MATCH (a:Entity)-[f:FACT]->(b:Entity)-[g:FACT]->(a)
WHERE a.row < b.row
WITH a, b, count(f.row) AS facts
RETURN a.id AS entity, b.id AS other, facts
ORDER BY a.row, b.row

// name: conformance_parallel
// purpose: pairs of entities with several facts in one direction
// params: least: integer = 2
// returns: head: string, tail: string, facts: integer, relations: integer
// stores: embedded, neo4j
MATCH (a:Entity)-[f:FACT]->(b:Entity)
WITH a, b, count(f.row) AS facts, count(DISTINCT f.relation) AS relations
WHERE facts >= $least
RETURN a.id AS head, b.id AS tail, facts, relations
ORDER BY a.row, b.row

// name: conformance_parallel_hops
// purpose: parallel facts are counted as often as they are there, in the middle of a path too
// params: entity: string
// returns: tail: string, walks: integer
// stores: embedded, neo4j
MATCH (a:Entity)-[f:FACT]->(b:Entity)-[g:FACT]->(c:Entity)
WHERE a.id = $entity AND c.row <> a.row
WITH c, count(g.row) AS walks
RETURN c.id AS tail, walks
ORDER BY c.row

// name: conformance_distinct
// purpose: counts with and without DISTINCT beside each other
// params: none
// returns: mentions: integer, entities: integer, documents: integer, kinds: integer
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
RETURN count(m.count) AS mentions, count(DISTINCT e.row) AS entities, count(DISTINCT d.row) AS documents, count(DISTINCT e.kind) AS kinds
ORDER BY mentions

// name: conformance_distinct_rows
// purpose: rows without repetition, by two properties
// params: none
// returns: relation: string, kind: string
// stores: embedded, neo4j
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WITH f.relation AS relation, t.kind AS kind, min(f.row) AS first
RETURN relation, kind
ORDER BY first

// name: conformance_optional
// purpose: every entity, with its facts of a relation, which may be none
// params: relation: string
// returns: entity: string, facts: integer, first: integer
// stores: embedded, neo4j
MATCH (e:Entity)
OPTIONAL MATCH (e)-[f:FACT]->(t:Entity)
WHERE f.relation = $relation
WITH e, count(f.row) AS facts, min(t.row) AS first
RETURN e.id AS entity, facts, first
ORDER BY e.row

// name: conformance_optional_twice
// purpose: one optional pattern after another, the second beginning where the first may have found nothing
// params: none
// returns: entity: string, article: string, mentioned: string
// stores: embedded, neo4j
MATCH (e:Entity)
OPTIONAL MATCH (e)-[a:ABOUT]->(d:Document)
OPTIONAL MATCH (d)-[m:MENTIONS]->(x:Entity)
WHERE m.count > 1
RETURN e.id AS entity, d.id AS article, x.id AS mentioned
ORDER BY e.row, x.row

// name: conformance_exists
// purpose: entities with a fact of a relation and without an article
// params: relation: string
// returns: entity: string
// stores: embedded, neo4j
MATCH (e:Entity)
WHERE EXISTS { MATCH (e)-[f:FACT]->(t:Entity) WHERE f.relation = $relation } AND NOT EXISTS { MATCH (e)-[a:ABOUT]->(d:Document) }
RETURN e.id AS entity
ORDER BY e.row

// name: conformance_exists_either
// purpose: two existence tests joined by OR, one over two steps
// params: entity: string
// returns: document: string
// stores: embedded, neo4j
MATCH (d:Document)
WHERE EXISTS { MATCH (d)-[m:MENTIONS]->(e:Entity) WHERE e.id = $entity } OR EXISTS { MATCH (d)-[n:MENTIONS]->(x:Entity)-[f:FACT]->(y:Entity) WHERE y.id = $entity }
RETURN d.id AS document
ORDER BY d.row

// name: conformance_isolated
// purpose: entities that nothing is connected with
// params: none
// returns: entity: string
// stores: embedded, neo4j
MATCH (e:Entity)
WHERE NOT EXISTS { MATCH (e)-[f:FACT]->(t:Entity) } AND NOT EXISTS { MATCH (e)<-[g:FACT]-(h:Entity) }
  AND NOT EXISTS { MATCH (e)<-[m:MENTIONS]-(d:Document) } AND NOT EXISTS { MATCH (e)-[a:ABOUT]->(x:Document) }
RETURN e.id AS entity
ORDER BY e.row

// name: conformance_counted_pattern
// purpose: a pattern that is counted for each row
// params: none
// returns: entity: string, pairs: integer
// stores: embedded, neo4j
MATCH (e:Entity)
RETURN e.id AS entity, COUNT { MATCH (e)<-[m:MENTIONS]-(d:Document)-[n:MENTIONS]->(x:Entity) WHERE x.row <> e.row } AS pairs
ORDER BY e.row

// name: conformance_after_with
// purpose: an aggregation that is filtered, joined with another pattern and aggregated again
// params: least: integer = 2
// returns: entity: string, documents: integer, facts: integer
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
WITH e, count(d.row) AS documents
WHERE documents >= $least
MATCH (e)-[f:FACT]->(t:Entity)
WITH e, documents, count(f.row) AS facts
RETURN e.id AS entity, documents, facts
ORDER BY documents DESC, e.row

// name: conformance_limited_with
// purpose: the first few of an order, and only then the next pattern
// params: limit: integer = 3
// returns: entity: string, document: string
// stores: embedded, neo4j
MATCH (e:Entity)
WITH e
ORDER BY e.row DESC
LIMIT $limit
MATCH (d:Document)-[m:MENTIONS]->(e)
RETURN e.id AS entity, d.id AS document
ORDER BY e.row, d.row

// name: conformance_ties
// purpose: a long order with many ties, cut in the middle
// params: skip: integer = 0, limit: integer = 50
// returns: document: string, entity: string, mentions: integer
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
RETURN d.id AS document, e.id AS entity, m.count AS mentions
ORDER BY mentions DESC, e.row, d.row DESC
SKIP $skip
LIMIT $limit

// name: conformance_extremes
// purpose: smallest, largest, and the shares of whole numbers
// params: none
// returns: relation: string, least: integer, most: integer, half: integer, rest: integer, share: number
// stores: embedded, neo4j
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WITH f.relation AS relation, min(t.row) AS least, max(t.row) AS most, count(f.row) AS facts, min(f.row) AS first
RETURN relation, least, most, facts / 2 AS half, facts % 2 AS rest, facts * 1.0 / 3 AS share
ORDER BY first

// name: conformance_large_numbers
// purpose: two rows in one number of 64 bits, and apart again
// params: none
// returns: head: string, tail: string, both: integer
// stores: embedded, neo4j
MATCH (h:Entity)-[f:FACT]->(t:Entity)
WITH f, h.row * 4294967296 + t.row AS both
MATCH (a:Entity), (b:Entity)
WHERE a.row = both / 4294967296 AND b.row = both % 4294967296
RETURN a.id AS head, b.id AS tail, both
ORDER BY f.row

// name: conformance_contains
// purpose: parts of names, as they are written; engines do not agree on whether every name contains the empty text, so that is said
// params: text: string
// returns: entity: string, inside: boolean, begins: boolean, finishes: boolean
// stores: embedded, neo4j
MATCH (e:Entity)
WHERE e.label IS NOT NULL AND e.description IS NOT NULL
RETURN e.id AS entity, $text = '' OR e.label CONTAINS $text AS inside, e.label STARTS WITH $text AS begins, e.description ENDS WITH $text AS finishes
ORDER BY e.row

// name: conformance_same_text
// purpose: names are equal where their characters are, composed or not, beyond the basic plane too
// params: none
// returns: entity: string, other: string
// stores: embedded, neo4j
MATCH (a:Entity), (b:Entity)
WHERE a.label = b.label AND a.row < b.row AND a.row < 30
RETURN a.id AS entity, b.id AS other
ORDER BY a.row, b.row

// name: conformance_unlike
// purpose: what is not equal, where nulls are neither equal nor unequal
// params: text: string
// returns: entity: string
// stores: embedded, neo4j
MATCH (e:Entity)
WHERE e.label <> $text AND NOT e.kind = 'drug'
RETURN e.id AS entity
ORDER BY e.row

// name: conformance_in_list
// purpose: nodes whose id is in a list
// params: ids: strings
// returns: entity: string, documents: integer
// stores: embedded, neo4j
MATCH (e:Entity)
WHERE e.id IN $ids
OPTIONAL MATCH (e)<-[m:MENTIONS]-(d:Document)
WITH e, count(d.row) AS documents
RETURN e.id AS entity, documents
ORDER BY e.row

// name: conformance_unwind
// purpose: a list unwound, and one pattern for each of its values
// params: ids: strings
// returns: entity: string, facts: integer
// stores: embedded, neo4j
UNWIND $ids AS wanted
MATCH (e:Entity)-[f:FACT]->(t:Entity)
WHERE e.id = wanted
WITH e, count(f.row) AS facts
RETURN e.id AS entity, facts
ORDER BY e.row

// name: conformance_beside
// purpose: pairs of entities that documents mention together
// params: limit: integer = 50
// returns: entity: string, other: string, documents: integer
// stores: embedded, neo4j
MATCH (a:Entity)<-[m:MENTIONS]-(d:Document)-[n:MENTIONS]->(b:Entity)
WHERE a.row < b.row
WITH a, b, count(d.row) AS documents
RETURN a.id AS entity, b.id AS other, documents
ORDER BY documents DESC, a.row, b.row
LIMIT $limit

// name: conformance_same_object
// purpose: entities whose facts of the same relation have the same object
// params: limit: integer = 50
// returns: entity: string, other: string, relation: string, object: string
// stores: embedded, neo4j
MATCH (a:Entity)-[f:FACT]->(x:Entity)<-[g:FACT]-(b:Entity)
WHERE a.row < b.row AND f.relation = g.relation
RETURN a.id AS entity, b.id AS other, f.relation AS relation, x.id AS object
ORDER BY f.row, g.row
LIMIT $limit

// name: conformance_fact_in_document
// purpose: heads and tails of the facts of a relation both of whose ends a usable document mentions: a cycle over two kinds of relationship, of which 0.20.4 gives parallel facts only once (docs/doctor.md), so that they are not counted
// params: relation: string
// returns: document: string, heads: integer, tails: integer
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(h:Entity)-[f:FACT]->(t:Entity)<-[n:MENTIONS]-(d)
WHERE d.usable AND h.row <> t.row AND f.relation = $relation
WITH d, count(DISTINCT h.row) AS heads, count(DISTINCT t.row) AS tails
RETURN d.id AS document, heads, tails
ORDER BY d.row

// name: conformance_collect
// purpose: lists of what is connected, in any order
// params: none
// returns: document: string, entities: strings
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)-[f:FACT]->(t:Entity)
WITH d, collect(t.id) AS entities
RETURN d.id AS document, entities
ORDER BY d.row

// name: conformance_flags
// purpose: how many documents are usable, and how many not
// params: none
// returns: usable: integer, unusable: integer
// stores: embedded, neo4j
MATCH (d:Document)
RETURN count(CASE WHEN d.usable THEN 1 END) AS usable, count(CASE WHEN NOT d.usable THEN 1 END) AS unusable
ORDER BY usable

// name: replay_entity
// purpose: entities of a replayed graph, marked so that they can be removed again
// params: rows: table
// returns: added: integer
// stores: neo4j
UNWIND $rows AS row
CREATE (e:Entity:KgqaReplay {id: row[0], row: row[1], kind: row[2], label: row[3], description: row[4], aliases: row[5], common: row[6], documents: row[7], facts: row[8], search: row[9]})
RETURN count(e) AS added

// name: replay_document
// purpose: documents of a replayed graph
// params: rows: table
// returns: added: integer
// stores: neo4j
UNWIND $rows AS row
CREATE (d:Document:KgqaReplay {id: row[0], row: row[1], title: row[2], text: row[3], usable: row[4], search: row[5]})
RETURN count(d) AS added

// name: replay_relation
// purpose: relations of a replayed graph
// params: rows: table
// returns: added: integer
// stores: neo4j
UNWIND $rows AS row
CREATE (r:Relation:KgqaReplay {row: row[0], id: row[1], label: row[2], facts: row[3], answers: row[4], no_article: row[5], stated: row[6], search: row[7]})
RETURN count(r) AS added

// name: replay_fact
// purpose: facts of a replayed graph
// params: rows: table
// returns: added: integer
// stores: neo4j
UNWIND $rows AS row
MATCH (h:Entity:KgqaReplay {id: row[0]}) MATCH (t:Entity:KgqaReplay {id: row[1]})
CREATE (h)-[f:FACT {row: row[2], relation: row[3], label: row[4]}]->(t)
RETURN count(f) AS added

// name: replay_mentions
// purpose: mentions of a replayed graph
// params: rows: table
// returns: added: integer
// stores: neo4j
UNWIND $rows AS row
MATCH (d:Document:KgqaReplay {id: row[0]}) MATCH (e:Entity:KgqaReplay {id: row[1]})
CREATE (d)-[m:MENTIONS {count: row[2]}]->(e)
RETURN count(m) AS added

// name: replay_about
// purpose: articles of a replayed graph
// params: rows: table
// returns: added: integer
// stores: neo4j
UNWIND $rows AS row
MATCH (e:Entity:KgqaReplay {id: row[0]}) MATCH (d:Document:KgqaReplay {id: row[1]})
CREATE (e)-[a:ABOUT]->(d)
RETURN count(a) AS added

// name: replay_end
// purpose: remove what a replay made, and nothing else
// params: none
// returns: removed: integer
// stores: neo4j
MATCH (n:KgqaReplay)
DETACH DELETE n
RETURN count(*) AS removed

// name: list_indexes
// purpose: the names of the database's indexes, those behind its constraints included
// params: none
// returns: name: string
// stores: neo4j
SHOW INDEXES YIELD name RETURN name ORDER BY name

// name: live_examinations
// purpose: which examinations hold a transaction open, so that nobody takes their graphs for leftovers; a client that dies has none
// params: none
// returns: name: string
// stores: neo4j
SHOW TRANSACTIONS YIELD metaData
WHERE metaData.kgqa IS NOT NULL
RETURN metaData.kgqa AS name
ORDER BY name

// name: drop_constrain_marker
// purpose: take back a constraint that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP CONSTRAINT kgqa_graph IF EXISTS

// name: drop_constrain_entity
// purpose: take back a constraint that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP CONSTRAINT kgqa_entity IF EXISTS

// name: drop_constrain_document
// purpose: take back a constraint that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP CONSTRAINT kgqa_document IF EXISTS

// name: drop_constrain_relation
// purpose: take back a constraint that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP CONSTRAINT kgqa_relation IF EXISTS

// name: drop_constrain_sample
// purpose: take back a constraint that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP CONSTRAINT kgqa_sample IF EXISTS

// name: drop_index_sample
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_sample_id IF EXISTS

// name: drop_constrain_chain
// purpose: take back a constraint that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP CONSTRAINT kgqa_chain IF EXISTS

// name: drop_constrain_subquestion
// purpose: take back a constraint that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP CONSTRAINT kgqa_subquestion IF EXISTS

// name: drop_constrain_blocked
// purpose: take back a constraint that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP CONSTRAINT kgqa_blocked IF EXISTS

// name: drop_index_sample_relation
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_sample_relation IF EXISTS

// name: drop_index_sample_split
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_sample_split IF EXISTS

// name: drop_index_blocked_reason
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_blocked_reason IF EXISTS

// name: drop_index_blocked_place
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_blocked_place IF EXISTS

// name: drop_index_sample_grade
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_sample_grade IF EXISTS

// name: drop_index_blocked_relation
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_blocked_relation IF EXISTS

// name: drop_index_label
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_entity_label IF EXISTS

// name: drop_index_entity_row
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_entity_row IF EXISTS

// name: drop_index_entity_documents
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_entity_documents IF EXISTS

// name: drop_index_title
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_document_title IF EXISTS

// name: drop_index_relation
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_fact_relation IF EXISTS

// name: drop_index_names
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_entity_search IF EXISTS

// name: drop_index_titles
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_document_search IF EXISTS

// name: drop_index_words_of_names
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_names IF EXISTS

// name: drop_index_words_of_titles
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_titles IF EXISTS

// name: drop_index_sample_row
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_sample_row IF EXISTS


// name: drop_index_sample_hops
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_sample_hops IF EXISTS


// name: drop_index_blocked_value
// purpose: take back an index that the doctor's load made
// params: none
// returns: none
// stores: neo4j
DROP INDEX kgqa_blocked_value IF EXISTS
