// For kgqa compose --by cypher, on the graph of questions that it makes (docs/musique.md); cannot be asked by name.
//
// Every relationship has a name and every inequality is stated, as one store lets a pattern use a relationship twice and the other does not.

// name: composable_pairs
// purpose: pairs whose second question names the answer to the first in full (MuSiQue, step S2). fault is the first reason why a pair cannot be composed, and empty if it can be
// params: max_tokens: integer, max_both: integer, max_heads: integer, max_tails: integer
// returns: head: integer, tail: integer, bridge: integer, start: integer, stop: integer, fault: string
// stores: embedded, neo4j
MATCH (h:Question)-[a:ANSWERED_BY]->(n:Answer)<-[m:NAMES]-(t:Question)
WHERE h.named AND h.tokens <= $max_tokens AND a.turn < $max_heads
  AND m.whole AND t.tokens <= $max_tokens AND m.turn < $max_tails
  AND h.tokens + t.tokens <= $max_both
WITH h, t, n, m.start AS start, m.stop AS stop
OPTIONAL MATCH (h)-[x:NAMES]->(y:Answer)<-[z:ANSWERED_BY]-(t)
WITH h, t, n, start, stop, count(y.row) AS back
OPTIONAL MATCH (t)-[s:ASKS_ABOUT]->(o:Subject)
WITH h, t, n, start, stop, back, count(o.row) AS known, sum(CASE WHEN o.entity = h.entity THEN 1 ELSE 0 END) AS linked
OPTIONAL MATCH (h)-[i:ASKS_ABOUT]->(j:Subject)<-[k:ASKS_ABOUT]-(t)
WITH h, t, n, start, stop, back, known, linked, count(j.row) AS shared
RETURN h.row AS head, t.row AS tail, n.row AS bridge, start, stop,
  CASE
    WHEN h.row = t.row THEN 'itself'
    WHEN h.paragraph = t.paragraph THEN 'paragraph'
    WHEN back > 0 OR h.own = t.own THEN 'circle'
    WHEN known > 0 AND h.entity <> '' AND linked = 0 THEN 'linked'
    WHEN shared > 0 THEN 'given'
    ELSE ''
  END AS fault
ORDER BY t.row, start, h.row, n.row

// name: chains_2hop
// purpose: two questions, with the answer to the first named in the second (all shapes: MuSiQue, table 1)
// params: max_tokens: integer
// returns: edge_1: integer
// stores: embedded, neo4j
MATCH (a:Question)-[e:COMPOSES]->(b:Question)
WHERE a.tokens + b.tokens <= $max_tokens
RETURN e.row AS edge_1
ORDER BY e.row

// name: chains_3hop1
// purpose: three questions in a row
// params: max_tokens: integer
// returns: edge_1: integer, edge_2: integer
// stores: embedded, neo4j
MATCH (c:Question)-[f:COMPOSES]->(a:Question)-[e:COMPOSES]->(b:Question)
WHERE c.tokens + a.tokens + b.tokens <= $max_tokens
  AND c.row <> b.row AND c.paragraph <> b.paragraph
  AND NOT EXISTS { MATCH (c)-[x1:ANSWERED_BY]->(i1:Answer)<-[y1:ANSWERED_BY]-(b) }
  AND NOT EXISTS { MATCH (c)-[u1:NAMES]->(j1:Answer)<-[v1:ANSWERED_BY]-(b) }
  AND NOT EXISTS { MATCH (c)-[s1:ANSWERED_BY]->(k1:Answer)<-[t1:NAMES]-(b) }
RETURN f.row AS edge_1, e.row AS edge_2
ORDER BY f.row, e.row

// name: chains_3hop2
// purpose: two questions, and a third one that names both answers
// params: max_tokens: integer
// returns: edge_1: integer, edge_2: integer
// stores: embedded, neo4j
MATCH (a:Question)-[e:COMPOSES]->(b:Question)<-[f:COMPOSES]-(c:Question)
WHERE a.tokens + c.tokens + b.tokens <= $max_tokens AND e.start < f.start
  AND a.row <> c.row AND a.paragraph <> c.paragraph
  AND NOT EXISTS { MATCH (a)-[x1:ANSWERED_BY]->(i1:Answer)<-[y1:ANSWERED_BY]-(c) }
  AND NOT EXISTS { MATCH (a)-[u1:NAMES]->(j1:Answer)<-[v1:ANSWERED_BY]-(c) }
  AND NOT EXISTS { MATCH (a)-[s1:ANSWERED_BY]->(k1:Answer)<-[t1:NAMES]-(c) }
RETURN e.row AS edge_1, f.row AS edge_2
ORDER BY e.row, f.row

// name: chains_4hop1
// purpose: four questions in a row
// params: max_tokens: integer
// returns: edge_1: integer, edge_2: integer, edge_3: integer
// stores: embedded, neo4j
MATCH (d:Question)-[g:COMPOSES]->(c:Question)-[f:COMPOSES]->(a:Question)-[e:COMPOSES]->(b:Question)
WHERE d.tokens + c.tokens + a.tokens + b.tokens <= $max_tokens
  AND c.row <> b.row AND c.paragraph <> b.paragraph
  AND NOT EXISTS { MATCH (c)-[x1:ANSWERED_BY]->(i1:Answer)<-[y1:ANSWERED_BY]-(b) }
  AND NOT EXISTS { MATCH (c)-[u1:NAMES]->(j1:Answer)<-[v1:ANSWERED_BY]-(b) }
  AND NOT EXISTS { MATCH (c)-[s1:ANSWERED_BY]->(k1:Answer)<-[t1:NAMES]-(b) }
  AND d.row <> a.row AND d.paragraph <> a.paragraph
  AND NOT EXISTS { MATCH (d)-[x2:ANSWERED_BY]->(i2:Answer)<-[y2:ANSWERED_BY]-(a) }
  AND NOT EXISTS { MATCH (d)-[u2:NAMES]->(j2:Answer)<-[v2:ANSWERED_BY]-(a) }
  AND NOT EXISTS { MATCH (d)-[s2:ANSWERED_BY]->(k2:Answer)<-[t2:NAMES]-(a) }
  AND d.row <> b.row AND d.paragraph <> b.paragraph
  AND NOT EXISTS { MATCH (d)-[x3:ANSWERED_BY]->(i3:Answer)<-[y3:ANSWERED_BY]-(b) }
  AND NOT EXISTS { MATCH (d)-[u3:NAMES]->(j3:Answer)<-[v3:ANSWERED_BY]-(b) }
  AND NOT EXISTS { MATCH (d)-[s3:ANSWERED_BY]->(k3:Answer)<-[t3:NAMES]-(b) }
RETURN g.row AS edge_1, f.row AS edge_2, e.row AS edge_3
ORDER BY g.row, f.row, e.row

// name: chains_4hop2
// purpose: two questions, a third one that names both answers, and a fourth that names the answer to the third
// params: max_tokens: integer
// returns: edge_1: integer, edge_2: integer, edge_3: integer
// stores: embedded, neo4j
MATCH (c:Question)-[f:COMPOSES]->(a:Question)<-[g:COMPOSES]-(d:Question), (a)-[e:COMPOSES]->(b:Question)
WHERE c.tokens + d.tokens + a.tokens + b.tokens <= $max_tokens AND f.start < g.start
  AND c.row <> b.row AND c.paragraph <> b.paragraph
  AND NOT EXISTS { MATCH (c)-[x1:ANSWERED_BY]->(i1:Answer)<-[y1:ANSWERED_BY]-(b) }
  AND NOT EXISTS { MATCH (c)-[u1:NAMES]->(j1:Answer)<-[v1:ANSWERED_BY]-(b) }
  AND NOT EXISTS { MATCH (c)-[s1:ANSWERED_BY]->(k1:Answer)<-[t1:NAMES]-(b) }
  AND d.row <> c.row AND d.paragraph <> c.paragraph
  AND NOT EXISTS { MATCH (d)-[x2:ANSWERED_BY]->(i2:Answer)<-[y2:ANSWERED_BY]-(c) }
  AND NOT EXISTS { MATCH (d)-[u2:NAMES]->(j2:Answer)<-[v2:ANSWERED_BY]-(c) }
  AND NOT EXISTS { MATCH (d)-[s2:ANSWERED_BY]->(k2:Answer)<-[t2:NAMES]-(c) }
  AND d.row <> b.row AND d.paragraph <> b.paragraph
  AND NOT EXISTS { MATCH (d)-[x3:ANSWERED_BY]->(i3:Answer)<-[y3:ANSWERED_BY]-(b) }
  AND NOT EXISTS { MATCH (d)-[u3:NAMES]->(j3:Answer)<-[v3:ANSWERED_BY]-(b) }
  AND NOT EXISTS { MATCH (d)-[s3:ANSWERED_BY]->(k3:Answer)<-[t3:NAMES]-(b) }
RETURN f.row AS edge_1, g.row AS edge_2, e.row AS edge_3
ORDER BY f.row, g.row, e.row

// name: chains_4hop3
// purpose: two questions in a row, a third one, and a fourth that names the answers to the second and the third
// params: max_tokens: integer
// returns: edge_1: integer, edge_2: integer, edge_3: integer
// stores: embedded, neo4j
MATCH (c:Question)-[f:COMPOSES]->(a:Question)-[e:COMPOSES]->(b:Question)<-[g:COMPOSES]-(d:Question)
WHERE c.tokens + a.tokens + d.tokens + b.tokens <= $max_tokens AND e.start <> g.start
  AND c.row <> b.row AND c.paragraph <> b.paragraph
  AND NOT EXISTS { MATCH (c)-[x1:ANSWERED_BY]->(i1:Answer)<-[y1:ANSWERED_BY]-(b) }
  AND NOT EXISTS { MATCH (c)-[u1:NAMES]->(j1:Answer)<-[v1:ANSWERED_BY]-(b) }
  AND NOT EXISTS { MATCH (c)-[s1:ANSWERED_BY]->(k1:Answer)<-[t1:NAMES]-(b) }
  AND d.row <> a.row AND d.paragraph <> a.paragraph
  AND NOT EXISTS { MATCH (d)-[x2:ANSWERED_BY]->(i2:Answer)<-[y2:ANSWERED_BY]-(a) }
  AND NOT EXISTS { MATCH (d)-[u2:NAMES]->(j2:Answer)<-[v2:ANSWERED_BY]-(a) }
  AND NOT EXISTS { MATCH (d)-[s2:ANSWERED_BY]->(k2:Answer)<-[t2:NAMES]-(a) }
  AND d.row <> c.row AND d.paragraph <> c.paragraph
  AND NOT EXISTS { MATCH (d)-[x3:ANSWERED_BY]->(i3:Answer)<-[y3:ANSWERED_BY]-(c) }
  AND NOT EXISTS { MATCH (d)-[u3:NAMES]->(j3:Answer)<-[v3:ANSWERED_BY]-(c) }
  AND NOT EXISTS { MATCH (d)-[s3:ANSWERED_BY]->(k3:Answer)<-[t3:NAMES]-(c) }
RETURN f.row AS edge_1, e.row AS edge_2, g.row AS edge_3
ORDER BY f.row, e.row, g.row
