// For whoever makes a graph; cannot be asked by name.

// name: schema_entity
// purpose: the table of entities; row is the place in the sorted table, by which queries order what they return
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Entity(id STRING PRIMARY KEY, row INT64, kind STRING, label STRING, description STRING)

// name: schema_document
// purpose: the table of documents; usable is false where the settings leave a document out of the traversal
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Document(id STRING PRIMARY KEY, row INT64, title STRING, text STRING, usable BOOLEAN)

// name: schema_fact
// purpose: facts of the knowledge graph, head to tail
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE FACT(FROM Entity TO Entity, row INT64, relation STRING, label STRING)

// name: schema_mentions
// purpose: which entities a document mentions, and how often
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE MENTIONS(FROM Document TO Entity, count INT64)

// name: schema_about
// purpose: the article about an entity
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE ABOUT(FROM Entity TO Document)

// name: constrain_marker
// purpose: a database holds one graph of kgqa
// params: none
// returns: none
// stores: neo4j
CREATE CONSTRAINT kgqa_graph IF NOT EXISTS FOR (g:KgqaGraph) REQUIRE g.id IS UNIQUE

// name: constrain_entity
// purpose: one entity has one id, which is looked up by an index
// params: none
// returns: none
// stores: neo4j
CREATE CONSTRAINT kgqa_entity IF NOT EXISTS FOR (e:Entity) REQUIRE e.id IS UNIQUE

// name: constrain_document
// purpose: one document has one id, which is looked up by an index
// params: none
// returns: none
// stores: neo4j
CREATE CONSTRAINT kgqa_document IF NOT EXISTS FOR (d:Document) REQUIRE d.id IS UNIQUE

// name: constrain_sample
// purpose: one sample of a dataset has one id, which is looked up by an index; two datasets may ask the same
// params: none
// returns: none
// stores: neo4j
CREATE CONSTRAINT kgqa_sample IF NOT EXISTS FOR (s:Sample) REQUIRE (s.dataset, s.id) IS UNIQUE

// name: index_sample
// purpose: samples are looked up by their id alone
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_sample_id IF NOT EXISTS FOR (s:Sample) ON (s.id)
