// For the projection of kgqa generate; cannot be asked by name.

// name: abstract_mentions_protein
// purpose: edges from an abstract to every protein that it mentions (Welbl et al. 2018, section 4, edge 1)
// params: none
// returns: documents: strings, entities: strings
// stores: embedded, neo4j
MATCH (d:Document)-[m:MENTIONS]->(p:Entity)
WHERE d.usable AND p.kind = 'protein'
WITH d.row / 1000 AS part, collect(d.id) AS documents, collect(p.id) AS entities
RETURN documents, entities
ORDER BY part

// name: abstract_mentions_targeted_drug
// purpose: edges from an abstract to a drug that it mentions together with one of the drug's targets (Welbl et al. 2018, section 4, edge 2)
// params: none
// returns: documents: strings, entities: strings
// stores: embedded, neo4j
MATCH (d:Document)-[m1:MENTIONS]->(g:Entity)-[f:FACT]->(p:Entity)<-[m2:MENTIONS]-(d)
WHERE d.usable AND f.relation = 'target'
WITH DISTINCT d, g
WITH d.row / 1000 AS part, collect(d.id) AS documents, collect(g.id) AS entities
RETURN documents, entities
ORDER BY part

// name: drug_in_abstract_with_target
// purpose: edges from a drug to an abstract that mentions it together with one of its targets (edge 2 in the other direction)
// params: none
// returns: entities: strings, documents: strings
// stores: embedded, neo4j
MATCH (d:Document)-[m1:MENTIONS]->(g:Entity)-[f:FACT]->(p:Entity)<-[m2:MENTIONS]-(d)
WHERE d.usable AND f.relation = 'target'
WITH DISTINCT g, d
WITH d.row / 1000 AS part, collect(g.id) AS entities, collect(d.id) AS documents
RETURN entities, documents
ORDER BY part

// name: protein_in_abstract_with_partner
// purpose: edges from a protein to an abstract that mentions it together with a protein that it interacts with (Welbl et al. 2018, section 4, edge 3)
// params: none
// returns: entities: strings, documents: strings
// stores: embedded, neo4j
MATCH (d:Document)-[m1:MENTIONS]->(p:Entity)-[f:FACT]->(q:Entity)<-[m2:MENTIONS]-(d)
WHERE d.usable AND f.relation = 'protein_interaction'
WITH DISTINCT p, d
WITH d.row / 1000 AS part, collect(p.id) AS entities, collect(d.id) AS documents
RETURN entities, documents
ORDER BY part

// name: partner_in_abstract_with_protein
// purpose: the edges of protein_in_abstract_with_partner for the other protein of each pair, because an interaction is stored only once
// params: none
// returns: entities: strings, documents: strings
// stores: embedded, neo4j
MATCH (d:Document)-[m1:MENTIONS]->(p:Entity)-[f:FACT]->(q:Entity)<-[m2:MENTIONS]-(d)
WHERE d.usable AND f.relation = 'protein_interaction'
WITH DISTINCT q, d
WITH d.row / 1000 AS part, collect(q.id) AS entities, collect(d.id) AS documents
RETURN entities, documents
ORDER BY part

// name: protein_in_abstract_with_drug
// purpose: edges from a protein to an abstract that mentions it together with a drug that targets it, so that the protein joins two drugs
// params: none
// returns: entities: strings, documents: strings
// stores: embedded, neo4j
MATCH (d:Document)-[m1:MENTIONS]->(g:Entity)-[f:FACT]->(p:Entity)<-[m2:MENTIONS]-(d)
WHERE d.usable AND f.relation = 'target'
WITH DISTINCT p, d
WITH d.row / 1000 AS part, collect(p.id) AS entities, collect(d.id) AS documents
RETURN entities, documents
ORDER BY part
