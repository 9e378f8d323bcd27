// 7 Questions about an entity
// The one that most questions ask about or have as their answer; for another, begin with MATCH (e:Entity {label: 'Lisbon'}).
MATCH (q:Sample)-[:ASKS_ABOUT|ANSWER]->(e:Entity)
WITH e, count(q) AS questions ORDER BY questions DESC, e.row LIMIT 1
MATCH (q:Sample)-[r:ASKS_ABOUT|ANSWER]->(e)
RETURN q, r, e
ORDER BY q.row
LIMIT 25
