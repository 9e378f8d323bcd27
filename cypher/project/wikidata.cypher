// For the projection of kgqa generate; cannot be asked by name.

// name: article_mentions
// purpose: edges from an article to every entity that it mentions (Welbl et al. 2018, section 3, edge 1), with a thousand articles per row
// params: none
// returns: documents: strings, entities: strings
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
WHERE d.usable
WITH d.row / 1000 AS part, collect(d.id) AS documents, collect(e.id) AS entities
RETURN documents, entities
ORDER BY part

// name: article_of
// purpose: edges from an entity to the article about it (Welbl et al. 2018, section 3, edge 2), with a thousand articles per row
// params: none
// returns: entities: strings, documents: strings
// stores: embedded, neo4j
MATCH (e:Entity)-[a:ABOUT]->(d:Document)
WHERE d.usable
WITH d.row / 1000 AS part, collect(e.id) AS entities, collect(d.id) AS documents
RETURN entities, documents
ORDER BY part
