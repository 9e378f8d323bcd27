// 8 Hubs
// The entities in most documents, and how often each is an answer or a candidate.
MATCH (e:Entity) WHERE e.documents > 0
WITH e ORDER BY e.documents DESC, e.row LIMIT 20
RETURN e.label AS entity, e.documents AS documents, COUNT { (e)<-[:ANSWER]-(:Sample) } AS answers, COUNT { (e)<-[:CANDIDATE]-(:Sample) } AS times_candidate
