// 5 A question, its chain
// A line from the question over documents and bridges to the answer, if "Connect result nodes" is off in the settings; row 1 is the next question.
MATCH (s:Sample {row: 0})-[:HAS_CHAIN]->(k:Chain {correct: true, number: 0})-[t:STEP]->(n)
WHERE EXISTS { (s)-[:ASKS_ABOUT]->() }
WITH s, n ORDER BY s.dataset, t.position
WITH s, collect(n) AS places LIMIT 1
MATCH line = (s)-[:ASKS_ABOUT]->(subject)
WITH places, line
UNWIND range(1, size(places) - 1) AS i
WITH line, i, places[i - 1] AS before, places[i] AS after
MATCH hop = (before)-[over:ABOUT|MENTIONS]-(after)
WITH line, i, hop ORDER BY type(over)
WITH line, i, head(collect(hop)) AS hop
RETURN line, hop
ORDER BY i
