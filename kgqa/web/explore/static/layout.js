// Where nodes go. Deterministic: the same picture is always drawn in the same way, and every label has room.
(function () {
  "use strict";
  const ROW = 34, LINE = 36, GAP = 146, TURN = 22, LABEL = 106;
  // Height of a node; from a line that passes to what stands beside it; between nodes side by side; between lines with the same ends; height of a label;
  // a straight part of a line that is no longer leads from a node to the border of its layer.
  const HIGH = 26, SLOT = 22, BESIDE = 18, LANE = 10, TALL = 18, STUB = 44;
  // Where on a part of a line its label may stand, the best place first.
  const SHARES = [0.5, 0.62, 0.38, 0.74, 0.26, 0.86, 0.14];
  const ORDER = ["article", "facts_in", "facts_out", "documents", "entities"];

  function childrenOf(nodes) {
    const children = new Map();
    for (const node of nodes.values()) {
      if (node.parent === null) continue;
      if (!children.has(node.parent)) children.set(node.parent, []);
      children.get(node.parent).push(node);
    }
    for (const list of children.values()) {
      list.sort((a, b) => ORDER.indexOf(a.group) - ORDER.indexOf(b.group) || Number(a.more) - Number(b.more) || a.number - b.number);
    }
    return children;
  }

  // What leads to the root stands on its left, what it leads to on its right; what is expanded grows outwards.
  function tree(nodes, root, width, gap) {
    const children = childrenOf(nodes), places = new Map();
    const height = new Map();
    const below = (key, side) => (children.get(key) || []).filter((node) => key !== root || node.side === side);
    const measure = (key, side) => {
      const sum = below(key, side).reduce((total, node) => total + measure(node.key, side), 0);
      const own = Math.max(ROW, sum);
      if (key !== root) height.set(key, own);
      return own;
    };
    const put = (key, side, depth, top) => {
      let at = top;
      for (const node of below(key, side)) {
        const tall = height.get(node.key);
        const edge = side * ((depth + 1) * (width + gap) - width / 2);
        places.set(node.key, { x: edge + (side * node.width) / 2, y: at + tall / 2 });
        put(node.key, side, depth + 1, at);
        at += tall;
      }
    };
    places.set(root, { x: 0, y: 0 });
    for (const side of [-1, 1]) put(root, side, 0, -measure(root, side) / 2);
    return places;
  }

  // For narrow windows: one node a line, indented by its distance from the root.
  function outline(nodes, root) {
    const children = childrenOf(nodes), places = new Map();
    let line = 0;
    const put = (key, depth) => {
      const node = nodes.get(key);
      places.set(key, { x: depth * 26 + node.width / 2, y: line++ * LINE });
      for (const child of children.get(key) || []) put(child.key, depth + 1);
    };
    if (nodes.has(root)) put(root, 0);
    return places;
  }

  // Layer by layer, to the right or down. A line that passes layers has a slot in each, as if a node stood there, so that it leads through
  // no node; it bends between two layers only. `gap` is what lies between two layers. `lines` are the points of each edge, by its id.
  function flow(nodes, edges, down, gap) {
    const numbers = [...new Set([...nodes.values()].map((node) => node.layer || 0))].sort((a, b) => a - b);
    const at = new Map([...nodes.values()].map((node) => [node.key, numbers.indexOf(node.layer || 0)]));
    const columns = numbers.map(() => []), ways = [];
    for (const edge of edges) {
      const [low, high] = at.get(edge.source) <= at.get(edge.target) ? [edge.source, edge.target] : [edge.target, edge.source];
      const slots = [];
      for (let layer = at.get(low) + 1; layer < at.get(high); layer++) {
        const slot = `s:${layer} ${edge.id}`;
        slots.push(slot);
        at.set(slot, layer);
        columns[layer].push(slot);
      }
      ways.push([low, ...slots, high]);
    }
    const tight = (column) => column.length > 12;
    for (const node of nodes.values()) columns[at.get(node.key)].push(node.key);
    order(columns, ways);
    const along = (key) => (nodes.has(key) ? (down ? HIGH : nodes.get(key).width) : 0);
    const across = (key, column) => (!nodes.has(key) ? SLOT : down ? nodes.get(key).width + BESIDE : tight(column) ? ROW : 42);
    const found = new Map(), borders = [];
    let begin = 0;
    for (const column of columns) {
      const wide = Math.max(...column.map(along));
      let top = -column.reduce((sum, key) => sum + across(key, column), 0) / 2;
      for (const key of column) {
        found.set(key, { x: begin + wide / 2, y: top + across(key, column) / 2 });
        top += across(key, column);
      }
      borders.push([begin, begin + wide]);
      begin += wide + gap;
    }
    const turned = (point) => (down ? { x: point.y, y: point.x } : point);
    const lines = new Map(), alike = new Map(), taken = new Map();
    const ends = (way) => JSON.stringify([way[0], way[way.length - 1]].sort());
    for (const way of ways) alike.set(ends(way), (alike.get(ends(way)) || 0) + 1);
    ways.forEach((way, number) => {
      const low = way[0], high = way[way.length - 1], one = found.get(low), other = found.get(high), place = taken.get(ends(way)) || 0;
      const lane = (place - (alike.get(ends(way)) - 1) / 2) * LANE, edge = edges[number];
      taken.set(ends(way), place + 1);
      let line;
      if (at.get(low) === at.get(high)) { // out of the layer, along it, and back
        const out = borders[at.get(low)][1] + SLOT + lane, by = low === high ? LANE / 2 : 0;
        line = [[one.x + along(low) / 2, one.y - by], [out, one.y - by], [out, other.y + by], [other.x + along(high) / 2, other.y + by]];
      } else {
        line = [[one.x + along(low) / 2, one.y + lane], [borders[at.get(low)][1], one.y + lane]];
        for (const slot of way.slice(1, -1)) for (const border of borders[at.get(slot)]) line.push([border, found.get(slot).y]);
        line.push([borders[at.get(high)][0], other.y + lane], [other.x - along(high) / 2, other.y + lane]);
      }
      const points = line.map(([x, y]) => turned({ x, y })).filter((point, i, all) => !i || Math.hypot(point.x - all[i - 1].x, point.y - all[i - 1].y) > 1);
      lines.set(edge.id, low === edge.source ? points : points.reverse());
    });
    const places = new Map([...nodes.keys()].map((key) => [key, turned(found.get(key))]));
    return { places, lines };
  }

  // Within a layer in the order that crosses least, as a few sweeps find it.
  function order(columns, ways) {
    const near = new Map(), rank = new Map();
    for (const way of ways) {
      way.slice(1).forEach((key, before) => {
        for (const [a, b] of [[way[before], key], [key, way[before]]]) near.set(a, [...(near.get(a) || []), b]);
      });
    }
    const number = (column) => column.forEach((key, at) => rank.set(key, at - (column.length - 1) / 2));
    columns.forEach(number);
    for (let sweep = 0; sweep < 4; sweep++) {
      for (const column of sweep % 2 ? [...columns].reverse() : columns) {
        const mean = (key) => {
          const others = near.get(key) || [];
          return others.length ? others.reduce((sum, other) => sum + rank.get(other), 0) / others.length : rank.get(key);
        };
        const wanted = new Map(column.map((key) => [key, mean(key)]));
        column.sort((a, b) => wanted.get(a) - wanted.get(b));
        number(column);
      }
    }
  }

  // Where the labels of lines stand so that none covers a node or another label, best where a line passes a layer: of `forms`, by the id of
  // the edge, the first for which there is room, and its distance from the source along the line. What has none is not in the answer.
  function labels(lines, forms, areas) {
    const covered = [...areas], found = new Map();
    const free = (area) => covered.every((other) => area.x2 <= other.x1 || other.x2 <= area.x1 || area.y2 <= other.y1 || other.y2 <= area.y1);
    for (const [id, line] of lines) {
      const parts = [];
      let before = 0;
      for (let i = 1; i < line.length; i++) {
        const length = Math.hypot(line[i].x - line[i - 1].x, line[i].y - line[i - 1].y);
        const straight = line[i].x === line[i - 1].x || (line[i].y === line[i - 1].y && length > STUB);
        if (length > TALL) parts.push({ from: line[i - 1], to: line[i], length, before, straight });
        before += length;
      }
      parts.sort((a, b) => Number(b.straight) - Number(a.straight) || b.length - a.length);
      const spots = parts.flatMap((part) => SHARES.map((share) => ({
        x: part.from.x + (part.to.x - part.from.x) * share, y: part.from.y + (part.to.y - part.from.y) * share, offset: part.before + part.length * share,
      })));
      search: for (const form of forms.get(id) || []) {
        for (const spot of spots) {
          const area = { x1: spot.x - form.width / 2, x2: spot.x + form.width / 2, y1: spot.y - TALL / 2, y2: spot.y + TALL / 2 };
          if (!free(area)) continue;
          covered.push(area);
          found.set(id, { text: form.text, offset: spot.offset });
          break search;
        }
      }
    }
    return found;
  }

  window.kgqaLayout = { tree, outline, flow, labels, GAP, TURN, LABEL, LINE };
})();
