// For whoever makes a graph; cannot be asked by name.

// name: schema_entity
// purpose: the table of entities; row is the place in the sorted table, by which queries order what they return, search what names are looked up in
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Entity(id STRING PRIMARY KEY, row INT64, kind STRING, label STRING, description STRING, aliases STRING[], common INT64, documents INT64, facts INT64, search STRING)

// name: schema_document
// purpose: the table of documents; usable is false where the settings leave a document out of the traversal
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Document(id STRING PRIMARY KEY, row INT64, title STRING, text STRING, usable BOOLEAN, search STRING)

// name: schema_relation
// purpose: the table of relations with what their facts come to, so that nobody counts these again; row is their place in the order of their first facts
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Relation(row INT64 PRIMARY KEY, id STRING, label STRING, facts INT64, answers INT64, no_article INT64, stated INT64, search STRING)

// name: schema_fact
// purpose: facts of the knowledge graph, head to tail
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE FACT(FROM Entity TO Entity, row INT64, relation STRING, label STRING)

// name: schema_mentions
// purpose: which entities a document mentions, how often, and where in its text the first mention begins and ends, in characters
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE MENTIONS(FROM Document TO Entity, count INT64, start INT64, stop INT64)

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

// name: constrain_relation
// purpose: one relation has one row, which is looked up by an index
// params: none
// returns: none
// stores: neo4j
CREATE CONSTRAINT kgqa_relation IF NOT EXISTS FOR (r:Relation) REQUIRE r.row IS UNIQUE

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

// name: schema_sample
// purpose: the table of samples
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Sample(key STRING PRIMARY KEY, id STRING, dataset STRING, split STRING, row INT64, question STRING, relation STRING, answer STRING, hops INT64, grade DOUBLE, relation_label STRING)

// name: schema_chain
// purpose: the table of chains, each of which leads from a sample's subject to one of its candidates
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Chain(key STRING PRIMARY KEY, row INT64, dataset STRING, sample STRING, candidate STRING, number INT64, correct BOOLEAN, grade DOUBLE, length INT64)

// name: schema_subquestion
// purpose: the table of sub-questions: the steps of composed questions, by number as in #1
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE SubQuestion(key STRING PRIMARY KEY, row INT64, dataset STRING, sample STRING, number INT64, id STRING, question STRING, answer STRING, relation STRING)

// name: schema_blocked
// purpose: the table of questions that became no sample
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Rejected(key STRING PRIMARY KEY, id STRING, dataset STRING, row INT64, split STRING, stage STRING, reason STRING, detail STRING, question STRING, relation STRING, subject STRING, answer STRING, setting STRING, value DOUBLE, threshold DOUBLE, filter STRING, place INT64)

// name: schema_filter
// purpose: the table of filters with how many questions each blocked, so that nobody counts these again
// params: none
// returns: result: string
// stores: embedded
CREATE NODE TABLE Filter(key STRING PRIMARY KEY, row INT64, dataset STRING, stage STRING, reason STRING, setting STRING, questions INT64)

// name: schema_subjects
// purpose: the subjects of samples and of questions
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE ASKS_ABOUT(FROM Sample TO Entity, FROM Rejected TO Entity)

// name: schema_answers
// purpose: the answers of samples, of sub-questions and of questions
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE ANSWER(FROM Sample TO Entity, FROM SubQuestion TO Entity, FROM Rejected TO Entity)

// name: schema_candidate
// purpose: the candidates of samples, in the order shown
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE CANDIDATE(FROM Sample TO Entity, position INT64, correct BOOLEAN, grade DOUBLE, path STRING, text STRING)

// name: schema_support
// purpose: the support documents of samples, in the order shown
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE SUPPORT(FROM Sample TO Document, position INT64)

// name: schema_has_chain
// purpose: the chains of samples
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE HAS_CHAIN(FROM Sample TO Chain)

// name: schema_step
// purpose: the places of chains: the subject is 0, documents are odd, the candidate is the last
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE STEP(FROM Chain TO Entity, FROM Chain TO Document, position INT64, role STRING)

// name: schema_has_subquestion
// purpose: the sub-questions of composed questions
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE HAS_SUBQUESTION(FROM Sample TO SubQuestion)

// name: schema_supported_by
// purpose: the paragraphs that have the answers of sub-questions
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE SUPPORTED_BY(FROM SubQuestion TO Document)

// name: schema_depends_on
// purpose: which sub-question asks about the answer of which earlier one
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE DEPENDS_ON(FROM SubQuestion TO SubQuestion)

// name: schema_of_relation
// purpose: the relations that samples and sub-questions ask for
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE OF_RELATION(FROM Sample TO Relation, FROM SubQuestion TO Relation)

// name: schema_rejected_by
// purpose: the filters that rejected questions
// params: none
// returns: result: string
// stores: embedded
CREATE REL TABLE REJECTED_BY(FROM Rejected TO Filter)

// name: constrain_subquestion
// purpose: one sub-question has one key, which is looked up by an index
// params: none
// returns: none
// stores: neo4j
CREATE CONSTRAINT kgqa_subquestion IF NOT EXISTS FOR (u:SubQuestion) REQUIRE u.key IS UNIQUE

// name: constrain_chain
// purpose: one chain has one key, which is looked up by an index
// params: none
// returns: none
// stores: neo4j
CREATE CONSTRAINT kgqa_chain IF NOT EXISTS FOR (c:Chain) REQUIRE c.key IS UNIQUE

// name: constrain_blocked
// purpose: one question that became no sample has one key, which is looked up by an index
// params: none
// returns: none
// stores: neo4j
CREATE CONSTRAINT kgqa_blocked IF NOT EXISTS FOR (q:Rejected) REQUIRE q.key IS UNIQUE

// name: index_sample_relation
// purpose: samples are looked up by their relation
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_sample_relation IF NOT EXISTS FOR (s:Sample) ON (s.relation)

// name: index_sample_split
// purpose: samples are looked up by their split
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_sample_split IF NOT EXISTS FOR (s:Sample) ON (s.split)

// name: index_blocked_reason
// purpose: questions are looked up by what blocked them
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_blocked_reason IF NOT EXISTS FOR (q:Rejected) ON (q.reason)

// name: index_blocked_place
// purpose: the first questions of a filter are looked up
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_blocked_place IF NOT EXISTS FOR (q:Rejected) ON (q.filter, q.place)

// name: index_sample_grade
// purpose: samples are looked up by the grade of their answer
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_sample_grade IF NOT EXISTS FOR (s:Sample) ON (s.grade)

// name: index_blocked_relation
// purpose: questions are looked up by their relation
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_blocked_relation IF NOT EXISTS FOR (q:Rejected) ON (q.relation)

// name: index_label
// purpose: entities are looked up by their label
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_entity_label IF NOT EXISTS FOR (e:Entity) ON (e.label)

// name: index_entity_row
// purpose: entities are looked up by their place in the sorted table
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_entity_row IF NOT EXISTS FOR (e:Entity) ON (e.row)

// name: index_entity_documents
// purpose: entities are found by how many documents mention them, the most first
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_entity_documents IF NOT EXISTS FOR (e:Entity) ON (e.documents)

// name: index_title
// purpose: documents are looked up by their title
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_document_title IF NOT EXISTS FOR (d:Document) ON (d.title)

// name: index_relation
// purpose: facts are looked up by their relation
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_fact_relation IF NOT EXISTS FOR ()-[f:FACT]-() ON (f.relation)

// name: index_names
// purpose: parts of an entity's names are looked up
// params: none
// returns: none
// stores: neo4j
CREATE TEXT INDEX kgqa_entity_search IF NOT EXISTS FOR (e:Entity) ON (e.search)

// name: index_titles
// purpose: parts of a document's title are looked up
// params: none
// returns: none
// stores: neo4j
CREATE TEXT INDEX kgqa_document_search IF NOT EXISTS FOR (d:Document) ON (d.search)

// name: index_words_of_names
// purpose: names are looked up by their words, for db.index.fulltext.queryNodes('kgqa_names', 'lisbon~')
// params: none
// returns: none
// stores: neo4j
CREATE FULLTEXT INDEX kgqa_names IF NOT EXISTS FOR (e:Entity) ON EACH [e.label, e.aliases]

// name: index_words_of_titles
// purpose: titles are looked up by their words, for db.index.fulltext.queryNodes('kgqa_titles', 'lisbon~')
// params: none
// returns: none
// stores: neo4j
CREATE FULLTEXT INDEX kgqa_titles IF NOT EXISTS FOR (d:Document) ON EACH [d.title]

// name: await_indexes
// purpose: wait until the server has filled its indexes: until then it does without them
// params: none
// returns: none
// stores: neo4j
CALL db.awaitIndexes(3600)

// name: index_sample_row
// purpose: samples are looked up by their place in the dataset
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_sample_row IF NOT EXISTS FOR (s:Sample) ON (s.row)

// name: index_sample_hops
// purpose: samples are looked up by the length of their chain
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_sample_hops IF NOT EXISTS FOR (s:Sample) ON (s.hops)

// name: index_blocked_value
// purpose: questions are looked up by what their filter compared
// params: none
// returns: none
// stores: neo4j
CREATE INDEX kgqa_blocked_value IF NOT EXISTS FOR (q:Rejected) ON (q.value)
