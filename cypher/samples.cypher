// For people, after kgqa load --dataset (and --rejected): kgqa query --list shows them.

// name: loaded_datasets
// purpose: the datasets whose samples are loaded, with the number of samples of each split
// params: none
// returns: dataset: string, split: string, samples: integer
// stores: embedded, neo4j
MATCH (s:Sample)
WHERE s.split IS NOT NULL
WITH s.dataset AS dataset, s.split AS split, count(s.row) AS samples, min(s.row) AS first
RETURN dataset, split, samples
ORDER BY dataset, first

// name: samples_about
// purpose: the samples about an entity
// params: entity: entity, limit: integer = 50
// returns: sample: string, dataset: string, split: string, question: string, answer: string
// stores: embedded, neo4j
MATCH (s:Sample)-[a:ASKS_ABOUT]->(e:Entity)
WHERE e.id = $entity
RETURN s.id AS sample, s.dataset AS dataset, s.split AS split, s.question AS question, s.answer AS answer
ORDER BY s.row, dataset
LIMIT $limit

// name: samples_answered_by
// purpose: the samples whose answer is an entity
// params: entity: entity, limit: integer = 50
// returns: sample: string, dataset: string, split: string, question: string
// stores: embedded, neo4j
MATCH (s:Sample)-[a:ANSWER]->(e:Entity)
WHERE e.id = $entity
RETURN s.id AS sample, s.dataset AS dataset, s.split AS split, s.question AS question
ORDER BY s.row, dataset
LIMIT $limit

// name: samples_by_grade
// purpose: the samples whose answer has a grade from minimum to maximum, the best first, with the grade of the best other candidate
// params: dataset: string = '', minimum: number = 0.0, maximum: number = 1.0, limit: integer = 50
// returns: sample: string, dataset: string, split: string, question: string, answer: string, grade: number, path: string, text: string, other: number
// stores: embedded, neo4j
MATCH (s:Sample)
WHERE s.grade >= $minimum AND s.grade <= $maximum AND ($dataset = '' OR s.dataset = $dataset)
WITH s
ORDER BY s.grade DESC, s.row, s.dataset
LIMIT $limit
MATCH (s)-[c:CANDIDATE]->(e:Entity)
WHERE c.correct
OPTIONAL MATCH (s)-[o:CANDIDATE]->(x:Entity)
WHERE NOT o.correct
WITH s, c, max(o.grade) AS other
RETURN s.id AS sample, s.dataset AS dataset, s.split AS split, s.question AS question, s.answer AS answer, s.grade AS grade, c.path AS path, c.text AS text, other
ORDER BY grade DESC, s.row, dataset

// name: sample_chain
// purpose: the chains of a sample in order, from the subject to its answer or to another candidate
// params: sample: string, candidate: entity = ''
// returns: dataset: string, chain: integer, position: integer, role: string, kind: string, id: string, name: string
// stores: embedded, neo4j
MATCH (s:Sample)-[h:HAS_CHAIN]->(k:Chain)-[t:STEP]->(n)
WHERE s.id = $sample AND (k.candidate = $candidate OR ($candidate = '' AND k.correct))
RETURN s.dataset AS dataset, k.number AS chain, t.position AS position, t.role AS role, CASE WHEN t.position % 2 = 0 THEN 'Entity' ELSE 'Document' END AS kind,
  n.id AS id, coalesce(n.label, n.title) AS name
ORDER BY chain, position, dataset

// name: sample_candidates
// purpose: the candidates of a sample in the order shown, the number of chains to each, and the grade of the best chain
// params: sample: string
// returns: dataset: string, candidate: string, label: string, correct: boolean, chains: integer, grade: number, path: string, text: string
// stores: embedded, neo4j
MATCH (s:Sample)-[c:CANDIDATE]->(e:Entity)
WHERE s.id = $sample
OPTIONAL MATCH (s)-[h:HAS_CHAIN]->(k:Chain)
WHERE k.candidate = e.id
WITH s.dataset AS dataset, c.position AS position, e.id AS candidate, e.label AS label, c.correct AS correct, c.grade AS grade, c.path AS path,
  c.text AS text, count(k.row) AS chains
RETURN dataset, candidate, label, correct, chains, grade, path, text
ORDER BY position, dataset

// name: sample_documents
// purpose: the support documents of a sample in the order shown, and whether each is on a chain to the answer
// params: sample: string
// returns: dataset: string, document: string, title: string, supporting: boolean
// stores: embedded, neo4j
MATCH (s:Sample)-[u:SUPPORT]->(d:Document)
WHERE s.id = $sample
OPTIONAL MATCH (s)-[h:HAS_CHAIN]->(k:Chain)-[t:STEP]->(d)
WHERE k.correct
WITH s.dataset AS dataset, u.position AS position, d.id AS document, d.title AS title, count(k.row) AS steps
RETURN dataset, document, title, steps > 0 AS supporting
ORDER BY position, dataset

// name: samples_of_relation
// purpose: the samples about a relation, optionally only of a split, a dataset or a number of hops (documents on the shortest chain to the answer)
// params: relation: relation, dataset: string = '', split: string = '', hops: integer = 0, limit: integer = 50
// returns: sample: string, dataset: string, split: string, hops: integer, question: string, answer: string
// stores: embedded, neo4j
MATCH (s:Sample)
WHERE s.relation = $relation AND ($dataset = '' OR s.dataset = $dataset) AND ($split = '' OR s.split = $split) AND ($hops = 0 OR s.hops = $hops)
RETURN s.id AS sample, s.dataset AS dataset, s.split AS split, s.hops AS hops, s.question AS question, s.answer AS answer
ORDER BY s.row, dataset
LIMIT $limit

// name: samples_of_split
// purpose: the samples of a split (train, dev or test), optionally only of a dataset or a number of hops (documents on the shortest chain to the answer)
// params: split: string, dataset: string = '', hops: integer = 0, limit: integer = 50
// returns: sample: string, dataset: string, hops: integer, relation: string, question: string, answer: string
// stores: embedded, neo4j
MATCH (s:Sample)
WHERE s.split = $split AND ($dataset = '' OR s.dataset = $dataset) AND ($hops = 0 OR s.hops = $hops)
RETURN s.id AS sample, s.dataset AS dataset, s.hops AS hops, s.relation AS relation, s.question AS question, s.answer AS answer
ORDER BY s.row, dataset
LIMIT $limit

// name: samples_of_length
// purpose: the samples whose shortest chain to the answer has this number of documents
// params: hops: integer, dataset: string = '', limit: integer = 50
// returns: sample: string, dataset: string, split: string, relation: string, question: string, answer: string
// stores: embedded, neo4j
MATCH (s:Sample)
WHERE s.hops = $hops AND ($dataset = '' OR s.dataset = $dataset)
RETURN s.id AS sample, s.dataset AS dataset, s.split AS split, s.relation AS relation, s.question AS question, s.answer AS answer
ORDER BY s.row, dataset
LIMIT $limit

// name: samples_with_document
// purpose: the samples that show a document, and whether it is on a chain to their answer
// params: document: document, limit: integer = 50
// returns: sample: string, dataset: string, split: string, question: string, answer: string, supporting: boolean
// stores: embedded, neo4j
MATCH (s:Sample)-[u:SUPPORT]->(d:Document)
WHERE d.id = $document
WITH s, d
ORDER BY s.row, s.dataset
LIMIT $limit
OPTIONAL MATCH (s)-[h:HAS_CHAIN]->(k:Chain)-[t:STEP]->(d)
WHERE k.correct
WITH s.row AS row, s.id AS sample, s.dataset AS dataset, s.split AS split, s.question AS question, s.answer AS answer, count(k.row) AS steps
RETURN sample, dataset, split, question, answer, steps > 0 AS supporting
ORDER BY row, dataset

// name: used_bridges
// purpose: the most frequent bridges: entities on the chains to the answer, with the number of samples
// params: dataset: string = '', split: string = '', limit: integer = 20
// returns: bridge: string, label: string, samples: integer
// stores: embedded, neo4j
MATCH (s:Sample)-[h:HAS_CHAIN]->(k:Chain)-[t:STEP]->(e:Entity)
WHERE k.correct AND t.role = 'bridge' AND ($dataset = '' OR s.dataset = $dataset) AND ($split = '' OR s.split = $split)
WITH e, count(DISTINCT s.key) AS samples
RETURN e.id AS bridge, e.label AS label, samples
ORDER BY samples DESC, e.row
LIMIT $limit

// name: samples_over
// purpose: the samples with an entity as a bridge on a chain to their answer
// params: entity: entity, dataset: string = '', limit: integer = 50
// returns: sample: string, dataset: string, split: string, question: string, answer: string
// stores: embedded, neo4j
MATCH (s:Sample)-[h:HAS_CHAIN]->(k:Chain)-[t:STEP]->(e:Entity)
WHERE e.id = $entity AND k.correct AND t.role = 'bridge' AND ($dataset = '' OR s.dataset = $dataset)
WITH s, count(t.position) AS steps
RETURN s.id AS sample, s.dataset AS dataset, s.split AS split, s.question AS question, s.answer AS answer
ORDER BY s.row, dataset
LIMIT $limit

// name: sample_steps
// purpose: the sub-questions of a composed question in order, each with its answer and the paragraph that has it; #1 in a sub-question is the answer of the first
// params: sample: string
// returns: dataset: string, step: integer, question: string, answer: string, entity: string, document: string, title: string
// stores: embedded, neo4j
MATCH (s:Sample)-[h:HAS_SUBQUESTION]->(u:SubQuestion)-[a:ANSWER]->(e:Entity)
WHERE s.id = $sample
MATCH (u)-[p:SUPPORTED_BY]->(d:Document)
RETURN s.dataset AS dataset, u.number AS step, u.question AS question, u.answer AS answer, e.id AS entity, d.id AS document, d.title AS title
ORDER BY step, dataset

// name: bridges_of_steps
// purpose: the bridge of two steps of a composed question, optionally only of these two: the answer of a step that a later step asks about, and the paragraphs of both
// params: sample: string, step: integer = 0, later: integer = 0
// returns: dataset: string, step: integer, later: integer, bridge: string, label: string, document: string, later_document: string
// stores: embedded, neo4j
MATCH (s:Sample)-[h:HAS_SUBQUESTION]->(v:SubQuestion)-[n:DEPENDS_ON]->(u:SubQuestion)-[a:ANSWER]->(e:Entity)
WHERE s.id = $sample AND ($step = 0 OR u.number = $step) AND ($later = 0 OR v.number = $later)
MATCH (u)-[p:SUPPORTED_BY]->(d:Document)
MATCH (v)-[q:SUPPORTED_BY]->(f:Document)
RETURN s.dataset AS dataset, u.number AS step, v.number AS later, e.id AS bridge, e.label AS label, d.id AS document, f.id AS later_document
ORDER BY later, step, dataset

// name: steps_over
// purpose: the steps of composed questions whose answer is an entity; role is bridge where a later step asks about it, else answer
// params: entity: entity, dataset: string = '', limit: integer = 50
// returns: sample: string, dataset: string, split: string, step: integer, role: string, step_question: string, question: string
// stores: embedded, neo4j
MATCH (s:Sample)-[h:HAS_SUBQUESTION]->(u:SubQuestion)-[a:ANSWER]->(e:Entity)
WHERE e.id = $entity AND ($dataset = '' OR s.dataset = $dataset)
WITH s, u
ORDER BY u.row, s.dataset
LIMIT $limit
OPTIONAL MATCH (v:SubQuestion)-[n:DEPENDS_ON]->(u)
WITH s.id AS sample, s.dataset AS dataset, s.split AS split, u.row AS row, u.number AS step, u.question AS step_question, s.question AS question, count(v.row) AS later
RETURN sample, dataset, split, step, CASE WHEN later > 0 THEN 'bridge' ELSE 'answer' END AS role, step_question, question
ORDER BY row, dataset

// name: steps_in
// purpose: the steps of composed questions whose answer a document has
// params: document: document, dataset: string = '', limit: integer = 50
// returns: sample: string, dataset: string, split: string, step: integer, step_question: string, answer: string, question: string
// stores: embedded, neo4j
MATCH (s:Sample)-[h:HAS_SUBQUESTION]->(u:SubQuestion)-[p:SUPPORTED_BY]->(d:Document)
WHERE d.id = $document AND ($dataset = '' OR s.dataset = $dataset)
RETURN s.id AS sample, s.dataset AS dataset, s.split AS split, u.number AS step, u.question AS step_question, u.answer AS answer, s.question AS question
ORDER BY u.row, dataset
LIMIT $limit

// name: documents_of_two_splits
// purpose: the documents that two splits share, with the number of samples of each split that show them
// params: dataset: string = '', split: string = train, other: string = test, limit: integer = 50
// returns: document: string, title: string, samples: integer, other_samples: integer
// stores: embedded, neo4j
MATCH (s:Sample)-[u:SUPPORT]->(d:Document)
WHERE s.split = $split AND ($dataset = '' OR s.dataset = $dataset)
WITH d, count(s.row) AS samples
MATCH (o:Sample)-[v:SUPPORT]->(d)
WHERE o.split = $other AND ($dataset = '' OR o.dataset = $dataset)
WITH d, samples, count(o.row) AS other_samples
RETURN d.id AS document, d.title AS title, samples, other_samples
ORDER BY samples + other_samples DESC, d.row
LIMIT $limit

// name: rejected_counts
// purpose: the number of questions that each filter rejected, and the filter's setting
// params: dataset: string = '', limit: integer = 50
// returns: dataset: string, stage: string, reason: string, setting: string, questions: integer
// stores: embedded, neo4j
MATCH (f:Filter)
WHERE $dataset = '' OR f.dataset = $dataset
RETURN f.dataset AS dataset, f.stage AS stage, f.reason AS reason, f.setting AS setting, f.questions AS questions
ORDER BY questions DESC, f.row, dataset
LIMIT $limit

// name: rejected_by_filter
// purpose: the questions that one filter rejected; filter is a part of its reason or setting, such as grade
// params: filter: string, dataset: string = '', limit: integer = 50
// returns: id: string, dataset: string, question: string, answer: string, reason: string, value: number, threshold: number
// stores: embedded, neo4j
MATCH (f:Filter)
WHERE ($filter = '' OR f.reason CONTAINS $filter OR f.setting CONTAINS $filter) AND ($dataset = '' OR f.dataset = $dataset)
// Of all these the first are among the first of each.
MATCH (q:Rejected)
WHERE q.filter = f.key AND q.place < $limit
WITH q
ORDER BY q.row, q.dataset
LIMIT $limit
OPTIONAL MATCH (q)-[a:ANSWER]->(e:Entity)
RETURN q.id AS id, q.dataset AS dataset, q.question AS question, e.label AS answer, q.reason AS reason, q.value AS value, q.threshold AS threshold
ORDER BY q.row, dataset

// name: rejected_of_relation
// purpose: the questions about a relation that did not become a sample, and why
// params: relation: relation, dataset: string = '', limit: integer = 50
// returns: id: string, dataset: string, question: string, answer: string, stage: string, reason: string, detail: string
// stores: embedded, neo4j
MATCH (q:Rejected)
WHERE q.relation = $relation AND ($dataset = '' OR q.dataset = $dataset)
WITH q
ORDER BY q.row, q.dataset
LIMIT $limit
OPTIONAL MATCH (q)-[a:ANSWER]->(e:Entity)
RETURN q.id AS id, q.dataset AS dataset, q.question AS question, e.label AS answer, q.stage AS stage, q.reason AS reason, q.detail AS detail
ORDER BY q.row, dataset

// name: rejected_around
// purpose: the questions about an entity, or with it as their answer, that did not become a sample, and why
// params: entity: entity, limit: integer = 50
// returns: id: string, dataset: string, question: string, answer: string, stage: string, reason: string, value: number, threshold: number
// stores: embedded, neo4j
MATCH (q:Rejected)-[r:ASKS_ABOUT|ANSWER]->(x:Entity)
WHERE x.id = $entity
WITH q
ORDER BY q.row, q.dataset
LIMIT $limit
OPTIONAL MATCH (q)-[a:ANSWER]->(e:Entity)
RETURN q.id AS id, q.dataset AS dataset, q.question AS question, e.label AS answer, q.stage AS stage, q.reason AS reason, q.value AS value, q.threshold AS threshold
ORDER BY q.row, dataset

// name: rejected_at_threshold
// purpose: the questions that the filter with this setting would keep at another threshold; later filters may still reject them
// params: setting: string, threshold: number, dataset: string = '', limit: integer = 50
// returns: id: string, dataset: string, question: string, answer: string, reason: string, value: number, threshold: number
// stores: embedded, neo4j
MATCH (q:Rejected)
WHERE q.value IS NOT NULL AND ($setting = '' OR q.setting CONTAINS $setting) AND ($dataset = '' OR q.dataset = $dataset)
  AND ((q.value < q.threshold AND q.value >= $threshold) OR (q.value > q.threshold AND q.value <= $threshold))
WITH q
ORDER BY q.row, q.dataset
LIMIT $limit
OPTIONAL MATCH (q)-[a:ANSWER]->(e:Entity)
RETURN q.id AS id, q.dataset AS dataset, q.question AS question, e.label AS answer, q.reason AS reason, q.value AS value, q.threshold AS threshold
ORDER BY q.row, dataset

// name: sample_answer_counts
// purpose: the most frequent answers of a dataset, with the number of samples
// params: dataset: string = '', limit: integer = 20
// returns: answer: string, label: string, samples: integer
// stores: embedded, neo4j
MATCH (s:Sample)-[a:ANSWER]->(e:Entity)
WHERE $dataset = '' OR s.dataset = $dataset
WITH e, count(s.row) AS samples
RETURN e.id AS answer, e.label AS label, samples
ORDER BY samples DESC, e.row
LIMIT $limit
