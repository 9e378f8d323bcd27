// A composed question
// Its steps, each with its paragraph and its answer, and which step needs which; after kgqa load --dataset musique. row 1 is the next question.
MATCH (s:Sample {row: 0})-[:HAS_SUBQUESTION]->(first:SubQuestion {number: 1})
WITH s ORDER BY s.dataset LIMIT 1
MATCH step = (s)-[:HAS_SUBQUESTION]->(u:SubQuestion)-[:SUPPORTED_BY]->()
MATCH answer = (u)-[:ANSWER]->()
OPTIONAL MATCH needed = (u)-[:DEPENDS_ON]->()
RETURN step, answer, needed
ORDER BY u.number
