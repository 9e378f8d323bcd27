// Where nodes go. Deterministic: the same picture is always drawn in the same way, and every label has room.
(function () {
  "use strict";
  const ROW = 34, LINE = 36, GAP = 146, TURN = 22, LABEL = 106;
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
  function tree(nodes, root) {
    const children = childrenOf(nodes), places = new Map(), width = 188;
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
        const edge = side * ((depth + 1) * (width + GAP) - width / 2);
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

  // Layer by layer, to the right or down; within a layer in the order that crosses least, as two sweeps find it.
  // `widest` is the longest label of an edge, which has its place between two layers.
  function flow(nodes, edges, down, widest) {
    const layers = [], places = new Map(), rank = new Map();
    for (const node of nodes.values()) (layers[node.layer || 0] = layers[node.layer || 0] || []).push(node);
    const full = layers.filter(Boolean);
    const near = new Map();
    for (const edge of edges) {
      for (const [a, b] of [[edge.source, edge.target], [edge.target, edge.source]]) near.set(a, [...(near.get(a) || []), b]);
    }
    const number = (layer) => layer.forEach((node, at) => rank.set(node.key, at - (layer.length - 1) / 2));
    full.forEach(number);
    for (let sweep = 0; sweep < 4; sweep++) {
      for (const layer of sweep % 2 ? [...full].reverse() : full) {
        const mean = (node) => {
          const found = (near.get(node.key) || []).map((key) => rank.get(key));
          return found.length ? found.reduce((a, b) => a + b, 0) / found.length : rank.get(node.key);
        };
        const wanted = new Map(layer.map((node) => [node.key, mean(node)]));
        layer.sort((a, b) => wanted.get(a.key) - wanted.get(b.key) || a.number - b.number);
        number(layer);
      }
    }
    if (down) {
      full.forEach((layer, depth) => {
        const wide = layer.reduce((sum, node) => sum + node.width + 18, -18);
        let at = -wide / 2;
        for (const node of layer) { places.set(node.key, { x: at + node.width / 2, y: depth * 68 }); at += node.width + 18; }
      });
    } else {
      let at = 0;
      for (const layer of full) {
        const wide = Math.max(...layer.map((node) => node.width));
        const step = layer.length > 12 ? ROW : 42;
        layer.forEach((node, row) => places.set(node.key, { x: at + wide / 2, y: (row - (layer.length - 1) / 2) * step }));
        at += wide + Math.max(full.length > 4 ? 62 : 110, widest + 56);
      }
    }
    return places;
  }

  window.kgqaLayout = { tree, outline, flow, TURN, LABEL };
})();
