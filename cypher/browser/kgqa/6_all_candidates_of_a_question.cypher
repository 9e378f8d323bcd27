// 6 A question, all candidates
// The first chain to each candidate: where they part; row 1 is the next question.
MATCH (s:Sample {row: 0})-[:HAS_CHAIN]->(k:Chain {number: 0})-[t:STEP]->(n)
WHERE EXISTS { (s)-[:ASKS_ABOUT]->() }
WITH s, k, n ORDER BY s.dataset, k.row, t.position
WITH s, k, collect(n) AS places
ORDER BY s.dataset, k.row LIMIT 25
MATCH question = (s)-[:CANDIDATE]->(candidate:Entity {id: k.candidate})
UNWIND range(1, size(places) - 1) AS i
WITH question, k, i, places[i - 1] AS before, places[i] AS after
MATCH hop = (before)-[over:ABOUT|MENTIONS]-(after)
WITH question, k, i, hop ORDER BY type(over)
WITH question, k, i, head(collect(hop)) AS hop
RETURN question, hop
ORDER BY k.row, i
