// For whoever loads samples; cannot be asked by name.

// name: sample_markers
// purpose: what kgqa wrote down about the datasets of which it adds or has added samples, or the rejected questions
// params: none
// returns: dataset: string, part: string, content: string, loader: string, finished: boolean, rows: integer
// stores: neo4j
MATCH (g:KgqaGraph) WHERE g.dataset IS NOT NULL
RETURN g.dataset AS dataset, coalesce(g.part, 'samples') AS part, g.content AS content, g.loader AS loader, g.finished AS finished, coalesce(g.rows, g.samples) AS rows
ORDER BY dataset, part

// name: claim_samples
// purpose: mark a part of a dataset, its samples or its rejected questions, as one that is being added
// params: marker: string, dataset: string, part: string, content: string, loader: string
// returns: claimed: integer
// stores: neo4j
CREATE (g:KgqaGraph {id: $marker, dataset: $dataset, part: $part, content: $content, loader: $loader, finished: false, rows: 0})
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
// purpose: one batch of samples with all that hangs on them, unless the graph is another now, or another loader has taken over. Rows name samples, chains, entities and documents by their places in the lists of the batch
// params: marker: string, tables: string, loader: string, from: integer, to: integer, entities: strings, documents: strings, relations: table, sample: table, chain: table, subquestion: table, sample_about: table, sample_answer: table, candidate: table, support: table, step_entity: table, step_document: table, supported_by: table, subquestion_answer: table, sample_relation: table, subquestion_relation: table, depends_on: table
// returns: found_entities: integer, found_documents: integer, found_relations: integer, sample: integer, chain: integer, subquestion: integer, sample_about: integer, sample_answer: integer, candidate: integer, support: integer, step_entity: integer, step_document: integer, supported_by: integer, subquestion_answer: integer, sample_relation: integer, subquestion_relation: integer, depends_on: integer
// stores: neo4j
MATCH (k:KgqaGraph {id: 'kgqa'}) SET k.lock = $loader
WITH k WHERE k.finished AND k.tables = $tables
MATCH (g:KgqaGraph {id: $marker}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.rows = $from
SET g.rows = $to
WITH g
CALL { UNWIND range(0, size($entities) - 1) AS place MATCH (e:Entity {id: $entities[place]}) WITH e ORDER BY place RETURN collect(e) AS entities }
CALL { UNWIND range(0, size($documents) - 1) AS place MATCH (d:Document {id: $documents[place]}) WITH d ORDER BY place RETURN collect(d) AS documents }
CALL { UNWIND range(0, size($relations) - 1) AS place MATCH (r:Relation {row: $relations[place]}) WITH r ORDER BY place RETURN collect(r) AS relations }
CALL {
  UNWIND $sample AS r
  CREATE (s:Sample {key: r[0], id: r[1], dataset: r[2], split: r[3], row: r[4], question: r[5], relation: r[6], answer: r[7], hops: r[8], grade: r[9], relation_label: r[10]})
  RETURN collect(s) AS samples
}
// Were one missing, all after it would be at another's place: what is created then is taken back by whoever counts the rows.
WITH entities, documents, relations, samples, size(entities) = size($entities) AND size(documents) = size($documents) AND size(relations) = size($relations) AS whole
CALL {
  WITH samples
  UNWIND $chain AS r
  WITH samples[r[0]] AS s, r
  CREATE (s)-[:HAS_CHAIN]->(c:Chain {key: r[1], row: r[2], dataset: r[3], sample: r[4], candidate: r[5], number: r[6], correct: r[7], grade: r[8], length: r[9]})
  RETURN collect(c) AS chains
}
CALL {
  WITH samples
  UNWIND $subquestion AS r
  WITH samples[r[0]] AS s, r
  CREATE (s)-[:HAS_SUBQUESTION]->(u:SubQuestion {key: r[1], row: r[2], dataset: r[3], sample: r[4], number: r[5], id: r[6], question: r[7], answer: r[8], relation: r[9]})
  RETURN collect(u) AS subquestions
}
CALL {
  WITH samples, entities, whole
  UNWIND $sample_about AS r
  WITH samples[r[0]] AS s, entities[r[1]] AS e, whole WHERE whole
  CREATE (s)-[a:ASKS_ABOUT]->(e)
  RETURN count(a) AS sample_about
}
CALL {
  WITH samples, entities, whole
  UNWIND $sample_answer AS r
  WITH samples[r[0]] AS s, entities[r[1]] AS e, whole WHERE whole
  CREATE (s)-[a:ANSWER]->(e)
  RETURN count(a) AS sample_answer
}
CALL {
  WITH samples, entities, whole
  UNWIND $candidate AS r
  WITH samples[r[0]] AS s, entities[r[1]] AS e, r, whole WHERE whole
  CREATE (s)-[c:CANDIDATE {position: r[2], correct: r[3], grade: r[4], path: r[5], text: r[6]}]->(e)
  RETURN count(c) AS candidate
}
CALL {
  WITH samples, documents, whole
  UNWIND $support AS r
  WITH samples[r[0]] AS s, documents[r[1]] AS d, r, whole WHERE whole
  CREATE (s)-[u:SUPPORT {position: r[2]}]->(d)
  RETURN count(u) AS support
}
CALL {
  WITH chains, entities, whole
  UNWIND $step_entity AS r
  WITH chains[r[0]] AS c, entities[r[1]] AS e, r, whole WHERE whole
  CREATE (c)-[t:STEP {position: r[2], role: r[3]}]->(e)
  RETURN count(t) AS step_entity
}
CALL {
  WITH chains, documents, whole
  UNWIND $step_document AS r
  WITH chains[r[0]] AS c, documents[r[1]] AS d, r, whole WHERE whole
  CREATE (c)-[t:STEP {position: r[2], role: r[3]}]->(d)
  RETURN count(t) AS step_document
}
CALL {
  WITH subquestions, documents, whole
  UNWIND $supported_by AS r
  WITH subquestions[r[0]] AS u, documents[r[1]] AS d, whole WHERE whole
  CREATE (u)-[p:SUPPORTED_BY]->(d)
  RETURN count(p) AS supported_by
}
CALL {
  WITH subquestions, entities, whole
  UNWIND $subquestion_answer AS r
  WITH subquestions[r[0]] AS u, entities[r[1]] AS e, whole WHERE whole
  CREATE (u)-[a:ANSWER]->(e)
  RETURN count(a) AS subquestion_answer
}
CALL {
  WITH samples, relations, whole
  UNWIND $sample_relation AS r
  WITH samples[r[0]] AS s, relations[r[1]] AS n, whole WHERE whole
  CREATE (s)-[o:OF_RELATION]->(n)
  RETURN count(o) AS sample_relation
}
CALL {
  WITH subquestions, relations, whole
  UNWIND $subquestion_relation AS r
  WITH subquestions[r[0]] AS u, relations[r[1]] AS n, whole WHERE whole
  CREATE (u)-[o:OF_RELATION]->(n)
  RETURN count(o) AS subquestion_relation
}
CALL {
  WITH subquestions
  UNWIND $depends_on AS r
  WITH subquestions[r[0]] AS u, subquestions[r[1]] AS needed
  CREATE (u)-[n:DEPENDS_ON]->(needed)
  RETURN count(n) AS depends_on
}
RETURN size(entities) AS found_entities, size(documents) AS found_documents, size(relations) AS found_relations, size(samples) AS sample, size(chains) AS chain, size(subquestions) AS subquestion, sample_about, sample_answer, candidate, support, step_entity, step_document, supported_by, subquestion_answer, sample_relation, subquestion_relation, depends_on

// name: add_rejected
// purpose: one batch of questions that became no sample, unless the graph is another now, or another loader has taken over
// params: marker: string, tables: string, loader: string, from: integer, to: integer, entities: strings, filters: strings, blocked: table, filter: table, blocked_about: table, blocked_answer: table, rejected_by: table
// returns: found_entities: integer, found_filters: integer, blocked: integer, filter: integer, blocked_about: integer, blocked_answer: integer, rejected_by: integer
// stores: neo4j
MATCH (k:KgqaGraph {id: 'kgqa'}) SET k.lock = $loader
WITH k WHERE k.finished AND k.tables = $tables
MATCH (g:KgqaGraph {id: $marker}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.rows = $from
SET g.rows = $to
WITH g
CALL { UNWIND range(0, size($entities) - 1) AS place MATCH (e:Entity {id: $entities[place]}) WITH e ORDER BY place RETURN collect(e) AS entities }
CALL {
  UNWIND $blocked AS r
  CREATE (q:Rejected {key: r[0], id: r[1], dataset: r[2], row: r[3], split: r[4], stage: r[5], reason: r[6], detail: r[7], question: r[8], relation: r[9], subject: r[10], answer: r[11], setting: r[12], value: r[13], threshold: r[14], filter: r[15], place: r[16]})
  RETURN collect(q) AS questions
}
CALL {
  UNWIND $filter AS r
  CREATE (f:Filter {key: r[0], row: r[1], dataset: r[2], stage: r[3], reason: r[4], setting: r[5], questions: r[6]})
  RETURN count(f) AS filter
}
// The first batch creates the filters, and all batches join their questions with them.
CALL {
  WITH filter
  UNWIND range(0, size($filters) - 1) AS place
  MATCH (f:Filter {key: $filters[place]})
  WITH f ORDER BY place
  RETURN collect(f) AS filters
}
WITH entities, questions, filter, filters, size(entities) = size($entities) AND size(filters) = size($filters) AS whole
CALL {
  WITH questions, entities, whole
  UNWIND $blocked_about AS r
  WITH questions[r[0]] AS q, entities[r[1]] AS e, whole WHERE whole
  CREATE (q)-[a:ASKS_ABOUT]->(e)
  RETURN count(a) AS blocked_about
}
CALL {
  WITH questions, entities, whole
  UNWIND $blocked_answer AS r
  WITH questions[r[0]] AS q, entities[r[1]] AS e, whole WHERE whole
  CREATE (q)-[a:ANSWER]->(e)
  RETURN count(a) AS blocked_answer
}
CALL {
  WITH questions, filters, whole
  UNWIND $rejected_by AS r
  WITH questions[r[0]] AS q, filters[r[1]] AS f, whole WHERE whole
  CREATE (q)-[b:REJECTED_BY]->(f)
  RETURN count(b) AS rejected_by
}
RETURN size(entities) AS found_entities, size(filters) AS found_filters, size(questions) AS blocked, filter, blocked_about, blocked_answer, rejected_by

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
// purpose: samples, chains, sub-questions, rejected questions and filters of datasets that kgqa did not add
// params: none
// returns: label: string, nodes: integer
// stores: neo4j
OPTIONAL MATCH (g:KgqaGraph) WHERE g.dataset IS NOT NULL
WITH collect(g.dataset) AS known
MATCH (s:Sample|Chain|SubQuestion|Rejected|Question|Filter) WHERE s.dataset IS NULL OR NOT s.dataset IN known
RETURN labels(s)[0] AS label, count(s) AS nodes
ORDER BY label

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
CALL { WITH s OPTIONAL MATCH (s)-[:HAS_CHAIN|HAS_SUBQUESTION]->(n) DETACH DELETE n }
DETACH DELETE s
RETURN count(*) AS erased

// name: erase_rejected
// purpose: remove some of a dataset's rejected questions, and the filters
// params: dataset: string, limit: integer
// returns: erased: integer
// stores: neo4j
MATCH (q:Rejected|Question|Filter {dataset: $dataset})
WITH q LIMIT $limit
DETACH DELETE q
RETURN count(*) AS erased

// name: erase_sample_marker
// purpose: the last step: nothing of the dataset is left
// params: marker: string, loader: string
// returns: erased: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: $marker}) WHERE g.loader = $loader
DELETE g
RETURN count(*) AS erased

// name: load_sample
// purpose: fill Sample from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY Sample FROM $rows

// name: load_chain
// purpose: fill Chain from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY Chain FROM $rows

// name: load_subquestion
// purpose: fill SubQuestion from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY SubQuestion FROM $rows

// name: load_blocked
// purpose: fill Rejected from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY Rejected FROM $rows

// name: load_filter
// purpose: fill Filter from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY Filter FROM $rows

// name: load_sample_about
// purpose: fill ASKS_ABOUT from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY ASKS_ABOUT FROM $rows (from='Sample', to='Entity')

// name: load_blocked_about
// purpose: fill ASKS_ABOUT from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY ASKS_ABOUT FROM $rows (from='Rejected', to='Entity')

// name: load_sample_answer
// purpose: fill ANSWER from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY ANSWER FROM $rows (from='Sample', to='Entity')

// name: load_blocked_answer
// purpose: fill ANSWER from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY ANSWER FROM $rows (from='Rejected', to='Entity')

// name: load_subquestion_answer
// purpose: fill ANSWER from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY ANSWER FROM $rows (from='SubQuestion', to='Entity')

// name: load_sample_relation
// purpose: fill OF_RELATION from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY OF_RELATION FROM $rows (from='Sample', to='Relation')

// name: load_subquestion_relation
// purpose: fill OF_RELATION from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY OF_RELATION FROM $rows (from='SubQuestion', to='Relation')

// name: load_rejected_by
// purpose: fill REJECTED_BY from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY REJECTED_BY FROM $rows

// name: load_candidate
// purpose: fill CANDIDATE from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY CANDIDATE FROM $rows

// name: load_support
// purpose: fill SUPPORT from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY SUPPORT FROM $rows

// name: load_has_chain
// purpose: fill HAS_CHAIN from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY HAS_CHAIN FROM $rows

// name: load_step_entity
// purpose: fill STEP from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY STEP FROM $rows (from='Chain', to='Entity')

// name: load_step_document
// purpose: fill STEP from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY STEP FROM $rows (from='Chain', to='Document')

// name: load_has_subquestion
// purpose: fill HAS_SUBQUESTION from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY HAS_SUBQUESTION FROM $rows

// name: load_supported_by
// purpose: fill SUPPORTED_BY from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY SUPPORTED_BY FROM $rows

// name: load_depends_on
// purpose: fill DEPENDS_ON from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY DEPENDS_ON FROM $rows
