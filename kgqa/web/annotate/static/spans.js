// Marks spans of texts, by mouse or by keys alone. Offsets are in Unicode code points, as Python counts them.
//
// The text of a page is set once; the cursor and the marks are highlights (CSS.highlights), which change no element. So a key costs the same
// in a long text as in a short one, links keep their focus, and nothing has to be counted again.
window.kgqaSpans = (function () {
  "use strict";
  const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
  const MOST_SHOWN = 160; // characters of a mark in the list and for screen readers

  // Index of the first of the ascending values that is not less than `wanted`; `value` reads the one at an index.
  function lowerBound(count, wanted, value) {
    let low = 0, high = count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (value(middle) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Places in code points ↔ places in UTF-16 units, by the list of second halves of surrogate pairs, which are few.
  class Offsets {
    constructor(text) {
      this.halves = [];
      for (const pair of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) this.halves.push(pair.index + 1);
    }
    toPoint(unit) { return unit - lowerBound(this.halves.length, unit, (at) => this.halves[at]); }
    toUnit(point) { return point + lowerBound(this.halves.length, point, (at) => this.halves[at] - 1 - at); }
  }

  function shortened(text) {
    const letters = Array.from(text);
    return letters.length <= MOST_SHOWN ? text : `${letters.slice(0, MOST_SHOWN - 1).join("")}…`;
  }

  function highlight(name, priority) {
    if (!CSS.highlights.has(name)) {
      const made = new Highlight();
      made.priority = priority;
      CSS.highlights.set(name, made);
    }
    return CSS.highlights.get(name);
  }

  // A text in which spans are marked. Its selection is a pair of places of words or a span of units.
  class TextView {
    constructor(marker, box, { document: name, text, links = [], given = [], onlink = () => {} }) {
      Object.assign(this, { marker, box, name, text, onlink });
      this.offsets = new Offsets(text);
      this.selection = null; // [start, end] in units
      this.anchor = 0; // the word where an extension began
      this.at = -1; // the word where it ends
      this.column = null;
      this.ranges = [];
      this.fill(links);
      for (const [start, end] of given) highlight("kgqa-given", 0).add(this.range(this.offsets.toUnit(start), this.offsets.toUnit(end)));
      box.addEventListener("keydown", (event) => this.key(event));
      box.addEventListener("focus", () => { marker.current = this; if (this.at < 0 && !this.selection) this.go(0, false); else this.draw(); });
      box.addEventListener("blur", () => this.draw());
    }
    fill(links) {
      const leaves = [];
      this.leaves = leaves;
      this.box.replaceChildren();
      const add = (start, end, parent) => {
        if (start === end) return;
        const node = document.createTextNode(this.text.slice(start, end));
        parent.append(node);
        leaves.push({ node, start });
      };
      let at = 0;
      links.forEach((link, number) => {
        const start = this.offsets.toUnit(link.start), end = this.offsets.toUnit(link.end);
        if (start < at) return;
        add(at, start, this.box);
        const anchor = document.createElement("a");
        Object.assign(anchor, { href: "#", className: "mention", title: link.title, draggable: false, tabIndex: -1 });
        anchor.dataset.link = number;
        anchor.addEventListener("click", (event) => {
          event.preventDefault();
          if (window.getSelection().isCollapsed) this.onlink(link, number);
        });
        add(start, end, anchor);
        this.box.append(anchor);
        at = end;
      });
      add(at, this.text.length, this.box);
    }
    // The words of the text, as pairs of units: what a segmenter takes for words, and signs such as "€". Made when first needed.
    get words() {
      if (!this._words) {
        this._words = [];
        for (const part of new Intl.Segmenter(undefined, { granularity: "word" }).segment(this.text)) {
          if (part.isWordLike || /[\p{L}\p{N}\p{S}]/u.test(part.segment)) this._words.push([part.index, part.index + part.segment.length]);
        }
      }
      return this._words;
    }
    get sentences() {
      if (!this._sentences) {
        const found = [...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(this.text)];
        this._sentences = [...new Set(found.map((part) => this.wordAt(part.index)))];
      }
      return this._sentences;
    }
    get rightToLeft() {
      const first = this.text.match(/\p{L}/u);
      return Boolean(first && RIGHT_TO_LEFT.test(first[0]));
    }
    // The word that covers or follows a place.
    wordAt(unit) { return Math.min(lowerBound(this.words.length, unit + 1, (at) => this.words[at][1]), this.words.length - 1); }
    place(unit, atEnd) {
      const next = lowerBound(this.leaves.length, unit + (atEnd ? 0 : 1), (at) => this.leaves[at].start);
      const leaf = this.leaves[Math.max(0, next - 1)];
      return [leaf.node, unit - leaf.start];
    }
    range(start, end) {
      const range = document.createRange();
      if (!this.leaves.length) return range;
      range.setStart(...this.place(start, false));
      range.setEnd(...this.place(end, true));
      return range;
    }
    unitOf(node, offset) {
      const leaf = this.leaves.find((each) => each.node === node);
      if (leaf) return leaf.start + offset;
      const before = document.createRange();
      before.setStart(this.box, 0);
      before.setEnd(node, offset);
      return before.toString().length;
    }
    // Selects from the word where an extension began to the word `at`.
    go(at, extend) {
      if (!this.words.length) return;
      this.at = Math.max(0, Math.min(this.words.length - 1, at));
      if (!extend) this.anchor = this.at;
      const [first, last] = this.anchor <= this.at ? [this.anchor, this.at] : [this.at, this.anchor];
      this.select(this.words[first][0], this.words[last][1]);
    }
    select(start, end) {
      this.selection = start < end ? [start, end] : null;
      this.marker.current = this;
      this.draw();
      this.marker.tell();
      if (this.selection) this.reveal();
    }
    draw() {
      const cursor = highlight("kgqa-cursor", 3);
      cursor.clear();
      const shown = this.marker.current === this ? this.selection : this.marker.current && this.marker.current.selection;
      if (shown) cursor.add(this.marker.current.range(...shown));
    }
    // Scrolls the text, then the page, as far as is needed to see the word where the selection ends.
    reveal() {
      const word = (this.at >= 0 ? this.range(...this.words[this.at]) : this.range(...this.selection)).getBoundingClientRect();
      const frame = this.box.getBoundingClientRect(), space = 1.5 * word.height;
      let moved = 0;
      if (word.bottom > frame.bottom - space) moved = word.bottom - frame.bottom + space;
      else if (word.top < frame.top + space) moved = word.top - frame.top - space;
      const before = this.box.scrollTop;
      if (moved) this.box.scrollTop += moved;
      const top = word.top - (this.box.scrollTop - before), bottom = top + word.height;
      if (top < 0 || bottom > window.innerHeight) window.scrollBy(0, top < 0 ? top - 4 * space : bottom - window.innerHeight + 4 * space);
    }
    // One line down or up, at the column where the first of these moves began.
    line(step, extend) {
      const word = this.range(...this.words[Math.max(0, this.at)]).getClientRects()[0];
      if (!word) return;
      if (this.column === null) this.column = word.left + 1;
      const column = this.column, height = word.height;
      for (let lines = 1; lines < 6; lines += 1) {
        let y = word.top + height / 2 + step * lines * 1.3 * height;
        const frame = this.box.getBoundingClientRect(), top = Math.max(frame.top, 0), bottom = Math.min(frame.bottom, window.innerHeight);
        if (y > bottom - height || y < top + height) {
          const before = this.box.scrollTop;
          this.box.scrollTop += step * 2 * height;
          y -= this.box.scrollTop - before;
        }
        const unit = this.atPoint(column, y);
        if (unit === null) continue;
        const at = this.wordAt(unit);
        if (step > 0 ? at > this.at : at < this.at) {
          this.go(at, extend);
          this.column = column;
          return;
        }
      }
      this.go(step > 0 ? this.words.length - 1 : 0, extend);
    }
    atPoint(x, y) {
      let node, offset;
      if (document.caretPositionFromPoint) {
        const found = document.caretPositionFromPoint(x, y);
        if (found) ({ offsetNode: node, offset } = found);
      } else {
        const found = document.caretRangeFromPoint(x, y);
        if (found) ({ startContainer: node, startOffset: offset } = found);
      }
      return node && this.box.contains(node) ? this.unitOf(node, offset) : null;
    }
    // Moves the end of the selection (or its start) by one letter with all that combines with it.
    nudge(step) {
      if (!this.selection) return;
      const [start, end] = this.selection;
      const around = this.text.slice(Math.max(0, end - 40), end + 40), base = Math.max(0, end - 40);
      const edges = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(around)].map((part) => base + part.index);
      edges.push(base + around.length);
      const next = step > 0 ? edges.find((edge) => edge > end) : edges.filter((edge) => edge < end).pop();
      if (next !== undefined && next > start) this.select(start, next);
    }
    nextSentence(step) {
      const list = this.sentences, next = lowerBound(list.length, this.at + (step > 0 ? 1 : 0), (place) => list[place]);
      if (step > 0) return next < list.length ? list[next] : this.words.length - 1;
      return next > 0 ? list[next - 1] : 0;
    }
    key(event) {
      if (event.defaultPrevented || (event.ctrlKey && event.key === "Enter") || event.metaKey || !this.words.length) return;
      const forward = this.rightToLeft ? "ArrowLeft" : "ArrowRight", back = this.rightToLeft ? "ArrowRight" : "ArrowLeft";
      const extend = event.shiftKey, sentence = event.ctrlKey;
      const kind = !event.ctrlKey && !event.altKey && this.marker.kinds.find((each) => each.key === event.key || (event.key === "Enter" && each.enter));
      if (event.altKey && extend && (event.key === forward || event.key === back)) this.nudge(event.key === forward ? 1 : -1);
      else if (event.altKey) return;
      else if (event.key === forward) this.go(sentence ? this.nextSentence(1) : this.at + 1, extend);
      else if (event.key === back) this.go(sentence ? this.nextSentence(-1) : this.at - 1, extend);
      else if (event.key === "ArrowDown") this.line(1, extend);
      else if (event.key === "ArrowUp") this.line(-1, extend);
      else if (event.key === "PageDown") this.go(this.nextSentence(1), extend);
      else if (event.key === "PageUp") this.go(this.nextSentence(-1), extend);
      else if (event.key === "Home") this.go(0, extend);
      else if (event.key === "End") this.go(this.words.length - 1, extend);
      else if (kind) this.marker.mark(kind.name);
      else if (event.key === "Delete" || event.key === "Backspace") this.marker.unmark();
      else return;
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") this.column = null;
      if (document.activeElement === this.box) window.getSelection().removeAllRanges();
      event.preventDefault();
      event.stopPropagation();
    }
    // What was selected with the mouse or a finger, in whole words; a click alone moves to its word.
    pointed(selection) {
      const range = selection.getRangeAt(0);
      if (!this.box.contains(range.startContainer) || !this.box.contains(range.endContainer) || !this.words.length) return;
      const start = this.unitOf(range.startContainer, range.startOffset), end = this.unitOf(range.endContainer, range.endOffset);
      const first = this.wordAt(start), last = Math.max(first, this.wordAt(Math.max(start, end - 1)));
      // A word that begins behind the selection was not meant.
      const end_ = last > first && this.words[last][0] >= end ? last - 1 : last;
      this.anchor = first;
      this.at = end_;
      this.column = null;
      this.selection = [this.words[first][0], this.words[end_][1]];
      this.marker.current = this;
      this.draw();
      this.marker.tell();
    }
    mark(kind) {
      const [start, end] = this.selection;
      return { kind, document: this.name, start: this.offsets.toPoint(start), end: this.offsets.toPoint(end), text: this.text.slice(start, end) };
    }
    // Draws the marks of this text anew.
    paint(marks) {
      for (const [name, range] of this.ranges) highlight(`kgqa-${name}`, 1).delete(range);
      this.ranges = marks.filter((mark) => mark.document === this.name).map((mark) => {
        const range = this.range(this.offsets.toUnit(mark.start), this.offsets.toUnit(mark.end));
        highlight(`kgqa-${mark.kind}`, mark.kind === "spans" ? 2 : 1).add(range);
        return [mark.kind, range];
      });
    }
  }

  // The marks of an answer over several texts: `kinds` are {name, label, key}, `list` is where they are listed, `status` is read aloud.
  class Marker {
    constructor({ kinds, list, status, names = (mark) => mark.document, changed = () => {} }) {
      Object.assign(this, { kinds, list, status, names, changed });
      this.marks = [];
      this.views = new Map();
      this.current = null;
      let waiting = 0;
      document.addEventListener("selectionchange", () => {
        cancelAnimationFrame(waiting);
        waiting = requestAnimationFrame(() => {
          const selection = window.getSelection();
          if (!selection.rangeCount || !selection.anchorNode) return;
          for (const view of this.views.values()) if (view.box.contains(selection.anchorNode)) view.pointed(selection);
        });
      });
    }
    // Shows a text in `box`; a text that was there before gives way.
    show(box, options) {
      for (const [name, view] of this.views) if (view.box === box || name === options.document) this.hide(name);
      const fresh = box.cloneNode(false); // without the listeners of the text before
      box.replaceWith(fresh);
      const view = new TextView(this, fresh, options);
      this.views.set(options.document, view);
      view.paint(this.marks);
      return view;
    }
    hide(name) {
      const view = this.views.get(name);
      view.paint([]);
      if (this.current === view) { this.current = null; view.draw(); }
      this.views.delete(name);
    }
    set(marks) {
      this.marks = marks;
      this.refresh();
    }
    of(kind) { return this.marks.filter((mark) => mark.kind === kind).map(({ document: name, start, end, text }) => ({ document: name, start, end, text })); }
    tell(word = "") {
      const view = this.current;
      this.status.textContent = view && view.selection ? `${word}${shortened(view.text.slice(...view.selection))}` : word;
    }
    // Marks the selection; a new mark replaces marks of its kind that it overlaps, and the same one once more takes it back.
    mark(kind) {
      const view = this.current;
      if (!view || !view.selection) return;
      const made = view.mark(kind);
      const overlaps = (mark) => mark.kind === kind && mark.document === made.document && mark.start < made.end && made.start < mark.end;
      const same = this.marks.some((mark) => overlaps(mark) && mark.start === made.start && mark.end === made.end);
      this.marks = this.marks.filter((mark) => !overlaps(mark));
      if (!same) this.marks.push(made);
      this.after(same ? "Mark removed: " : "Marked: ");
    }
    unmark() {
      const view = this.current;
      if (!view || !view.selection) return;
      const at = view.mark("");
      const kept = this.marks.filter((mark) => mark.document !== at.document || mark.end <= at.start || at.end <= mark.start);
      if (kept.length === this.marks.length) return;
      this.marks = kept;
      this.after("Mark removed: ");
    }
    remove(mark) {
      this.marks = this.marks.filter((each) => each !== mark);
      this.after("Mark removed: ");
    }
    after(word) {
      this.refresh();
      this.tell(word);
      this.changed();
    }
    refresh() {
      for (const view of this.views.values()) view.paint(this.marks);
      this.list.replaceChildren(...this.kinds.flatMap((kind) => this.marks.filter((mark) => mark.kind === kind.name).map((mark) => this.entry(kind, mark))));
    }
    entry(kind, mark) {
      const entry = document.createElement("li"), go = document.createElement("button"), remove = document.createElement("button");
      const label = document.createElement("span");
      label.className = `kind kind-${kind.name}`;
      label.textContent = kind.label;
      go.type = remove.type = "button";
      go.className = "go-to";
      go.textContent = shortened(mark.text);
      go.title = this.names(mark);
      go.addEventListener("click", () => this.goTo(mark));
      remove.className = "quiet remove";
      remove.textContent = "×";
      remove.setAttribute("aria-label", `Remove: ${shortened(mark.text)}`);
      remove.addEventListener("click", () => {
        const place = [...this.list.children].indexOf(entry);
        this.remove(mark);
        const next = this.list.children[Math.min(place, this.list.children.length - 1)];
        if (next) next.querySelector(".remove").focus();
      });
      entry.append(label, go, remove);
      return entry;
    }
    async goTo(mark) {
      let view = this.views.get(mark.document);
      if (!view && this.open) view = await this.open(mark.document);
      if (!view) return;
      view.anchor = view.wordAt(view.offsets.toUnit(mark.start));
      view.at = Math.max(view.anchor, view.wordAt(view.offsets.toUnit(mark.end) - 1));
      view.box.focus({ preventScroll: true });
      view.select(view.offsets.toUnit(mark.start), view.offsets.toUnit(mark.end));
    }
  }
  return { Marker, Offsets, shortened };
})();

// A list of choices in which arrow keys and first letters move, so that one Tab leads past it; Enter on a checkbox leaves it by `leave`.
window.kgqaList = function (box, items, names, leave) {
  "use strict";
  let typed = "", last = 0;
  function go(place) {
    items.forEach((item, at) => { item.tabIndex = at === place ? 0 : -1; });
    items[place].focus();
  }
  box.addEventListener("focusin", (event) => {
    const place = items.indexOf(event.target);
    if (place >= 0) items.forEach((item, at) => { item.tabIndex = at === place ? 0 : -1; });
  });
  box.addEventListener("keydown", (event) => {
    const at = items.indexOf(document.activeElement);
    if (event.ctrlKey || event.metaKey || event.altKey || at < 0) return;
    if (event.key === "ArrowDown" || event.key === "ArrowRight") go(Math.min(items.length - 1, at + 1));
    else if (event.key === "ArrowUp" || event.key === "ArrowLeft") go(Math.max(0, at - 1));
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(items.length - 1);
    else if (event.key === "Enter" && leave) leave();
    else if (event.key.length === 1 && event.key !== " ") {
      typed = event.timeStamp - last < 700 ? typed + event.key.toLocaleLowerCase() : event.key.toLocaleLowerCase();
      last = event.timeStamp;
      const order = items.map((item, place) => (at + place + (typed.length === 1 ? 1 : 0)) % items.length);
      const found = order.find((place) => names[place].toLocaleLowerCase().startsWith(typed));
      if (found !== undefined) go(found);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
};
