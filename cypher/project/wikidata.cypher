// name: article_mentions
// purpose: from an article to every entity that it mentions (Welbl et al. 2018, section 3, edge 1)
// params: none
// returns: document: string, entity: string
// stores: embedded
MATCH (d:Document)-[m:MENTIONS]->(e:Entity)
WHERE d.usable
RETURN d.id AS document, e.id AS entity
ORDER BY document, entity

// name: article_of
// purpose: from an entity to the article about it (Welbl et al. 2018, section 3, edge 2)
// params: none
// returns: entity: string, document: string
// stores: embedded
MATCH (e:Entity)-[a:ABOUT]->(d:Document)
WHERE d.usable
RETURN e.id AS entity, d.id AS document
ORDER BY entity, document
