// name: schema_entity
// purpose: the table of entities
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Entity(id STRING PRIMARY KEY, kind STRING, label STRING, description STRING)

// name: schema_document
// purpose: the table of documents; usable is false where the settings leave a document out of the traversal
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Document(id STRING PRIMARY KEY, title STRING, text STRING, usable BOOLEAN)

// name: schema_fact
// purpose: facts of the knowledge graph, head to tail
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE FACT(FROM Entity TO Entity, relation STRING, label STRING)

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
