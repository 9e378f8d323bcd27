-- Rows of parsed files to the tables of an import (kgqa/runs/merging.py). The views hold the rows of all parts of one table with their
-- `place`, which sorts in the order of the sources: number of the file, position in its text, row. A heading says what a query is: a table
-- to prepare, a table to write, or the number of rows that were left out, with the reason.

-- prepare: restricted
SELECT DISTINCT place.file AS file
FROM chosen;

-- view: facts
SELECT *
FROM parsed_facts
WHERE place.file NOT IN (SELECT file FROM restricted)
  OR relation IN (SELECT relation FROM chosen WHERE relation IS NOT NULL);

-- view: "values"
SELECT *
FROM parsed_values
WHERE place.file NOT IN (SELECT file FROM restricted)
  OR relation IN (SELECT relation FROM chosen WHERE relation IS NOT NULL);

-- prepare: newest
-- A document is its newest version; of equal versions the first.
SELECT id, arg_min(place, {'version': -version, 'place': place}) AS place, count(*) AS rows
FROM documents
GROUP BY id;

-- prepare: withdrawn
-- By the file that holds it or a later one.
SELECT c.id
FROM newest c JOIN deleted d ON d.document = c.id AND d.place.file >= c.place.file
GROUP BY c.id;

-- prepare: texts
SELECT d.id, d.title, d.about, d.text, d.place.file AS file
FROM newest c
JOIN documents d ON d.id = c.id AND d.place = c.place
ANTI JOIN withdrawn w ON w.id = c.id
WHERE trim(d.text) <> '';

-- prepare: site
SELECT site, title, arg_min(entity, place) AS entity, arg_min(document, place) AS document
FROM pages
GROUP BY site, title;

-- prepare: subjects
-- A page is about the entity that a graph has for it, else about an entity of its own with the document's id.
SELECT t.id AS document, coalesce(t.about, min(s.entity), min(s.document)) AS entity
FROM texts t LEFT JOIN site s ON s.document = t.id
GROUP BY t.id, t.about;

-- prepare: first_target
SELECT site, title, arg_min(target, place) AS target
FROM redirects
GROUP BY site, title;

-- prepare: targets
-- A redirect to another redirect is followed once more.
SELECT r.site, r.title, coalesce(q.target, r.target) AS target
FROM first_target r LEFT JOIN first_target q ON q.site = r.site AND q.title = r.target;

-- prepare: bearers
SELECT site, title, coalesce(entity, document) AS entity
FROM site
WHERE coalesce(entity, document) IS NOT NULL
UNION ALL
SELECT t.site, t.title, coalesce(s.entity, s.document)
FROM targets t
JOIN site s ON s.site = t.site AND s.title = t.target
ANTI JOIN site own ON own.site = t.site AND own.title = t.title
WHERE coalesce(s.entity, s.document) IS NOT NULL;

-- prepare: known
-- The first kind that says something, and the first label and description that are not empty. Without a label, the words of the id.
SELECT
  id,
  coalesce(arg_min(kind, place) FILTER (kind <> 'entity'), 'entity') AS kind,
  coalesce(arg_min(label, place) FILTER (label <> ''), arg_min(words, place) FILTER (words <> ''), id) AS label,
  coalesce(arg_min(description, place) FILTER (description <> ''), '') AS description,
  coalesce(bool_and(label = '') AND bool_or(words <> ''), false) AS in_words
FROM (
  SELECT
    id, kind, trim(nfc_normalize(label)) AS label, trim(nfc_normalize(description)) AS description, '' AS words,
    place
  FROM entities
  UNION ALL
  SELECT s.document, 'entity', min(nfc_normalize(s.title)), '', '', {'file': 2147483647, 'position': 0, 'row': 0}
  FROM site s JOIN subjects USING (document)
  WHERE subjects.entity = s.document
  GROUP BY s.document
  UNION ALL
  SELECT entity, NULL, '', '', trim(nfc_normalize(name)), place
  FROM names
  WHERE source = 'id'
)
WHERE id <> ''
GROUP BY id
HAVING count(kind) > 0;

-- prepare: labelled
-- A relation's label may also be given as that of an entity with its id, by a part that does not know of it as a relation.
SELECT
  id,
  coalesce(
    arg_min(label, place) FILTER (label <> ''),
    arg_min(name, place) FILTER (name <> '' AND source = 'label'),
    arg_min(name, place) FILTER (name <> '' AND source = 'id'),
    id
  ) AS label,
  bool_or("symmetric") AS "symmetric"
FROM (
  SELECT id, trim(nfc_normalize(label)) AS label, "symmetric", '' AS name, '' AS source, place
  FROM relations
  UNION ALL
  SELECT DISTINCT relation, '', false, '', '', NULL
  FROM facts
  UNION ALL
  SELECT entity, '', NULL, trim(nfc_normalize(name)), source, place
  FROM names SEMI JOIN (SELECT id FROM relations UNION SELECT relation FROM facts) r ON r.id = names.entity
  WHERE source IN ('label', 'id')
)
GROUP BY id;

-- prepare: places
SELECT m.document, m.start, m."end", m.entity
FROM mentions m JOIN texts t ON t.id = m.document AND t.file = m.place.file
UNION
SELECT l.document, l.start, l."end", b.entity
FROM links l
JOIN texts t ON t.id = l.document AND t.file = l.place.file
JOIN bearers b ON b.site = l.site AND b.title = l.title;

-- prepare: inside
SELECT p.*
FROM places p JOIN texts t ON t.id = p.document JOIN known k ON k.id = p.entity
WHERE p.start >= 0 AND p.start < p."end" AND p."end" <= length(t.text);

-- prepare: apart
-- Mentions do not overlap: the one that begins first stays, of those the longest, then the one with the smaller id.
SELECT *
FROM (
  SELECT *, max("end") OVER (PARTITION BY document ORDER BY start, "end" DESC, entity ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
  FROM inside
)
WHERE before IS NULL OR before <= start;

-- write: entities
SELECT id, kind, label, description
FROM known
ORDER BY id;

-- write: names
-- A name of several kinds has the first of them; an entity's label is its name in any case.
SELECT entity, name, arg_min(source, rank) AS source
FROM (
  SELECT entity, trim(nfc_normalize(name)) AS name, source, list_position(['title', 'label', 'name', 'gene', '', 'alias', 'synonym'], source) AS rank
  FROM names
  WHERE source <> 'id'
  UNION ALL
  SELECT id, label, 'label', 5
  FROM known
  WHERE label <> id OR in_words
  UNION ALL
  SELECT coalesce(entity, document), nfc_normalize(title), 'title', 1
  FROM site
  WHERE document IS NOT NULL
  UNION ALL
  SELECT coalesce(s.entity, s.document), nfc_normalize(t.title), 'alias', 6
  FROM targets t JOIN site s ON s.site = t.site AND s.title = t.target
) n
JOIN known k ON k.id = n.entity
WHERE name <> ''
GROUP BY entity, name
ORDER BY entity, name;

-- write: relations
SELECT id, label, "symmetric"
FROM labelled
ORDER BY id;

-- write: facts
SELECT DISTINCT
  CASE WHEN "symmetric" AND head > tail THEN tail ELSE head END AS head,
  relation,
  CASE WHEN "symmetric" AND head > tail THEN head ELSE tail END AS tail
FROM facts f
JOIN labelled r ON r.id = f.relation
JOIN known h ON h.id = head
JOIN known t ON t.id = tail
WHERE head <> tail
ORDER BY ALL;

-- write: values
SELECT DISTINCT head, relation, v.kind, value, unit, precision, calendar, lower, upper
FROM "values" v JOIN known k ON k.id = head
ORDER BY ALL;

-- write: documents
SELECT t.id, nfc_normalize(t.title) AS title, CASE WHEN k.id IS NOT NULL THEN s.entity END AS about, t.text
FROM texts t
JOIN subjects s ON s.document = t.id
LEFT JOIN known k ON k.id = s.entity
ORDER BY t.id;

-- write: mentions
SELECT document, entity, start, "end"
FROM apart
ORDER BY document, start;

-- left out: repeated document
SELECT coalesce(sum(rows - 1), 0)
FROM newest;

-- left out: deleted document
SELECT count(*)
FROM withdrawn;

-- left out: empty document
SELECT count(*)
FROM newest ANTI JOIN withdrawn USING (id) ANTI JOIN texts USING (id);

-- left out: link elsewhere
SELECT count(*)
FROM links l
JOIN texts t ON t.id = l.document AND t.file = l.place.file
ANTI JOIN bearers b ON b.site = l.site AND b.title = l.title;

-- left out: mention of an unknown entity
SELECT count(*)
FROM places ANTI JOIN known ON known.id = places.entity;

-- left out: mention outside its text
SELECT (SELECT count(*) FROM places SEMI JOIN known ON known.id = places.entity) - (SELECT count(*) FROM inside);

-- left out: overlapping mention
SELECT (SELECT count(*) FROM inside) - (SELECT count(*) FROM apart);

-- left out: relation not chosen
SELECT (SELECT count(*) FROM parsed_facts) - (SELECT count(*) FROM facts)
  + (SELECT count(*) FROM parsed_values) - (SELECT count(*) FROM "values");

-- left out: fact of an unknown entity
SELECT (SELECT count(*) FROM facts) - (SELECT count(*) FROM facts f JOIN known h ON h.id = f.head JOIN known t ON t.id = f.tail);

-- left out: self-loop
SELECT count(*)
FROM facts f SEMI JOIN known ON known.id = f.head
WHERE head = tail;

-- left out: value of an unknown entity
SELECT count(*)
FROM "values" v ANTI JOIN known ON known.id = v.head;

-- left out: entity without a label
SELECT count(*)
FROM known
WHERE in_words;
