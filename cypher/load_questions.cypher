// For whoever loads the graph of questions; cannot be asked by name.

// name: schema_question
// purpose: the table of single-hop questions; row is the place in the sorted table, own the row of the answer as it is written
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Question(row INT64 PRIMARY KEY, id STRING, question STRING, answer STRING, tokens INT64, paragraph INT64, entity STRING, own INT64, named BOOLEAN)

// name: schema_answer
// purpose: the table of names of answers; those with the same words are one
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Answer(row INT64 PRIMARY KEY, name STRING)

// name: schema_subject
// purpose: the table of entities that questions are about
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Subject(row INT64 PRIMARY KEY, entity STRING)

// name: schema_answered_by
// purpose: all names of a question's answer; turn is the place among its questions in the order drawn
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE ANSWERED_BY(FROM Question TO Answer, turn INT64)

// name: schema_names
// purpose: which answers a question names, and where; whole is false where the name is a part of a longer one
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE NAMES(FROM Question TO Answer, start INT64, stop INT64, whole BOOLEAN, turn INT64)

// name: schema_asks_about
// purpose: which entities a question was made from
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE ASKS_ABOUT(FROM Question TO Subject, slot INT64)

// name: schema_composes
// purpose: composable pairs; row is the place in the table of pairs
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE COMPOSES(FROM Question TO Question, row INT64, start INT64, bridge INT64)

// name: load_question
// purpose: fill the questions from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY Question FROM $rows

// name: load_answer
// purpose: fill the answers from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY Answer FROM $rows

// name: load_subject
// purpose: fill the subjects from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY Subject FROM $rows

// name: load_answered_by
// purpose: fill the answers of questions from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY ANSWERED_BY FROM $rows

// name: load_names
// purpose: fill the names in questions from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY NAMES FROM $rows

// name: load_asks_about
// purpose: fill the subjects of questions from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY ASKS_ABOUT FROM $rows

// name: load_composes
// purpose: fill the pairs from an Arrow table
// params: rows: table
// returns: result: string
// stores: embedded
COPY COMPOSES FROM $rows

// name: add_question
// purpose: one batch of questions, unless another loader has taken over or the batch is there
// params: loader: string, from: integer, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.question = $from
SET g.question = $from + size($rows)
WITH g
CALL {
  UNWIND $rows AS row
  CREATE (n:Question {row: row[0], id: row[1], question: row[2], answer: row[3], tokens: row[4], paragraph: row[5], entity: row[6], own: row[7], named: row[8]})
  RETURN count(n) AS added
}
RETURN added

// name: add_answer
// purpose: one batch of answers, unless another loader has taken over or the batch is there
// params: loader: string, from: integer, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.answer = $from
SET g.answer = $from + size($rows)
WITH g
CALL {
  UNWIND $rows AS row
  CREATE (n:Answer {row: row[0], name: row[1]})
  RETURN count(n) AS added
}
RETURN added

// name: add_subject
// purpose: one batch of subjects, unless another loader has taken over or the batch is there
// params: loader: string, from: integer, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.subject = $from
SET g.subject = $from + size($rows)
WITH g
CALL {
  UNWIND $rows AS row
  CREATE (n:Subject {row: row[0], entity: row[1]})
  RETURN count(n) AS added
}
RETURN added

// name: add_answered_by
// purpose: one batch of answers of questions, unless another loader has taken over or the batch is there
// params: loader: string, from: integer, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.answered_by = $from
SET g.answered_by = $from + size($rows)
WITH g
CALL {
  UNWIND $rows AS row
  MATCH (a:Question {row: row[0]}) MATCH (b:Answer {row: row[1]})
  CREATE (a)-[r:ANSWERED_BY {turn: row[2]}]->(b)
  RETURN count(r) AS added
}
RETURN added

// name: add_names
// purpose: one batch of names in questions, unless another loader has taken over or the batch is there
// params: loader: string, from: integer, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.names = $from
SET g.names = $from + size($rows)
WITH g
CALL {
  UNWIND $rows AS row
  MATCH (a:Question {row: row[0]}) MATCH (b:Answer {row: row[1]})
  CREATE (a)-[r:NAMES {start: row[2], stop: row[3], whole: row[4], turn: row[5]}]->(b)
  RETURN count(r) AS added
}
RETURN added

// name: add_asks_about
// purpose: one batch of subjects of questions, unless another loader has taken over or the batch is there
// params: loader: string, from: integer, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.asks_about = $from
SET g.asks_about = $from + size($rows)
WITH g
CALL {
  UNWIND $rows AS row
  MATCH (a:Question {row: row[0]}) MATCH (b:Subject {row: row[1]})
  CREATE (a)-[r:ASKS_ABOUT {slot: row[2]}]->(b)
  RETURN count(r) AS added
}
RETURN added

// name: add_composes
// purpose: one batch of pairs, unless another loader has taken over or the batch is there
// params: loader: string, from: integer, rows: table
// returns: added: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader AND g.composes = $from
SET g.composes = $from + size($rows)
WITH g
CALL {
  UNWIND $rows AS row
  MATCH (a:Question {row: row[0]}) MATCH (b:Question {row: row[1]})
  CREATE (a)-[r:COMPOSES {row: row[2], start: row[3], bridge: row[4]}]->(b)
  RETURN count(r) AS added
}
RETURN added

// name: count_question
// purpose: how many questions the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH (n:Question) RETURN count(n) AS rows

// name: count_answer
// purpose: how many answers the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH (n:Answer) RETURN count(n) AS rows

// name: count_subject
// purpose: how many subjects the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH (n:Subject) RETURN count(n) AS rows

// name: count_answered_by
// purpose: how many answers of questions the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH ()-[r:ANSWERED_BY]->() RETURN count(r) AS rows

// name: count_names
// purpose: how many names in questions the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH ()-[r:NAMES]->() RETURN count(r) AS rows

// name: count_asks_about
// purpose: how many subjects of questions the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH ()-[r:ASKS_ABOUT]->() RETURN count(r) AS rows

// name: count_composes
// purpose: how many pairs the database holds; the server keeps this number
// params: none
// returns: rows: integer
// stores: neo4j
MATCH ()-[r:COMPOSES]->() RETURN count(r) AS rows

// name: constrain_question
// purpose: one question has one row, which is looked up by an index
// params: none
// returns: none
// stores: neo4j
CREATE CONSTRAINT kgqa_question IF NOT EXISTS FOR (n:Question) REQUIRE n.row IS UNIQUE

// name: constrain_answer
// purpose: one answer has one row, which is looked up by an index
// params: none
// returns: none
// stores: neo4j
CREATE CONSTRAINT kgqa_answer IF NOT EXISTS FOR (n:Answer) REQUIRE n.row IS UNIQUE

// name: constrain_subject
// purpose: one subject has one row, which is looked up by an index
// params: none
// returns: none
// stores: neo4j
CREATE CONSTRAINT kgqa_subject IF NOT EXISTS FOR (n:Subject) REQUIRE n.row IS UNIQUE

// name: constrain_questions
// purpose: a database holds one graph of questions
// params: none
// returns: none
// stores: neo4j
CREATE CONSTRAINT kgqa_questions IF NOT EXISTS FOR (g:KgqaQuestions) REQUIRE g.id IS UNIQUE

// name: questions_marker
// purpose: what kgqa wrote down about the questions that it loads or has loaded
// params: none
// returns: version: integer, tables: string, loader: string, finished: boolean, question: integer, answer: integer, subject: integer, answered_by: integer, names: integer, asks_about: integer, composes: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'})
RETURN coalesce(g.version, 0) AS version, g.tables AS tables, g.loader AS loader, g.finished AS finished, g.question AS question, g.answer AS answer, g.subject AS subject, g.answered_by AS answered_by,
  g.names AS names, g.asks_about AS asks_about, g.composes AS composes

// name: claim_for_questions
// purpose: mark an empty database as one into which kgqa loads questions
// params: version: integer, tables: string, loader: string
// returns: claimed: integer
// stores: neo4j
CREATE (g:KgqaQuestions {id: 'kgqa', version: $version, tables: $tables, loader: $loader, finished: false, question: 0, answer: 0, subject: 0, answered_by: 0, names: 0, asks_about: 0, composes: 0})
RETURN count(g) AS claimed

// name: take_over_questions
// purpose: go on with an unfinished load; whoever began it stops at its next batch
// params: tables: string, loader: string
// returns: taken: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.tables = $tables AND NOT g.finished
SET g.loader = $loader
RETURN count(g) AS taken

// name: finish_questions
// purpose: the questions are all there
// params: loader: string
// returns: finished: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader
SET g.finished = true
RETURN count(g) AS finished

// name: question_strangers
// purpose: how many nodes and relationships the database holds that are none of the question graph's kinds
// params: none
// returns: strangers: integer
// stores: neo4j
MATCH (n) WHERE NOT (n:Question OR n:Answer OR n:Subject OR n:KgqaQuestions)
RETURN count(n) AS strangers
UNION ALL
MATCH ()-[r]->() WHERE NOT type(r) IN ['ANSWERED_BY', 'NAMES', 'ASKS_ABOUT', 'COMPOSES']
RETURN count(r) AS strangers

// name: begin_erasing_questions
// purpose: questions that are being replaced are no longer whole
// params: loader: string
// returns: begun: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'})
SET g.tables = 'erased', g.loader = $loader, g.finished = false
RETURN count(g) AS begun

// name: erase_questions
// purpose: remove some nodes of a question graph that kgqa made, unless another run has taken over
// params: loader: string, limit: integer
// returns: erased: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader
MATCH (n) WHERE n:Question OR n:Answer OR n:Subject
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS erased

// name: erase_questions_marker
// purpose: the last step, if nobody has taken over: the database is empty again
// params: loader: string
// returns: erased: integer
// stores: neo4j
MATCH (g:KgqaQuestions {id: 'kgqa'}) SET g.lock = $loader
WITH g WHERE g.loader = $loader
MATCH (m:KgqaQuestions)
DELETE m
RETURN count(*) AS erased
