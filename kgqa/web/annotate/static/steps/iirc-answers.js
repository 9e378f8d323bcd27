// IIRC's answers: texts that open, marks in them, and the fields that a kind of answer needs.
(function () {
  "use strict";
  const get = (id) => document.getElementById(id), read = (id) => JSON.parse((get(id) && get(id).textContent) || "{}");
  const shown = read("shown"), draft = read("draft"), form = get("answer"), trouble = get("trouble-article");
  const titles = [...new Set(shown.links.map((link) => link.title))], opens = new Set(shown.links.filter((link) => link.opens).map((link) => link.title));
  const named = new Set(shown.named), texts = new Map();
  let article = get("article"), current = "";

  const changed = () => form.dispatchEvent(new Event("answer-changed", { bubbles: true }));
  const names = (mark) => (mark.document.startsWith("article:") ? mark.document.slice("article:".length) : mark.document);
  const marker = new window.kgqaSpans.Marker({
    kinds: [{ name: "spans", label: "answer", key: "a" }, { name: "context", label: "needed", key: "c" }], list: get("marks"), status: get("marked"), names,
    changed,
  });
  marker.show(get("question-text"), { document: "question", text: shown.question });
  const passage = marker.show(get("passage"), {
    document: "passage", text: shown.text, links: shown.links, given: shown.context, onlink: (link) => open(`article:${link.title}`),
  });
  for (const anchor of passage.box.querySelectorAll(".mention")) anchor.classList.toggle("chosen", named.has(shown.links[anchor.dataset.link].title));

  // Shows an article, which is fetched once. Its view, or null with a sentence where it cannot be had.
  async function open(name) {
    if (!name.startsWith("article:")) return null;
    if (!texts.has(name)) {
      try {
        const answer = await fetch(`/api/document?${new URLSearchParams({ item: shown.item, id: name })}`, { headers: { Accept: "application/json" } });
        const found = await answer.json();
        if (!answer.ok) throw new Error(found.error.sentence);
        texts.set(name, found);
      } catch (error) {
        trouble.textContent = error instanceof TypeError ? "The server does not answer; the article opens when it is back." : error.message;
        trouble.hidden = false;
        return null;
      }
    }
    trouble.hidden = true;
    const found = texts.get(name);
    current = name;
    if (marker.views.has(name)) return marker.views.get(name);
    article.hidden = false;
    const view = marker.show(article, { document: name, text: found.text });
    article = view.box;
    article.setAttribute("aria-label", `Article: ${found.title}`);
    article.scrollTop = 0;
    drawOpened();
    return view;
  }
  marker.open = open;
  async function openAndFocus(name) {
    const view = await open(name);
    if (view) view.box.focus();
  }
  function drawOpened() {
    get("opened").replaceChildren(...[...texts.keys()].map((name) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "button", textContent: texts.get(name).title });
      button.setAttribute("aria-pressed", String(name === current));
      button.addEventListener("click", () => openAndFocus(name));
      return button;
    }));
  }
  function next() {
    const all = [...texts.keys()];
    if (all.length) openAndFocus(all[(all.indexOf(current) + 1) % all.length]);
  }

  const buttons = titles.map((title, place) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", tabIndex: place ? -1 : 0, textContent: named.has(title) ? `${title} (named with the question)` : title });
    if (!opens.has(title)) button.textContent += " (no text)";
    button.setAttribute("aria-disabled", String(!opens.has(title)));
    button.addEventListener("click", () => openAndFocus(`article:${title}`));
    get("links").append(button);
    return button;
  });
  window.kgqaList(get("links"), buttons, titles);

  function fit() {
    const type = (form.querySelector("[name=type]:checked") || {}).value || "";
    for (const part of document.querySelectorAll("[data-for]")) part.hidden = part.dataset.for !== type;
  }
  form.addEventListener("change", fit);
  get("mark-spans").addEventListener("click", () => marker.mark("spans"));
  get("mark-context").addEventListener("click", () => marker.mark("context"));

  const actions = {
    q: () => get("question-text").focus(), p: () => get("passage").focus(), l: () => (buttons.find((button) => button.tabIndex === 0) || buttons[0]).focus(),
    o: () => { if (!article.hidden) article.focus(); }, n: next,
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const here = document.activeElement || document.body;
    if (!actions[event.key] || here.matches("textarea, select, input[type=text]") || here.closest(".choices")) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  }, true);

  for (const name of ["type", "reason"]) {
    const input = draft[name] && form.querySelector(`[name=${name}][value="${CSS.escape(draft[name])}"]`);
    if (input) input.checked = true;
  }
  for (const name of ["value", "unit", "note"]) get(name).value = draft[name] || "";
  marker.set(["spans", "context"].flatMap((kind) => (draft[kind] || []).map((mark) => ({ kind, ...mark }))));
  fit();
  const chosen = (name) => (form.querySelector(`[name=${name}]:checked`) || {}).value || "";
  // Fields that another kind of answer needs are kept, so that nothing is lost by trying one.
  window.kgqaStep = {
    read: () => ({
      type: chosen("type"), spans: marker.of("spans"), value: get("value").value, unit: get("unit").value, context: marker.of("context"),
      reason: chosen("reason"), note: get("note").value,
    }),
  };
})();
