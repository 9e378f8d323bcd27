// IIRC's questions: one question is edited at a time, and all of them are one answer.
(function () {
  "use strict";
  const get = (id) => document.getElementById(id), read = (id) => JSON.parse((get(id) && get(id).textContent) || "{}");
  const shown = read("shown"), draft = read("draft"), form = get("answer");
  const box = get("question"), links = get("links"), entries = [...document.querySelectorAll("#questions button")];
  const titles = [...new Set(shown.links.map((link) => link.title))];
  const questions = entries.map((entry, place) => {
    const given = (draft.questions || [])[place] || {};
    return { question: given.question || "", links: (given.links || []).filter((title) => titles.includes(title)), context: given.context || [] };
  });
  let active = 0;

  const changed = () => { describe(active); form.dispatchEvent(new Event("answer-changed", { bubbles: true })); };
  const marker = new window.kgqaSpans.Marker({
    kinds: [{ name: "context", label: "needed", key: "c", enter: true }], list: get("marks"), status: get("marked"), names: () => shown.title,
    changed: () => { questions[active].context = marker.of("context"); changed(); },
  });
  const view = marker.show(get("passage"), { document: "passage", text: shown.text, links: shown.links, onlink: (link) => choose(link.title) });

  const inputs = titles.map((title, place) => {
    const label = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "checkbox", tabIndex: place ? -1 : 0 });
    input.addEventListener("change", () => choose(title));
    label.append(input, ` ${title}`);
    links.append(label);
    return input;
  });

  function describe(place) {
    const { question, links: named, context } = questions[place], entry = entries[place];
    entry.querySelector(".words").textContent = question || "…";
    entry.querySelector(".said").textContent = named.length || context.length ? `${named.length} ${named.length === 1 ? "link" : "links"}${context.length ? "" : ", nothing marked"}` : "";
  }
  function drawLinks() {
    const named = new Set(questions[active].links);
    inputs.forEach((input, place) => { input.checked = named.has(titles[place]); });
    for (const anchor of view.box.querySelectorAll(".mention")) anchor.classList.toggle("chosen", named.has(shown.links[anchor.dataset.link].title));
  }
  function choose(title) {
    const named = questions[active].links;
    // In the order of the passage, so that the same choice is the same answer.
    questions[active].links = titles.filter((each) => named.includes(each) !== (each === title));
    drawLinks();
    changed();
  }
  function edit(place, focus = true) {
    active = Math.max(0, Math.min(questions.length - 1, place));
    get("which").textContent = active + 1;
    entries.forEach((entry, at) => { if (at === active) entry.setAttribute("aria-current", "true"); else entry.removeAttribute("aria-current"); });
    box.value = questions[active].question;
    marker.set(questions[active].context.map((mark) => ({ kind: "context", ...mark })));
    drawLinks();
    if (focus) box.focus();
  }
  const toLinks = () => (inputs.find((input) => input.tabIndex === 0) || inputs[0]).focus();

  entries.forEach((entry, place) => entry.addEventListener("click", () => edit(place)));
  get("mark").addEventListener("click", () => marker.mark("context"));
  box.addEventListener("input", () => { questions[active].question = box.value; changed(); });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    event.preventDefault();
    toLinks();
  });
  window.kgqaList(links, inputs, titles, () => view.box.focus());

  const actions = { j: () => edit(active + 1), k: () => edit(active - 1), q: () => box.focus(), l: toLinks, p: () => view.box.focus() };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const here = document.activeElement || document.body;
    if (!actions[event.key] || here.matches("textarea, select, input:not([type=checkbox], [type=radio])") || here.closest(".choices")) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  }, true);

  window.kgqaStep = { read: () => ({ questions }) };
  questions.forEach((question, place) => describe(place));
  edit(0, false);
})();
