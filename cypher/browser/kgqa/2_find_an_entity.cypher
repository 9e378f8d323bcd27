// 2 Find an entity
// By a part of its names, in any case; change the text in quotes.
MATCH (e:Entity)
WHERE e.search CONTAINS toLower('lisbon')
RETURN e
ORDER BY size(e.label), e.row
LIMIT 25
