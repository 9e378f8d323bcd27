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

// name: load_fact
// purpose: fill the facts from an Arrow table: head, tail, properties
// params: rows: table
// returns: result: string
// stores: embedded
COPY FACT FROM $rows

// name: load_mentions
// purpose: fill the mentions from an Arrow table: document, entity, count
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
