// name: abstract_mentions_protein
// purpose: from an abstract to every protein that it mentions (Welbl et al. 2018, section 4, edge 1)
// params: none
// returns: document: string, entity: string
// stores: embedded
MATCH (d:Document)-[m:MENTIONS]->(p:Entity)
WHERE d.usable AND p.kind = 'protein'
RETURN d.id AS document, p.id AS entity
ORDER BY document, entity

// name: abstract_mentions_targeted_drug
// purpose: from an abstract to a drug that it mentions beside one of the drug's targets (Welbl et al. 2018, section 4, edge 2)
// params: none
// returns: document: string, entity: string
// stores: embedded
MATCH (d:Document)-[m1:MENTIONS]->(g:Entity)-[f:FACT]->(p:Entity)<-[m2:MENTIONS]-(d)
WHERE d.usable AND f.relation = 'target'
RETURN DISTINCT d.id AS document, g.id AS entity
ORDER BY document, entity

// name: drug_in_abstract_with_target
// purpose: from a drug to an abstract that mentions it beside one of its targets; the same edge in the other direction
// params: none
// returns: entity: string, document: string
// stores: embedded
MATCH (d:Document)-[m1:MENTIONS]->(g:Entity)-[f:FACT]->(p:Entity)<-[m2:MENTIONS]-(d)
WHERE d.usable AND f.relation = 'target'
RETURN DISTINCT g.id AS entity, d.id AS document
ORDER BY entity, document

// name: protein_in_abstract_with_partner
// purpose: from a protein to an abstract that mentions it beside a protein that it interacts with (Welbl et al. 2018, section 4, edge 3)
// params: none
// returns: entity: string, document: string
// stores: embedded
MATCH (d:Document)-[m1:MENTIONS]->(p:Entity)-[f:FACT]->(q:Entity)<-[m2:MENTIONS]-(d)
WHERE d.usable AND f.relation = 'protein_interaction'
RETURN DISTINCT p.id AS entity, d.id AS document
ORDER BY entity, document

// name: partner_in_abstract_with_protein
// purpose: the other protein of each such pair; an interaction is kept once, so both ends are asked for
// params: none
// returns: entity: string, document: string
// stores: embedded
MATCH (d:Document)-[m1:MENTIONS]->(p:Entity)-[f:FACT]->(q:Entity)<-[m2:MENTIONS]-(d)
WHERE d.usable AND f.relation = 'protein_interaction'
RETURN DISTINCT q.id AS entity, d.id AS document
ORDER BY entity, document
