// For whoever loads samples; cannot be asked by name.

// name: sample_markers
// purpose: what kgqa wrote down about the datasets whose samples it adds or has added
// params: none
// returns: dataset: string, content: string, loader: string, finished: boolean, samples: integer
// stores: neo4j
MATCH (g:KgqaGraph) WHERE g.dataset IS NOT NULL
RETURN g.dataset AS dataset, g.content AS content, g.loader AS loader, g.finished AS finished, g.samples AS samples
ORDER BY dataset

// name: claim_samples
// purpose: mark a dataset as one whose samples are being added
// params: marker: string, dataset: string, content: string, loader: string
// returns: claimed: integer
// stores: neo4j
CREATE (g:KgqaGraph {id: $marker, dataset: $dataset, content: $content, loader: $loader, finished: false, samples: 0})
RETURN count(g) AS claimed

// name: take_over_samples
// purpose: go on with an unfinished dataset; whoever began it stops at its next batch
// params: marker: string, content: string, loader: string
// returns: taken: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: $marker}) SET g.lock = $loader
WITH g WHERE g.content = $content AND NOT g.finished
SET g.loader = $loader
RETURN count(g) AS taken

// name: add_samples
// purpose: one batch of samples with all that hangs on them, unless the graph is another now, or another loader has taken over
// params: marker: string, tables: string, loader: string, from: integer, rows: table, candidates: table, supports: table, entities: table, documents: table
// returns: samples: integer, candidates: integer, supports: integer, documents: integer, entities: integer
// stores: neo4j
MATCH (k:KgqaGraph {id: 'kgqa'}) SET k.lock = $loader
WITH k WHERE k.finished AND k.tables = $tables
MATCH (g:KgqaGraph {id: $marker}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.samples = $from
SET g.samples = $from + size($rows)
WITH g UNWIND $rows AS row
MATCH (subject:Entity {id: row[6]}) MATCH (answer:Entity {id: row[7]})
CREATE (s:Sample {id: row[0], dataset: g.dataset, split: row[1], row: row[2], question: row[3], relation: row[4], answer: row[5]})
CREATE (s)-[about:ASKS_ABOUT]->(subject)
CREATE (s)-[correct:ANSWER]->(answer)
WITH g, count(s) AS samples
UNWIND $candidates AS row
MATCH (s:Sample {dataset: g.dataset, id: row[0]}) MATCH (e:Entity {id: row[1]})
CREATE (s)-[c:CANDIDATE {position: row[2], answer: row[3], grade: row[4], path: row[5], text: row[6]}]->(e)
WITH g, samples, count(c) AS candidates
UNWIND $supports AS row
MATCH (s:Sample {dataset: g.dataset, id: row[0]}) MATCH (d:Document {id: row[1]})
CREATE (s)-[c:SUPPORT {position: row[2]}]->(d)
WITH g, samples, candidates, count(c) AS supports
UNWIND $documents AS row
MATCH (s:Sample {dataset: g.dataset, id: row[0]}) MATCH (d:Document {id: row[1]})
CREATE (s)-[c:STEP {position: row[2], answer: row[3], candidates: row[4], chains: row[5]}]->(d)
WITH g, samples, candidates, supports, count(c) AS documents
// Where every chain has a single document there is no entity between the ends.
UNWIND CASE size($entities) WHEN 0 THEN [[null]] ELSE $entities END AS row
OPTIONAL MATCH (s:Sample {dataset: g.dataset, id: row[0]})
OPTIONAL MATCH (e:Entity {id: row[1]})
FOREACH (one IN CASE WHEN s IS NULL OR e IS NULL THEN [] ELSE [1] END |
  CREATE (s)-[:STEP {position: row[2], answer: row[3], candidates: row[4], chains: row[5]}]->(e))
WITH samples, candidates, supports, documents, count(e) AS entities
RETURN samples, candidates, supports, documents, entities

// name: finish_samples
// purpose: the dataset is whole
// params: marker: string, loader: string
// returns: finished: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: $marker}) SET g.lock = $loader
WITH g WHERE g.loader = $loader
SET g.finished = true
RETURN count(g) AS finished

// name: strange_samples
// purpose: samples of datasets that kgqa did not add
// params: none
// returns: samples: integer
// stores: neo4j
OPTIONAL MATCH (g:KgqaGraph) WHERE g.dataset IS NOT NULL
WITH collect(g.dataset) AS known
MATCH (s:Sample) WHERE s.dataset IS NULL OR NOT s.dataset IN known
RETURN count(s) AS samples

// name: begin_erasing_samples
// purpose: a dataset that is being replaced is no longer whole
// params: marker: string, loader: string
// returns: begun: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: $marker})
SET g.content = 'erased', g.loader = $loader, g.finished = false
RETURN count(g) AS begun

// name: erase_samples
// purpose: remove some samples of a dataset, with all that hangs on them
// params: dataset: string, limit: integer
// returns: erased: integer
// stores: neo4j
MATCH (s:Sample {dataset: $dataset})
WITH s LIMIT $limit
DETACH DELETE s
RETURN count(*) AS erased

// name: erase_sample_marker
// purpose: the last step: nothing of the dataset is left
// params: marker: string, loader: string
// returns: erased: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: $marker}) WHERE g.loader = $loader
DELETE g
RETURN count(*) AS erased
