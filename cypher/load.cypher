// For whoever loads a graph; cannot be asked by name.

// name: load_entity
// purpose: fill the entity table from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY Entity FROM $rows

// name: load_document
// purpose: fill the document table from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY Document FROM $rows

// name: load_relation
// purpose: fill the relations from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY Relation FROM $rows

// name: load_fact
// purpose: fill the facts from an Arrow table: head, tail, properties
// params: rows: table
// returns: result: string
// stores: embedded
COPY FACT FROM $rows

// name: load_mentions
// purpose: fill the mentions from an Arrow table: document, entity, count, start, stop
// params: rows: table
// returns: result: string
// stores: embedded
COPY MENTIONS FROM $rows

// name: load_about
// purpose: fill the articles from an Arrow table: entity, document
// params: rows: table
// returns: result: string
// stores: embedded
COPY ABOUT FROM $rows

// name: add_entity
// purpose: one batch of entities, unless another loader has taken over or the batch is there; an empty list is none, as for the server's importer; locked before it is looked at
// params: loader: string, from: integer, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.entity = $from
SET g.entity = $from + size($rows)
WITH g
CALL {
  UNWIND $rows AS row
  CREATE (e:Entity {id: row[0], row: row[1], kind: row[2], label: row[3], description: row[4], aliases: CASE WHEN size(row[5]) > 0 THEN row[5] END, common: row[6], documents: row[7], facts: row[8], search: row[9]})
  RETURN count(e) AS added
}
RETURN added

// name: add_document
// purpose: one batch of documents, unless another loader has taken over or the batch is there
// params: loader: string, from: integer, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.document = $from
SET g.document = $from + size($rows)
WITH g
CALL {
  UNWIND $rows AS row
  CREATE (d:Document {id: row[0], row: row[1], title: row[2], text: row[3], usable: row[4], search: row[5]})
  RETURN count(d) AS added
}
RETURN added

// name: add_relation
// purpose: one batch of relations, unless another loader has taken over or the batch is there
// params: loader: string, from: integer, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.relation = $from
SET g.relation = $from + size($rows)
WITH g
CALL {
  UNWIND $rows AS row
  CREATE (r:Relation {row: row[0], id: row[1], label: row[2], facts: row[3], answers: row[4], no_article: row[5], stated: row[6], search: row[7]})
  RETURN count(r) AS added
}
RETURN added

// name: add_fact
// purpose: one batch of facts, unless another loader has taken over or the batch is there; rows name entities by their places in the batch's list, and none is added where one is missing
// params: loader: string, from: integer, entities: strings, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.fact = $from
SET g.fact = $from + size($rows)
WITH g
CALL {
  UNWIND range(0, size($entities) - 1) AS place
  MATCH (n:Entity {id: $entities[place]})
  WITH n ORDER BY place
  RETURN collect(n) AS entities
}
CALL {
  WITH entities
  UNWIND $rows AS row
  WITH entities[row[0]] AS h, entities[row[1]] AS t, row, size(entities) = size($entities) AS whole WHERE whole
  CREATE (h)-[r:FACT {row: row[2], relation: row[3], label: row[4]}]->(t)
  RETURN count(r) AS added
}
RETURN added

// name: add_mentions
// purpose: one batch of mentions, as of facts
// params: loader: string, from: integer, documents: strings, entities: strings, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.mentions = $from
SET g.mentions = $from + size($rows)
WITH g
CALL {
  UNWIND range(0, size($documents) - 1) AS place
  MATCH (n:Document {id: $documents[place]})
  WITH n ORDER BY place
  RETURN collect(n) AS documents
}
CALL {
  UNWIND range(0, size($entities) - 1) AS place
  MATCH (n:Entity {id: $entities[place]})
  WITH n ORDER BY place
  RETURN collect(n) AS entities
}
CALL {
  WITH documents, entities
  UNWIND $rows AS row
  WITH documents[row[0]] AS d, entities[row[1]] AS e, row, size(documents) = size($documents) AND size(entities) = size($entities) AS whole WHERE whole
  CREATE (d)-[r:MENTIONS {count: row[2], start: row[3], stop: row[4]}]->(e)
  RETURN count(r) AS added
}
RETURN added

// name: add_about
// purpose: one batch of articles, as of facts
// params: loader: string, from: integer, entities: strings, documents: strings, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.about = $from
SET g.about = $from + size($rows)
WITH g
CALL {
  UNWIND range(0, size($entities) - 1) AS place
  MATCH (n:Entity {id: $entities[place]})
  WITH n ORDER BY place
  RETURN collect(n) AS entities
}
CALL {
  UNWIND range(0, size($documents) - 1) AS place
  MATCH (n:Document {id: $documents[place]})
  WITH n ORDER BY place
  RETURN collect(n) AS documents
}
CALL {
  WITH entities, documents
  UNWIND $rows AS row
  WITH entities[row[0]] AS e, documents[row[1]] AS d, row, size(entities) = size($entities) AND size(documents) = size($documents) AS whole WHERE whole
  CREATE (e)-[r:ABOUT]->(d)
  RETURN count(r) AS added
}
RETURN added

// name: answer
// purpose: something to ask: a wrong database is only noticed then
// params: none
// returns: answer: integer
// stores: neo4j
RETURN 1 AS answer

// name: terminate_query
// purpose: end what still runs of a query that nobody waits for; a transaction bears the query's name as metadata
// params: name: string
// returns: message: string
// stores: neo4j
SHOW TRANSACTIONS YIELD transactionId AS id, metaData WHERE metaData.kgqa_query = $name
TERMINATE TRANSACTIONS id YIELD message RETURN message

// name: count_nodes
// purpose: how many nodes the database holds, whosever they are
// params: none
// returns: nodes: integer
// stores: neo4j
MATCH (n) RETURN count(n) AS nodes

// name: graph_marker
// purpose: what kgqa wrote down about the graph that it loads or has loaded
// params: none
// returns: version: integer, tables: string, loader: string, finished: boolean, entity: integer, document: integer, relation: integer, fact: integer, mentions: integer, about: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: 'kgqa'})
// What loaded before there were versions wrote none, and no relations.
WITH g, coalesce(g.version, 0) AS version
RETURN version, g.tables AS tables, g.loader AS loader, g.finished AS finished, g.entity AS entity, g.document AS document,
  CASE version WHEN 0 THEN 0 ELSE g.relation END AS relation, g.fact AS fact, g.mentions AS mentions, g.about AS about

// name: claim_database
// purpose: mark an empty database as one that kgqa loads
// params: version: integer, tables: string, loader: string
// returns: claimed: integer
// stores: neo4j
CREATE (g:KgqaGraph {id: 'kgqa', version: $version, tables: $tables, loader: $loader, finished: false, entity: 0, document: 0, relation: 0, fact: 0, mentions: 0, about: 0})
RETURN count(g) AS claimed

// name: take_over
// purpose: go on with an unfinished load; whoever began it stops at its next batch
// params: tables: string, loader: string
// returns: taken: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.tables = $tables AND NOT g.finished
SET g.loader = $loader
RETURN count(g) AS taken

// name: finish_load
// purpose: the graph is whole
// params: loader: string
// returns: finished: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader
SET g.finished = true
RETURN count(g) AS finished

// name: count_entity
// purpose: how many entities the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH (e:Entity) RETURN count(e) AS rows

// name: count_document
// purpose: how many documents the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH (d:Document) RETURN count(d) AS rows

// name: count_relation
// purpose: how many relations the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH (r:Relation) RETURN count(r) AS rows

// name: count_fact
// purpose: how many facts the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH ()-[r:FACT]->() RETURN count(r) AS rows

// name: count_mentions
// purpose: how many mentions the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH ()-[r:MENTIONS]->() RETURN count(r) AS rows

// name: count_about
// purpose: how many articles the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH ()-[r:ABOUT]->() RETURN count(r) AS rows

// name: strangers
// purpose: how many nodes and relationships the database holds that are none of kgqa's kinds
// params: none
// returns: strangers: integer
// stores: neo4j
MATCH (n) WHERE NOT (n:Entity OR n:Document OR n:Relation OR n:Sample OR n:Chain OR n:SubQuestion OR n:Rejected OR n:Question OR n:Filter OR n:KgqaGraph)
RETURN count(n) AS strangers
UNION ALL
MATCH ()-[r]->() WHERE NOT type(r) IN ['FACT', 'MENTIONS', 'ABOUT', 'ASKS_ABOUT', 'ANSWER', 'CANDIDATE', 'SUPPORT', 'HAS_CHAIN', 'STEP', 'HAS_SUBQUESTION', 'SUPPORTED_BY', 'DEPENDS_ON', 'OF_RELATION', 'REJECTED_BY']
RETURN count(r) AS strangers

// name: begin_erasing
// purpose: a graph of kgqa that is being replaced is no longer whole
// params: loader: string
// returns: begun: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: 'kgqa'})
SET g.tables = CASE WHEN g.tables STARTS WITH 'doctor-' THEN 'doctor-erased' ELSE 'erased' END, g.loader = $loader, g.finished = false
RETURN count(g) AS begun

// name: erase_batch
// purpose: remove some nodes of a graph that kgqa made, unless another run has taken over
// params: loader: string, limit: integer
// returns: erased: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader
MATCH (n) WHERE n:Entity OR n:Document OR n:Relation OR n:Sample OR n:Chain OR n:SubQuestion OR n:Rejected OR n:Question OR n:Filter
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS erased

// name: erase_marker
// purpose: the last step, if nobody has taken over: the database is empty again
// params: loader: string
// returns: erased: integer
// stores: neo4j
MATCH (g:KgqaGraph {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader
MATCH (m:KgqaGraph)
DELETE m
RETURN count(*) AS erased
