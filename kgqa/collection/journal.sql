-- The statements of a journal's transactions, in the SQL that SQLite and PostgreSQL share. A heading names each; tables.py explains the
-- columns. They are texts, because building them from expressions at each call costs several times as much as running them.

-- project
SELECT events, time FROM kgqa_project WHERE id = :project

-- project, locked
SELECT events, time FROM kgqa_project WHERE id = :project FOR UPDATE

-- advance project
UPDATE kgqa_project SET events = :events, time = :time WHERE id = :project

-- append
INSERT INTO kgqa_event (project, number, time, kind, person, item, body, token)
VALUES (:project, :number, :time, :kind, :person, :item, :body, :token)

-- event
SELECT * FROM kgqa_event WHERE project = :project AND number = :number

-- events
SELECT number, time, kind, person, item, body FROM kgqa_event WHERE project = :project AND number > :after ORDER BY number LIMIT :limit

-- submission
SELECT number FROM kgqa_event WHERE project = :project AND token = :token

-- decision
SELECT * FROM kgqa_event
WHERE project = :project AND item = :item AND kind IN ('decide', 'adjudicate')
ORDER BY number DESC LIMIT 1

-- was reserved
SELECT number FROM kgqa_event WHERE project = :project AND item = :item AND person = :person AND kind = 'reserve' LIMIT 1

-- member
SELECT * FROM kgqa_member WHERE project = :project AND person = :person

-- members
SELECT * FROM kgqa_member WHERE project = :project ORDER BY person

-- add member
INSERT INTO kgqa_member (project, person, role, state, answered, attempt, qualified)
VALUES (:project, :person, :role, 'active', 0, 1, :qualified)

-- set member
UPDATE kgqa_member SET role = :role, state = :state WHERE project = :project AND person = :person

-- set standing
UPDATE kgqa_member SET state = :state, attempt = :attempt, qualified = :qualified WHERE project = :project AND person = :person

-- count answer
UPDATE kgqa_member SET answered = answered + :by WHERE project = :project AND person = :person

-- item
SELECT * FROM kgqa_item WHERE project = :project AND id = :item

-- items
SELECT * FROM kgqa_item WHERE project = :project AND state = :state ORDER BY place

-- all items
SELECT * FROM kgqa_item WHERE project = :project ORDER BY place

-- count items
SELECT count(*) FROM kgqa_item WHERE project = :project AND purpose = :purpose

-- add item
INSERT INTO kgqa_item (project, id, place, step, purpose, seats, state, body)
VALUES (:project, :id, :place, :step, :purpose, :seats, 'open', :body)

-- remove item
DELETE FROM kgqa_item WHERE project = :project AND id = :item

-- set item
UPDATE kgqa_item SET state = :state WHERE project = :project AND id = :item

-- known item
SELECT * FROM kgqa_item i
WHERE i.project = :project AND i.purpose = :purpose AND i.state = 'open'
  AND NOT EXISTS (
    SELECT 1 FROM kgqa_seat s
    WHERE s.project = i.project AND s.item = i.id AND s.person = :person AND s.attempt = :attempt
  )
  AND (
    :purpose = 'qualification'
    OR NOT EXISTS (SELECT 1 FROM kgqa_seen n WHERE n.project = i.project AND n.person = :person AND n.item = i.id)
  )
ORDER BY i.place LIMIT 1

-- item for a model
SELECT * FROM kgqa_item i
WHERE i.project = :project AND i.state <> 'refused' AND (:step = '' OR i.step = :step)
  AND NOT EXISTS (SELECT 1 FROM kgqa_seat s WHERE s.project = i.project AND s.item = i.id AND s.person = :person AND s.attempt = 0)
  AND NOT EXISTS (SELECT 1 FROM kgqa_seen n WHERE n.project = i.project AND n.person = :person AND n.item = i.id)
ORDER BY i.place LIMIT 1

-- add seat
INSERT INTO kgqa_seat (project, item, purpose, place, state, person, attempt, since, until)
VALUES (:project, :item, :purpose, :place, :state, :person, :attempt, :since, :until)

-- own seat
SELECT * FROM kgqa_seat WHERE project = :project AND item = :item AND person = :person AND attempt = :attempt

-- reserved seats
SELECT * FROM kgqa_seat WHERE project = :project AND person = :person AND state = 'reserved' ORDER BY since, id

-- seats of a person
SELECT * FROM kgqa_seat WHERE project = :project AND person = :person ORDER BY id

-- seats of an item
SELECT * FROM kgqa_seat WHERE project = :project AND item = :item ORDER BY id

-- last answer
SELECT * FROM kgqa_seat WHERE project = :project AND person = :person AND state = 'done' ORDER BY event DESC LIMIT 1

-- seats over time
SELECT * FROM kgqa_seat WHERE project = :project AND state = 'reserved' AND until < :now ORDER BY id

-- free seat
SELECT * FROM kgqa_seat s
WHERE s.project = :project AND s.purpose = 'work' AND s.state = 'open'
  AND NOT EXISTS (SELECT 1 FROM kgqa_seen n WHERE n.project = s.project AND n.person = :person AND n.item = s.item)
ORDER BY s.place, s.id LIMIT 1

-- reserve seat
UPDATE kgqa_seat SET state = 'reserved', person = :person, event = NULL, since = :since, until = :until WHERE id = :id

-- fill seat
UPDATE kgqa_seat SET state = 'done', event = :event, until = NULL WHERE id = :id

-- open seat
UPDATE kgqa_seat SET state = 'open', person = NULL, event = NULL, since = NULL, until = NULL WHERE id = :id

-- remove seat
DELETE FROM kgqa_seat WHERE id = :id

-- filled seats
SELECT count(*) FROM kgqa_seat WHERE project = :project AND item = :item AND purpose = 'work' AND state = 'done'

-- answers
SELECT e.person, e.body
FROM kgqa_seat s JOIN kgqa_event e ON e.project = s.project AND e.number = s.event
WHERE s.project = :project AND s.item = :item AND s.state = 'done'
ORDER BY e.number

-- attempt
SELECT * FROM kgqa_seat
WHERE project = :project AND person = :person AND purpose = 'qualification' AND state = 'done' AND attempt = :attempt
ORDER BY place

-- see
INSERT INTO kgqa_seen (project, person, item) VALUES (:project, :person, :item) ON CONFLICT DO NOTHING

-- unsee
DELETE FROM kgqa_seen WHERE project = :project AND person = :person AND item = :item

-- draft
SELECT version, body FROM kgqa_draft WHERE project = :project AND person = :person AND item = :item

-- save draft
INSERT INTO kgqa_draft (project, person, item, version, body) VALUES (:project, :person, :item, :version, :body)
ON CONFLICT (project, person, item) DO UPDATE SET version = excluded.version, body = excluded.body

-- remove draft
DELETE FROM kgqa_draft WHERE project = :project AND person = :person AND item = :item

-- secret
SELECT secret FROM kgqa_project WHERE id = :project

-- set secret
UPDATE kgqa_project SET secret = :secret WHERE id = :project

-- refused answers
SELECT i.id, i.body, max(e.number) AS number
FROM kgqa_seat s
JOIN kgqa_item i ON i.project = s.project AND i.id = s.item
JOIN kgqa_event e ON e.project = s.project AND e.item = s.item AND e.kind = 'refuse'
WHERE s.project = :project AND s.person = :person AND s.state = 'done' AND i.state = 'refused'
GROUP BY i.id, i.body
ORDER BY number DESC LIMIT :limit
