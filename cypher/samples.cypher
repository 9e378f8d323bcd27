// For people, after kgqa load --dataset: kgqa query --list shows them.

// name: samples_about
// purpose: the samples that ask about an entity
// params: entity: string, limit: integer = 50
// returns: sample: string, dataset: string, split: string, question: string, answer: string
// stores: neo4j
MATCH (s:Sample)-[a:ASKS_ABOUT]->(e:Entity)
WHERE e.id = $entity
RETURN s.id AS sample, s.dataset AS dataset, s.split AS split, s.question AS question, s.answer AS answer
ORDER BY dataset, s.row
LIMIT $limit

// name: samples_answered_by
// purpose: the samples whose answer is an entity
// params: entity: string, limit: integer = 50
// returns: sample: string, dataset: string, split: string, question: string
// stores: neo4j
MATCH (s:Sample)-[a:ANSWER]->(e:Entity)
WHERE e.id = $entity
RETURN s.id AS sample, s.dataset AS dataset, s.split AS split, s.question AS question
ORDER BY dataset, s.row
LIMIT $limit

// name: samples_by_grade
// purpose: the samples whose answer has a grade from minimum to maximum, the best first, with the grade of the best other candidate
// params: dataset: string = '', minimum: number = 0.0, maximum: number = 1.0, limit: integer = 50
// returns: sample: string, dataset: string, split: string, question: string, answer: string, grade: number, path: string, text: string, other: number
// stores: neo4j
MATCH (s:Sample)-[c:CANDIDATE]->(e:Entity)
WHERE c.answer AND c.grade >= $minimum AND c.grade <= $maximum AND ($dataset = '' OR s.dataset = $dataset)
WITH s, c
ORDER BY c.grade DESC, s.dataset, s.row
LIMIT $limit
OPTIONAL MATCH (s)-[o:CANDIDATE]->(x:Entity)
WHERE NOT o.answer
WITH s, c, max(o.grade) AS other
RETURN s.id AS sample, s.dataset AS dataset, s.split AS split, s.question AS question, s.answer AS answer, c.grade AS grade, c.path AS path, c.text AS text, other
ORDER BY grade DESC, dataset, s.row

// name: sample_chain
// purpose: the chains of a sample in order, from the subject to its answer or to another candidate
// params: sample: string, candidate: string = ''
// returns: dataset: string, chain: integer, position: integer, kind: string, id: string, name: string
// stores: neo4j
MATCH (s:Sample)-[t:STEP]->(n)
WHERE s.id = $sample
UNWIND range(0, size(t.chains) - 1) AS i
MATCH (s)-[c:CANDIDATE]->(end:Entity {id: t.candidates[i]})
WHERE end.id = $candidate OR ($candidate = '' AND c.answer)
WITH s, end, t.chains[i] AS chain, collect({position: t.position, node: n}) AS between
MATCH (s)-[a:ASKS_ABOUT]->(subject:Entity)
UNWIND [{position: 0, node: subject}] + between + [{position: size(between) + 1, node: end}] AS place
WITH s, chain, place.position AS position, place.node AS n
RETURN s.dataset AS dataset, chain, position, labels(n)[0] AS kind, n.id AS id, coalesce(n.label, n.title) AS name
ORDER BY dataset, chain, position

// name: sample_candidates
// purpose: the candidates of a sample in the order shown, over how many chains each is reached, and the grade of the best one
// params: sample: string
// returns: dataset: string, candidate: string, label: string, answer: boolean, chains: integer, grade: number, path: string, text: string
// stores: neo4j
MATCH (s:Sample)-[c:CANDIDATE]->(e:Entity)
WHERE s.id = $sample
OPTIONAL MATCH (s)-[t:STEP]->(x:Document)
WHERE t.position = 1
WITH s, c, e, sum(size([candidate IN coalesce(t.candidates, []) WHERE candidate = e.id])) AS chains
RETURN s.dataset AS dataset, e.id AS candidate, e.label AS label, c.answer AS answer, chains, c.grade AS grade, c.path AS path, c.text AS text
ORDER BY dataset, c.position

// name: sample_documents
// purpose: the support documents of a sample in the order shown, and whether one stands on a chain to the answer
// params: sample: string
// returns: dataset: string, document: string, title: string, supporting: boolean
// stores: neo4j
MATCH (s:Sample)-[u:SUPPORT]->(d:Document)
WHERE s.id = $sample
OPTIONAL MATCH (s)-[t:STEP]->(x:Document)
WHERE x.id = d.id AND t.answer
WITH s, u, d, count(t) AS steps
RETURN s.dataset AS dataset, d.id AS document, d.title AS title, steps > 0 AS supporting
ORDER BY dataset, u.position

// name: sample_answer_counts
// purpose: the entities that are the answer of most samples of a dataset
// params: dataset: string = '', limit: integer = 20
// returns: answer: string, label: string, samples: integer
// stores: neo4j
MATCH (s:Sample)-[a:ANSWER]->(e:Entity)
WHERE $dataset = '' OR s.dataset = $dataset
RETURN e.id AS answer, e.label AS label, count(s) AS samples
ORDER BY samples DESC, answer
LIMIT $limit
