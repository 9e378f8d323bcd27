// Draws the pictures that the server sends, expands nodes, and keeps what is open in the address.
(function () {
  "use strict";
  const FONT = '12.5px system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';
  const FAMILY = FONT.slice(FONT.indexOf(" ") + 1);
  const FIRST = { facts_in: 4, facts_out: 6, documents: 4, entities: 8 };
  const STEP = 20, MOST = 200, NUDGE = 12, KEPT = 60;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const pencil = document.createElement("canvas").getContext("2d");

  function widthOf(text, bold) {
    pencil.font = (bold ? "600 " : "") + FONT;
    return pencil.measureText(text).width;
  }

  function fitted(text, room, bold) {
    if (widthOf(text, bold) <= room) return text;
    const letters = Array.from(text.slice(0, 400));
    let low = 1, high = letters.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (widthOf(letters.slice(0, middle).join("") + "…", bold) <= room) low = middle; else high = middle - 1;
    }
    return letters.slice(0, low).join("").trimEnd() + "…";
  }

  // Labels of edges are written smaller.
  const SMALL = 10.5 / 12.5;
  // How small a picture may be drawn so that its labels can be read, and in a narrow window; between layers that lie below one another.
  const READABLE = 0.82, NARROW = 0.5, BELOW = 42;
  // Relations with a colour of their own; further ones share the last.
  const TONES = 8;
  // Lines of an outline that is shown as a whole.
  const MOST_LINES = 45;
  // Pixels that a picture of layers below one another may take.
  const MOST_HIGH = 2000;

  const counted = (number) => number.toLocaleString("en-GB");

  // An edge of an outline: down from below the parent's left end, then right to the child, with one corner.
  function corner(fromParent) {
    const ends = (edge) => {
      const [parent, child] = fromParent ? [edge.source(), edge.target()] : [edge.target(), edge.source()];
      const from = { x: parent.position("x") - parent.data("width") / 2 + 12, y: parent.position("y") + 13 };
      const to = { x: child.position("x") - child.data("width") / 2, y: child.position("y") };
      const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy) || 1;
      return { dx, dy, length, parent, child };
    };
    const under = (edge) => `${12 - ends(edge).parent.data("width") / 2}px 13px`, beside = (edge) => `${-ends(edge).child.data("width") / 2}px 0px`;
    return {
      "curve-style": "segments", "edge-distances": "endpoints",
      "source-endpoint": fromParent ? under : beside, "target-endpoint": fromParent ? beside : under,
      "segment-weights": (edge) => { const { dx, dy, length } = ends(edge); return (fromParent ? dy * dy : dx * dx) / (length * length); },
      "segment-distances": (edge) => { const { dx, dy, length } = ends(edge); return ((fromParent ? 1 : -1) * dx * dy) / length; },
    };
  }

  // The points of a line as an edge has them: its ends by the middles of its nodes, what is between by the line that joins the ends.
  function route(line, source, target) {
    const first = line[0], last = line[line.length - 1], dx = last.x - first.x, dy = last.y - first.y, length = Math.hypot(dx, dy) || 1;
    const by = (point, middle) => `${point.x - middle.x}px ${point.y - middle.y}px`, between = line.slice(1, -1);
    const bent = between.some(({ x, y }) => Math.abs(dx * (y - first.y) - dy * (x - first.x)) > length);
    return {
      begin: by(first, source), finish: by(last, target), curve: bent ? "round-segments" : "straight",
      weights: bent ? between.map(({ x, y }) => (dx * (x - first.x) + dy * (y - first.y)) / (length * length)) : [0.5],
      distances: bent ? between.map(({ x, y }) => (dx * (y - first.y) - dy * (x - first.x)) / length) : [0],
    };
  }

  class Drawing {
    constructor(box, pictures) {
      this.box = box;
      this.state = document.getElementById("graph-state");
      this.expands = "expands" in box.dataset;
      this.nodes = new Map();
      this.edges = new Map();
      this.groups = new Map();
      this.sizes = new Map();
      this.pins = new Map();
      this.root = pictures[0].root;
      this.layout = pictures[0].layout;
      this.said = pictures[0].hidden;
      this.selected = null;
      this.number = 0;
      this.off = new Set(new URLSearchParams(location.search).getAll("hide"));
      this.tones = new Map();
      for (const word of new URLSearchParams(location.search).getAll("open")) {
        const [numbers, key] = [word.slice(0, word.indexOf("~")), word.slice(word.indexOf("~") + 1)];
        const [a, b, c, d] = numbers.split(".").map(Number);
        this.sizes.set(key, { facts_in: a, facts_out: b, documents: c, entities: d });
      }
      for (const word of new URLSearchParams(location.search).getAll("pin").slice(0, KEPT)) {
        const found = /^(-?\d{1,5})\.(-?\d{1,5})~(.+)$/s.exec(word);
        if (found) this.pins.set(found[3], { x: Number(found[1]), y: Number(found[2]) });
      }
      pictures.forEach((picture) => this.merge(picture));
      this.cy = cytoscape({
        container: box, elements: [], style: this.style(), layout: { name: "preset" }, minZoom: 0.15, maxZoom: 2.5,
        boxSelectionEnabled: false, autoungrabify: this.outlined, selectionType: "single",
      });
      this.cy.one("render", () => { performance.mark("kgqa-drawn"); box.dataset.drawn = String(performance.now()); });
      this.cy.on("tap", "node", (event) => this.tapped(event.target.id()));
      this.cy.on("drag", "node", (event) => event.target.connectedEdges().addClass("moved"));
      this.cy.on("dragfree", "node", (event) => { this.selected = event.target.id(); this.pin(event.target.id()); });
      this.cy.on("dbltap", "node", (event) => this.turnPin(event.target.id()));
      this.cy.on("mouseover", "node", (event) => { box.title = event.target.data("full"); box.style.cursor = "pointer"; });
      this.cy.on("mouseover", "edge", (event) => { box.title = event.target.data("full") || ""; });
      this.cy.on("mouseout", "edge", () => { box.title = ""; });
      this.cy.on("mouseout", "node", () => { box.title = ""; box.style.cursor = ""; });
      box.addEventListener("keydown", (event) => this.key(event));
      box.addEventListener("focus", () => { if (!this.selected && this.root) this.select(this.root, true); });
      this.wide = new ResizeObserver(() => this.resized());
      this.draw(false);
      this.width = box.clientWidth;
      this.wide.observe(box);
      const at = new URLSearchParams(location.search).get("at");
      if (at && this.nodes.has(at)) this.select(at, false);
    }

    // Its place on the page is gone: what watches the window, or an answer that is still to come, must not draw any more.
    end() {
      this.wide.disconnect();
      clearTimeout(this.waiting);
      this.cy.destroy();
    }

    get narrow() { return this.box.clientWidth < 620; }
    get outlined() { return this.narrow && (this.layout === "tree" || this.crowded); }
    // Whether layers lie below one another on a page that can be scrolled.
    get long() { return this.box.dataset.direction === "down" && !this.outlined; }
    get down() { return this.box.dataset.direction === "down" || this.narrow; }

    // Whether a layer of a flowing picture would not fit beside itself in a narrow window.
    get crowded() {
      const layers = {};
      for (const node of this.nodes.values()) layers[node.layer] = (layers[node.layer] || 0) + 1;
      return Object.values(layers).some((number) => number > 3);
    }

    // Add a picture to what is there; new nodes hang on the picture's own root.
    merge(picture) {
      const holder = this.nodes.get(picture.root);
      const inGroup = new Map();
      for (const group of picture.groups) {
        this.groups.set(`${group.name}~${group.node}`, group);
        group.keys.forEach((key) => inGroup.set(key, group.name));
      }
      this.colour(picture);
      for (const edge of picture.edges) {
        const id = JSON.stringify([edge.source, edge.target, edge.kind]);
        if (!this.edges.has(id)) this.edges.set(id, { ...edge, id, owner: picture.root });
      }
      for (const node of picture.nodes) {
        if (this.nodes.has(node.key)) continue;
        const leads = picture.edges.some((edge) => edge.source === node.key && edge.target === picture.root);
        // The article mentions what it is about, too; it stands where the entity leads.
        const article = picture.edges.some((edge) => edge.source === picture.root && edge.target === node.key && edge.kind === "article");
        const side = !holder || picture.root === this.root ? (leads && !article ? -1 : 1) : holder.side;
        // A node may be opened that its neighbour does not show any more.
        const parent = node.key !== picture.root ? picture.root : node.key === this.root ? null : this.root;
        this.nodes.set(node.key, { ...node, parent, side, group: article ? "article" : inGroup.get(node.key) || "article", number: this.number++, more: false });
      }
      if (this.expands && !this.sizes.has(picture.root) && picture.root !== this.root) this.sizes.set(picture.root, { ...FIRST });
      this.openedNode(picture.root).opened = true;
    }

    // The relations of an edge: one between the same nodes may stand for several facts.
    relations(edge) { return edge.kind === "fact" && edge.label ? edge.label.split(" · ") : []; }

    // The most frequent relations of the first picture have the first colours; what comes later has the next ones, so that none changes.
    colour(picture) {
      const counts = new Map();
      for (const edge of picture.edges) for (const relation of this.relations(edge)) counts.set(relation, (counts.get(relation) || 0) + 1);
      for (const [relation] of [...counts].sort((a, b) => b[1] - a[1])) if (!this.tones.has(relation)) this.tones.set(relation, Math.min(this.tones.size, TONES));
    }

    // What the legend does not hide: edges of a shown relation, and nodes that they still hold. Sets `seen` and `drawn`.
    sift() {
      const isOff = (edge) => { const all = this.relations(edge); return all.length > 0 && all.every((relation) => this.off.has(relation)); };
      const shown = [...this.edges.values()].filter((edge) => !isOff(edge));
      const beside = (edges) => {
        const map = new Map();
        for (const { source, target } of edges) for (const [a, b] of [[source, target], [target, source]]) { if (!map.has(a)) map.set(a, new Set()); map.get(a).add(b); }
        return map;
      };
      const reached = (map) => {
        const found = new Set([this.root]);
        for (const key of found) for (const other of map.get(key) || []) found.add(other);
        return found;
      };
      const joined = (map, node) => (map.get(node.key) || new Set()).has(node.parent);
      const every = beside(this.edges.values()), left = beside(shown), before = reached(every), after = reached(left), gone = new Set();
      for (const node of this.nodes.values()) {
        if (node.key === this.root) continue;
        const lost = this.layout === "tree" ? gone.has(node.parent) || (joined(every, node) && !joined(left, node)) : before.has(node.key) && !after.has(node.key);
        if (lost) gone.add(node.key);
      }
      if (!this.off.size) gone.clear();
      this.seen = new Map([...this.nodes].filter(([key]) => !gone.has(key)));
      this.drawn = shown.filter((edge) => this.seen.has(edge.source) && this.seen.has(edge.target));
    }

    // Relations with their colours; a press hides one, or shows it again.
    legend() {
      const list = document.getElementById("relations");
      if (!list) return;
      list.hidden = this.tones.size < 2;
      const names = [...this.tones.keys()];
      if (list.dataset.names !== JSON.stringify(names)) {
        list.dataset.names = JSON.stringify(names);
        list.replaceChildren(...names.map((relation) => {
          const button = document.createElement("button"), swatch = document.createElement("i");
          button.type = "button";
          button.dataset.relation = relation;
          swatch.className = `tone-${this.tones.get(relation)}`;
          button.append(swatch, relation);
          return button;
        }));
      }
      for (const button of list.children) button.setAttribute("aria-pressed", String(!this.off.has(button.dataset.relation)));
      this.box.style.top = list.hidden ? "" : `${list.offsetTop + list.offsetHeight + 4}px`;
    }

    turnRelation(relation) {
      if (!this.off.delete(relation)) this.off.add(relation);
      this.draw(true);
      if (!calm.matches) this.frame();
      this.remember(false);
      this.state.textContent = `${relation}: ${this.off.has(relation) ? "hidden" : "shown"}.`;
    }

    openedNode(key) { return this.nodes.get(key) || {}; }

    // The room for a label where layers lie below one another.
    share() {
      const layers = {};
      for (const node of this.nodes.values()) layers[node.layer] = (layers[node.layer] || 0) + 1;
      return Math.max(96, Math.min(250, (this.box.clientWidth - 20) / Math.max(1, ...Object.values(layers)) - 44));
    }

    // The room for a label where layers lie beside one another: as much as lets all of them be read at once, but not so little that nobody could.
    column(gap) {
      const layers = new Set([...this.nodes.values()].map((node) => node.layer)).size;
      return Math.max(64, Math.min(138, ((this.box.clientWidth - 28) / READABLE - (layers - 1) * gap) / layers - 26));
    }

    // The width of a column of a tree, and between two of them: as large as lets the root and its neighbours be read at once.
    columns() {
      const room = (this.box.clientWidth - 28) / 0.92 / 2, gap = room < 428 ? 132 : kgqaLayout.GAP;
      return { width: Math.max(120, Math.min(188, (room - gap) / 1.5)), gap, label: kgqaLayout.LABEL - (kgqaLayout.GAP - gap) };
    }

    // Where the labels of the edges of a flowing picture stand, whole or shortened.
    labels(flow) {
      const forms = new Map();
      for (const edge of this.drawn) {
        // The library bends an edge from a node to itself in its own way, so that nobody knows where its label would be.
        const texts = edge.label && edge.source !== edge.target ? [...new Set([kgqaLayout.LABEL, kgqaLayout.LABEL / 2].map((most) => fitted(edge.label, most / SMALL, false)))] : [];
        forms.set(edge.id, texts.map((text) => ({ text, width: widthOf(text, false) * SMALL + 9 })));
      }
      const areas = [...this.seen.values()].map((node) => {
        const { x, y } = flow.places.get(node.key);
        return { x1: x - node.width / 2, x2: x + node.width / 2, y1: y - 13, y2: y + 13 };
      });
      return kgqaLayout.labels(flow.lines, forms, areas);
    }

    // An outline hangs each node of a flowing picture on the first one before it that it is connected with.
    hang() {
      for (const node of this.nodes.values()) node.parent = null;
      for (const edge of this.drawn) {
        const [a, b] = [this.nodes.get(edge.source), this.nodes.get(edge.target)];
        if (!a || !b || a.layer === b.layer) continue;
        const [before, after] = a.layer < b.layer ? [a, b] : [b, a];
        if (after.parent === null && after.key !== this.root) after.parent = before.key;
      }
      for (const node of this.nodes.values()) if (node.parent === null && node.key !== this.root) node.parent = this.root;
    }

    // The chips that say how much is hidden.
    chips() {
      for (const key of [...this.nodes.keys()]) if (this.nodes.get(key).more) this.nodes.delete(key);
      for (const [id, group] of this.groups) {
        const left = group.total - group.shown, holder = this.nodes.get(group.node);
        if (left <= 0 || !holder) continue;
        const inwards = group.name === "facts_in" || group.name === "documents";
        const side = group.node === this.root ? (inwards ? -1 : 1) : holder.side;
        const key = `m:${id}`;
        this.nodes.set(key, {
          key, label: `+ ${counted(left)} ${left === 1 ? group.noun.replace(/ies$/, "y").replace(/s$/, "") : group.noun}`, note: "hidden", parent: group.node,
          side, group: group.name, number: 1e9, more: true, role: "", step: null, layer: null,
        });
      }
    }

    elements() {
      if (this.expands) this.chips();
      this.sift();
      this.legend();
      const outlined = this.outlined;
      if (outlined && this.layout === "flow") this.hang();
      const relations = new Map();
      if (outlined) {
        for (const edge of this.drawn) {
          for (const pair of edge.kind === "fact" ? [`${edge.source} ${edge.target}`, `${edge.target} ${edge.source}`] : []) if (!relations.has(pair)) relations.set(pair, edge.label);
        }
      }
      const layered = this.layout === "flow" && !outlined, sideways = layered && !this.down;
      const beside = this.drawn, columns = this.columns();
      const widest = Math.max(0, ...beside.map((edge) => Math.min(kgqaLayout.LABEL, widthOf(edge.label, false) * SMALL)));
      const gap = sideways ? Math.max(62, widest + 26) : BELOW;
      const room = outlined ? this.box.clientWidth - 130 : this.layout === "tree" ? columns.width - 24 : this.down ? this.share() : this.column(gap);
      for (const node of this.seen.values()) {
        const bold = node.key === this.root || node.role === "start" || node.role === "answer";
        const text = (node.step ? `${node.step}  ` : "") + node.label;
        const relation = relations.get(`${node.key} ${node.parent}`);
        node.shown = fitted(relation ? `${text} · ${relation}` : text, room, bold);
        node.width = Math.max(40, Math.ceil(widthOf(node.shown, bold)) + 24);
        node.bold = bold;
      }
      const flow = layered ? kgqaLayout.flow(this.seen, beside, this.down, gap) : { lines: new Map() };
      const places = outlined ? kgqaLayout.outline(this.seen, this.root) : layered ? flow.places : kgqaLayout.tree(this.seen, this.root, columns.width, columns.gap);
      const found = [], pinned = (key) => !outlined && this.pins.has(key);
      for (const node of this.seen.values()) {
        const classes = [node.more ? "more" : { d: "document", e: "entity" }[node.key[0]] || "other", node.role, node.key === this.root ? "root" : "",
          node.opened && node.key !== this.root ? "opened" : "", node.bold ? "bold" : "", pinned(node.key) ? "pinned" : ""];
        found.push({
          group: "nodes", classes: classes.filter(Boolean), grabbable: !node.more, position: pinned(node.key) ? { ...this.pins.get(node.key) } : places.get(node.key),
          data: { id: node.key, label: node.shown, full: node.label, width: node.width },
        });
      }
      const labels = layered ? this.labels(flow) : new Map();
      for (const edge of this.drawn) {
        const source = this.nodes.get(edge.source), target = this.nodes.get(edge.target);
        const up = source.parent === target.key, downwards = target.parent === source.key;
        const held = (up || downwards) && (outlined || (this.layout === "tree" && edge.owner === (up ? target.key : source.key)));
        const line = flow.lines.get(edge.id), placed = labels.get(edge.id);
        const label = this.layout === "tree" ? fitted(edge.label, columns.label / SMALL, false) : placed ? placed.text : "";
        const again = held && [...found].some((other) => other.group === "edges" && other.data.branch === (up ? source.key : target.key));
        found.push({
          group: "edges", classes: [edge.kind, this.tones.size > 1 && this.relations(edge).length ? `tone-${this.tones.get(this.relations(edge).find((relation) => !this.off.has(relation)))}` : "", edge.chain ? "chain" : "", held && !again ? (up ? "up" : "down") : "cross", outlined ? "tree" : this.layout, line ? "routed" : "", line && !placed ? "unsaid" : "",
            pinned(edge.source) || pinned(edge.target) ? "moved" : ""].filter(Boolean),
          data: { id: edge.id, source: edge.source, target: edge.target, label, offset: placed ? placed.offset : (widthOf(label, false) * SMALL) / 2 + 14, full: edge.label, branch: held ? (up ? source.key : target.key) : "",
            ...(line ? route(line, places.get(edge.source), places.get(edge.target)) : {}) },
        });
      }
      for (const node of this.seen.values()) {
        if (node.more) found.push({ group: "edges", classes: ["down", "tree", "rest", pinned(node.parent) ? "moved" : ""].filter(Boolean), data: { id: `rest ${node.key}`, source: node.parent, target: node.key, label: "", offset: 0 } });
      }
      return found;
    }

    draw(moving) {
      const wanted = this.elements(), keep = new Set(wanted.map((element) => element.data.id));
      this.cy.batch(() => {
        this.cy.elements().filter((element) => !keep.has(element.id())).remove();
        for (const element of wanted) {
          const there = this.cy.getElementById(element.data.id);
          if (there.nonempty()) {
            there.data(element.data);
            const lit = ["at", "lit", "dim"].filter((name) => there.hasClass(name));
            there.classes([...element.classes, ...lit]);
            if (element.group === "nodes" && !(moving && !calm.matches)) there.position(element.position);
          } else {
            this.cy.add(element);
          }
        }
      });
      const way = `${this.outlined} ${this.down}`;
      if (this.way !== undefined && this.way !== way) { this.cy.style(this.style()); this.cy.autoungrabify(this.outlined); }
      this.way = way;
      if (moving && !calm.matches) {
        for (const element of wanted) {
          if (element.group !== "nodes") continue;
          const node = this.cy.getElementById(element.data.id);
          const from = node.position();
          if (from.x !== element.position.x || from.y !== element.position.y) node.animate({ position: element.position, duration: 160 });
        }
      } else {
        this.frame();
      }
      this.tell();
    }

    // All of it where its labels can still be read, or if all of it is asked for; else a part at a readable size.
    frame(whole = false) {
      const grown = this.grow();
      this.stretch();
      this.cy.userPanningEnabled(!grown).userZoomingEnabled(!grown); // so that the page can be moved where the picture need not be
      const box = this.cy.elements().boundingBox(), room = { w: this.box.clientWidth, h: this.box.clientHeight };
      if (!box.w || !room.w) return;
      if (this.outlined) {
        this.cy.zoom(1);
        this.cy.pan({ x: 14, y: 54 });
        return;
      }
      const zoom = Math.min(1.15, (room.w - 28) / box.w, (room.h - 64) / box.h);
      const readable = whole ? 0.15 : this.narrow && !this.long ? NARROW : READABLE;
      this.cut = zoom < readable - 0.005;
      this.cy.zoom(Math.max(zoom, readable));
      if (zoom >= readable) { this.cy.center(); this.cy.panBy({ x: 0, y: 10 }); }
      else this.cy.center(this.cy.getElementById(this.selected || this.root));
    }

    // Give a picture of layers below one another the height at which its labels can be read.
    stretch() {
      if (!this.long) return;
      const around = this.box.parentElement, beside = around.offsetHeight - this.box.clientHeight;
      around.style.minHeight = `${Math.min(MOST_HIGH, Math.ceil(this.cy.elements().boundingBox().h * READABLE) + 68 + beside)}px`;
      this.cy.resize();
    }

    showAll() {
      this.frame(true);
      this.tell();
    }

    // Give an outline that does not grow by clicks all the height that it needs; whether it is shown as a whole.
    grow() {
      const around = this.box.parentElement, lines = this.outlined && this.layout === "flow" ? this.nodes.size : 0;
      around.style.height = "";
      const lacks = lines * kgqaLayout.LINE + 54 - this.box.clientHeight;
      if (lines <= MOST_LINES && lacks > 0) around.style.height = `${around.offsetHeight + lacks}px`;
      this.cy.resize();
      return lines > 0 && lines <= MOST_LINES;
    }

    resized() {
      const before = this.width;
      this.width = this.box.clientWidth;
      this.cy.resize();
      if (Math.abs(before - this.width) > 1) this.draw(false);
    }

    tell() {
      const hidden = [...this.groups.values()].filter((group) => this.nodes.has(group.node) && group.total > group.shown);
      const own = hidden.filter((group) => group.node === this.root).map((group) => `${counted(group.total - group.shown)} ${group.noun}${{ facts_in: " to it", facts_out: " from it" }[group.name] || ""}`);
      const text = own.length ? `Hidden: ${own.join(", ")}.` : this.said;
      this.state.textContent = [text, this.cut && !this.outlined ? "The picture is larger than the window; 0 shows all of it." : ""].filter(Boolean).join(" ");
    }

    tapped(key) {
      const node = this.nodes.get(key);
      if (!node) return;
      if (node.more) { this.more(key.slice(2)); return; }
      this.select(key, true);
      if (this.expands && !node.opened) this.expand(key);
    }

    select(key, push) {
      this.selected = key;
      this.cy.batch(() => {
        this.cy.elements().removeClass("at lit");
        const node = this.cy.getElementById(key);
        node.addClass("at");
        node.connectedEdges().addClass("lit");
      });
      this.keepInView(key);
      const node = this.nodes.get(key);
      if (!node || node.more) { if (node) this.state.textContent = `${node.label} hidden; Enter shows more.`; return; }
      if (push) this.remember(false);
      const card = document.getElementById("card");
      if (card && push && "de".includes(key[0])) this.card(key);
      const paper = document.querySelector(`[data-document=${CSS.escape(key)}]`);
      if (paper && push) {
        document.querySelectorAll(".paper.at").forEach((other) => other.classList.remove("at"));
        paper.classList.add("at");
        paper.scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
      }
      document.querySelectorAll(".mention.at").forEach((other) => other.classList.remove("at"));
      if (key[0] === "e" && !this.expands) document.querySelectorAll(`.mention[data-entity=${CSS.escape(key.slice(2))}]`).forEach((other) => other.classList.add("at"));
      if (push) this.state.textContent = `${node.label}, ${{ d: "document", e: "entity" }[key[0]] || node.note}${this.expands ? (node.opened ? "; opened" : "; Enter expands") : ""}${!this.outlined && this.pins.has(key) ? "; pinned, f lets it go" : ""}`;
    }

    // The card of the page's own node holds more than what a part would, so it is kept and put back.
    card(key) {
      const card = document.getElementById("card");
      if (this.ownCard === undefined) { this.ownCard = card.innerHTML; this.cardOf = this.layout === "tree" ? this.root : null; }
      if (key === this.cardOf || (key === this.root && this.layout === "tree")) { if (this.cardOf !== key) { card.innerHTML = this.ownCard; htmx.process(card); } this.cardOf = key; return; }
      this.cardOf = key;
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => htmx.ajax("GET", `/panel?${new URLSearchParams({ node: key, mark: this.box.dataset.mark })}`, { target: "#card", swap: "innerHTML" }), 90);
    }

    keepInView(key) {
      const node = this.cy.getElementById(key);
      if (node.empty()) return;
      const box = node.renderedBoundingBox(), w = this.box.clientWidth, h = this.box.clientHeight, by = { x: 0, y: 0 };
      if (box.x1 < 8) by.x = 8 - box.x1; else if (box.x2 > w - 8) by.x = w - 8 - box.x2;
      if (box.y1 < 8) by.y = 8 - box.y1; else if (box.y2 > h - 30) by.y = h - 30 - box.y2;
      if (by.x || by.y) this.cy.panBy(by);
    }

    // A node and what hangs on it: moved into view, and farther away if it does not fit, as long as it can be read.
    showBranch(key) {
      if (this.cy.destroyed()) return;
      const node = this.cy.getElementById(key);
      if (node.empty()) return;
      const below = this.cy.collection([...this.nodes.values()].filter((other) => other.parent === key).map((other) => this.cy.getElementById(other.key)[0]).filter(Boolean));
      const branch = below.union(node), w = this.box.clientWidth, h = this.box.clientHeight;
      if (!this.outlined) {
        const box = branch.boundingBox(), fits = Math.min((w - 40) / box.w, (h - 40) / box.h);
        if (fits < this.cy.zoom()) this.cy.zoom(Math.max(fits, 0.7));
      }
      const box = branch.renderedBoundingBox(), by = { x: 0, y: 0 };
      if (box.x2 > w - 20) by.x = w - 20 - box.x2;
      if (box.x1 + by.x < 20) by.x = 20 - box.x1;
      if (box.y2 > h - 20) by.y = h - 20 - box.y2;
      if (box.y1 + by.y < 20) by.y = 20 - box.y1;
      this.cy.panBy(by);
      this.keepInView(key);
    }

    async load(key) {
      const begin = performance.now();
      const address = new URLSearchParams({ node: key, mark: this.box.dataset.mark });
      const size = this.sizes.get(key) || (key === this.root ? this.rootSizes() : FIRST);
      address.append("open", `${size.facts_in}.${size.facts_out}.${size.documents}.${size.entities}~${key}`);
      const relation = new URLSearchParams(location.search).get("relation");
      if (relation && key === this.root) address.set("relation", relation);
      this.box.setAttribute("aria-busy", "true");
      try {
        const answer = await fetch(`/api/neighbours?${address}`, { headers: { Accept: "application/json" } });
        const data = await answer.json();
        if (this.cy.destroyed()) return false;
        if (!answer.ok) throw new Error(data.error.sentence);
        this.merge(data);
        this.draw(true);
        this.cy.one("render", () => { this.box.dataset.expanded = String(performance.now() - begin); });
        this.remember(true);
        return true;
      } catch (error) {
        if (!this.cy.destroyed()) this.state.textContent = error instanceof TypeError ? "The server does not answer; is kgqa explore still running?" : error.message;
        return false;
      } finally {
        this.box.removeAttribute("aria-busy");
      }
    }

    async expand(key) {
      const node = this.nodes.get(key);
      if (!this.expands || !node || node.opened || node.more) return;
      node.opened = true;
      const before = this.nodes.size;
      if (!(await this.load(key))) { node.opened = false; return; }
      setTimeout(() => this.showBranch(key), calm.matches ? 0 : 190);
      if (this.nodes.size === before) this.state.textContent = `${node.label}: all its neighbours are there already.`;
    }

    // What hangs on the node goes, with what hangs on that.
    fold(key) {
      const node = this.nodes.get(key);
      if (!node || !node.opened || key === this.root) return;
      const gone = new Set();
      const drop = (parent) => { for (const other of this.nodes.values()) if (other.parent === parent) { gone.add(other.key); drop(other.key); } };
      drop(key);
      for (const other of gone) { this.nodes.delete(other); this.sizes.delete(other); }
      for (const [id, edge] of this.edges) if (gone.has(edge.source) || gone.has(edge.target) || edge.owner === key || gone.has(edge.owner)) this.edges.delete(id);
      for (const [id, group] of this.groups) if (group.node === key || gone.has(group.node)) this.groups.delete(id);
      this.sizes.delete(key);
      node.opened = false;
      this.draw(true);
      this.remember(true);
    }

    more(id) {
      const group = this.groups.get(id);
      if (!group) return;
      const size = { ...(this.sizes.get(group.node) || this.rootSizes()) };
      if (size[group.name] >= MOST) { this.state.textContent = `No more than ${MOST} are drawn; the lists and queries show all.`; return; }
      size[group.name] = Math.min(MOST, Math.max(size[group.name], group.keys.length) + STEP);
      this.sizes.set(group.node, size);
      this.load(group.node).then((done) => { if (done && !this.nodes.has(`m:${id}`)) this.select(group.node, false); });
    }

    rootSizes() {
      const shown = (name) => Math.min(MOST, (this.groups.get(`${name}~${this.root}`) || { keys: [] }).keys.length);
      return { facts_in: shown("facts_in"), facts_out: shown("facts_out"), documents: shown("documents"), entities: shown("entities") };
    }

    // A node that was moved stays where it is while others come and go.
    pin(key) {
      const { x, y } = this.cy.getElementById(key).position();
      this.pins.set(key, { x: Math.round(x), y: Math.round(y) });
      this.draw(true);
      this.select(key, true);
    }

    turnPin(key) {
      const node = this.nodes.get(key);
      if (!node || node.more) return;
      if (this.outlined) { this.state.textContent = "In an outline nodes have no place of their own; widen the window to move them."; return; }
      if (!this.pins.delete(key)) { this.pin(key); return; }
      this.draw(true);
      this.select(key, true);
    }

    nudge([dx, dy]) {
      const node = this.nodes.get(this.selected || this.root);
      if (!node || node.more) return;
      if (this.outlined) { this.turnPin(node.key); return; }
      const there = this.cy.getElementById(node.key), { x, y } = there.position();
      there.stop(true);
      there.position({ x: x + dx * NUDGE, y: y + dy * NUDGE });
      this.pin(node.key);
    }

    reset() {
      const number = this.pins.size;
      this.pins.clear();
      this.draw(true);
      if (calm.matches) this.frame(); else setTimeout(() => { if (!this.cy.destroyed()) this.frame(); }, 190);
      this.remember(false);
      this.state.textContent = number ? "All nodes are back in their places." : "No node was moved.";
    }

    async save(kind) {
      const title = this.box.getAttribute("aria-label"), canvas = getComputedStyle(document.documentElement).getPropertyValue("--canvas").trim();
      const drawn = kgqaExport.svg(this.cy, title, canvas, (text) => widthOf(text, false));
      try {
        kgqaExport.save(kind === "svg" ? new Blob([drawn.text], { type: "image/svg+xml" }) : await kgqaExport.png(drawn), title, kind);
        this.state.textContent = `The picture is saved as ${kind.toUpperCase()}.`;
      } catch (error) {
        this.state.textContent = "The browser cannot draw a picture of this size; save it as SVG.";
      }
    }

    // One address per state: what is open makes an entry in the history, what is selected does not.
    remember(push) {
      const address = new URL(location.href);
      address.searchParams.delete("open");
      for (const [key, size] of this.sizes) {
        if (this.nodes.has(key)) address.searchParams.append("open", `${size.facts_in}.${size.facts_out}.${size.documents}.${size.entities}~${key}`);
      }
      address.searchParams.delete("hide");
      for (const relation of this.off) address.searchParams.append("hide", relation);
      address.searchParams.delete("pin");
      for (const [key, { x, y }] of [...this.pins].filter(([key]) => this.nodes.has(key)).slice(0, KEPT)) address.searchParams.append("pin", `${x}.${y}~${key}`);
      if (this.selected && this.selected !== this.root && this.nodes.has(this.selected)) address.searchParams.set("at", this.selected);
      else address.searchParams.delete("at");
      if (address.href === location.href) return;
      history[push ? "pushState" : "replaceState"]({ kgqa: true }, "", address);
      window.kgqaAddress = address.pathname + address.search;
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], h: [-1, 0], l: [1, 0], k: [0, -1], j: [0, 1] }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      const node = this.nodes.get(this.selected);
      if (way && event.shiftKey) this.nudge(way);
      else if (way) this.step(way);
      else if (event.key === "Enter" || event.key === " ") {
        if (!node) return;
        if (node.more) this.more(node.key.slice(2));
        else if (!this.expands) { if (event.key === "Enter") this.visit(node); }
        else if (node.opened) this.fold(node.key);
        else this.expand(node.key);
      } else if (event.key === "o" && node && !node.more) this.visit(node);
      else if (event.key === "+" || event.key === "=") this.zoom(1.25);
      else if (event.key === "-") this.zoom(0.8);
      else if (event.key === "0") this.showAll();
      else if (event.key === "f") { if (this.selected) this.turnPin(this.selected); }
      else if (event.key === "r") this.reset();
      else if (event.key === "Escape") this.box.blur();
      else return;
      event.preventDefault();
      event.stopPropagation();
    }

    // Chains and the like have no page.
    visit(node) {
      const page = { d: "/document", e: "/entity" }[node.key[0]], address = page ? `${page}?id=${encodeURIComponent(node.key.slice(2))}` : node.link;
      if (address) location.assign(address);
    }

    step([dx, dy]) {
      const from = this.cy.getElementById(this.selected || this.root);
      if (from.empty()) return;
      const here = from.position();
      let best = null, least = Infinity;
      this.cy.nodes().forEach((node) => {
        if (node.id() === from.id()) return;
        const there = node.position(), along = (there.x - here.x) * dx + (there.y - here.y) * dy, across = Math.abs((there.x - here.x) * dy) + Math.abs((there.y - here.y) * dx);
        if (along < 4 || (dy && across > 320 && !this.down)) return;
        const cost = along + across * (dy ? 3 : 1.6);
        if (cost < least) { least = cost; best = node; }
      });
      if (best) this.select(best.id(), true);
    }

    zoom(by) {
      this.cy.zoom({ level: this.cy.zoom() * by, renderedPosition: { x: this.box.clientWidth / 2, y: this.box.clientHeight / 2 } });
    }

    style() {
      const paint = getComputedStyle(document.documentElement), ink = (name) => paint.getPropertyValue(`--${name}`).trim();
      const outlined = this.outlined;
      const child = { "text-background-color": ink("canvas"), "text-background-opacity": 1, "text-background-padding": "2px" };
      const bent = { "curve-style": "round-taxi", "taxi-direction": "horizontal", "taxi-turn-min-distance": 0, "taxi-radius": 6 };
      const box = (fill, line, text) => ({ "background-color": ink(fill), "border-color": ink(line), color: ink(text) });
      return [
        { selector: "node", style: {
          label: "data(label)", width: "data(width)", height: 26, shape: "round-rectangle", "corner-radius": 13, "border-width": 1,
          "font-family": FAMILY, "font-size": 12.5, "text-valign": "center", "text-halign": "center", "text-wrap": "none",
          "overlay-opacity": 0, "min-zoomed-font-size": 4, ...box("entity", "entity-line", "ink") } },
        { selector: "node.document", style: { shape: "rectangle", ...box("paper", "paper-line", "ink") } },
        { selector: "node.other", style: { "corner-radius": 4, ...box("accent-tint", "line-strong", "ink") } },
        { selector: "node.more", style: { "border-style": "dashed", ...box("canvas", "line-strong", "muted") } },
        { selector: "node.opened", style: { "border-width": 1.6, "border-color": ink("accent") } },
        { selector: "node.candidate", style: { ...box("canvas", "line-strong", "ink"), "border-style": "dashed" } },
        { selector: "node.bridge", style: box("amber-tint", "amber", "ink") },
        { selector: "node.chain", style: { ...box("paper", "amber", "ink"), "border-width": 1.6 } },
        { selector: "node.root, node.start", style: { ...box("accent", "accent", "on-accent"), "border-width": 1 } },
        { selector: "node.document.root", style: box("ink", "ink", "canvas") },
        { selector: "node.answer", style: box("green", "green", "on-accent") },
        { selector: "node.pinned", style: { "border-style": "double", "border-width": 3.5, "border-color": ink("line-strong"), "z-index": 5 } },
        { selector: "node.pinned.root, node.pinned.start, node.pinned.answer", style: { "border-color": ink("canvas") } },
        { selector: "node.bold", style: { "font-weight": 600 } },
        { selector: "node.at", style: { "underlay-color": ink("focus"), "underlay-opacity": 1, "underlay-padding": 2.5, "underlay-shape": "round-rectangle", "underlay-corner-radius": 14 } },
        { selector: "edge", style: {
          width: 1, "line-color": ink("edge"), "target-arrow-color": ink("edge"), "target-arrow-shape": "triangle", "arrow-scale": 0.7,
          "curve-style": "bezier", "control-point-step-size": 26, "font-family": FAMILY, "font-size": 10.5, color: ink("muted"), "overlay-opacity": 0, "min-zoomed-font-size": 5 } },
        { selector: "edge.mention, edge.article", style: { "line-style": "solid" } },
        { selector: "edge.rest", style: { "line-style": "dashed", "target-arrow-shape": "none" } },
        { selector: "edge.flow", style: child },
        { selector: "edge.flow.routed", style: {
          "curve-style": "data(curve)", "edge-distances": "endpoints", "source-endpoint": "data(begin)", "target-endpoint": "data(finish)", "segment-radii": 6,
          "segment-weights": (edge) => edge.data("weights"), "segment-distances": (edge) => edge.data("distances"), "source-label": "data(label)", "source-text-offset": "data(offset)" } },
        { selector: "edge.flow.moved", style: { "curve-style": "bezier", "source-endpoint": "outside-to-node", "target-endpoint": "outside-to-node", "source-label": "", label: "data(full)" } },
        ...(outlined ? [
          { selector: "edge.down.tree", style: { ...corner(true), "target-arrow-shape": "none" } },
          { selector: "edge.up.tree", style: { ...corner(false), "target-arrow-shape": "none" } },
        ] : [
          { selector: "edge.down.tree", style: {
            ...bent, "taxi-turn": kgqaLayout.TURN, "target-label": "data(label)", "target-text-offset": "data(offset)", ...child } },
          { selector: "edge.up.tree", style: {
            ...bent, "taxi-turn": -kgqaLayout.TURN, "source-label": "data(label)", "source-text-offset": "data(offset)", ...child } },
        ]),
        { selector: "edge.moved.tree", style: { "curve-style": "bezier", "source-label": "", "target-label": "" } },
        { selector: "edge.moved.up, edge.moved.down", style: { label: "data(label)", ...child } },
        // Between the lines of an outline there is no room for a bend.
        { selector: "edge.cross.tree", style: outlined ? { "curve-style": "straight", opacity: 0 } : {
          "curve-style": "unbundled-bezier", "control-point-distances": 40, "control-point-weights": 0.5, opacity: 0.28 } },
        { selector: "edge.cross.lit", style: { opacity: 1, label: "data(full)", ...child } },
        { selector: "edge.flow.lit", style: { label: "" } },
        { selector: "edge.flow.unsaid.lit, edge.flow.moved.lit", style: { label: "data(full)" } },
        ...[...Array(TONES + 1).keys()].map((tone) => ({ selector: `edge.tone-${tone}`, style: { width: 1.6, "line-color": ink(`tone-${tone}`), "target-arrow-color": ink(`tone-${tone}`) } })),
        { selector: "edge.chain", style: { width: 2, "line-color": ink("amber"), "target-arrow-color": ink("amber") } },
        { selector: "edge.lit", style: { width: 1.8, "line-color": ink("accent"), "target-arrow-color": ink("accent"), color: ink("ink"), "z-index": 9 } },
      ];
    }
  }

  let drawing = null;
  function begin() {
    const box = document.getElementById("graph"), source = document.getElementById("pictures");
    if (drawing && !drawing.box.isConnected) { drawing.end(); drawing = null; }
    if (!box || !source || box.dataset.begun) return;
    const pictures = JSON.parse(source.textContent);
    if (!pictures.length || !pictures[0].nodes.length) return;
    box.dataset.begun = "yes";
    drawing = new Drawing(box, pictures);
  }

  window.kgqaAddress = location.pathname + location.search;
  document.addEventListener("click", (event) => {
    const relation = event.target.closest("#relations [data-relation]");
    if (relation && drawing) { drawing.turnRelation(relation.dataset.relation); return; }
    const button = event.target.closest("[data-graph]");
    if (!button || !drawing) return;
    const act = button.dataset.graph;
    if (act === "fit") drawing.showAll();
    else if (act === "reset") drawing.reset();
    else if (act === "svg" || act === "png") drawing.save(act);
    else drawing.zoom(act === "in" ? 1.25 : 0.8);
  });
  document.addEventListener("kgqa:theme", () => { if (drawing) drawing.cy.style(drawing.style()); });
  document.addEventListener("htmx:afterSettle", begin);
  // Back and forward between states of one graph: the server makes each of them anew from its address.
  window.addEventListener("popstate", (event) => {
    if (event.state && event.state.htmx) return;
    if (location.pathname + location.search !== window.kgqaAddress) location.reload();
  });
  begin();
})();
