// 9 Facts that are not asked
// Of 'Lisbon', and what gives their answer away; the reasons are in the table view, the filter's own where kgqa load --rejected put them here.
MATCH (subject:Entity {label: 'Lisbon'})-[f:FACT]->(answer:Entity)
WHERE NOT EXISTS { MATCH (subject)<-[:ASKS_ABOUT]-(s:Sample)-[:ANSWER]->(answer) WHERE s.relation = f.relation }
OPTIONAL MATCH (subject)-[a:ABOUT]->(article:Document)
OPTIONAL MATCH (article)-[stated:MENTIONS]->(answer)
OPTIONAL MATCH (subject)<-[:ASKS_ABOUT]-(q:Rejected {relation: f.relation})-[:ANSWER]->(answer)
WITH subject, f, answer, a, article, stated, head(collect(q.reason)) AS reason
RETURN subject, f, answer, a, article, stated,
  CASE WHEN reason IS NOT NULL THEN reason
    WHEN stated IS NOT NULL THEN 'the article about the subject names the answer'
    WHEN NOT EXISTS { (answer)<-[:MENTIONS]-() } THEN 'no document names the answer'
    ELSE 'kgqa load --rejected names the rule' END AS why
ORDER BY why, f.row
LIMIT 25
