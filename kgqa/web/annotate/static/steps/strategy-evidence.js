// Evidence: paragraphs that the search finds are taken for the step that is chosen.
(function () {
  "use strict";
  const form = document.getElementById("answer"), place = document.getElementById("evidence"), search = document.getElementById("search");
  const found = document.getElementById("found"), searched = document.getElementById("searched"), item = place.dataset.item;
  const entries = [...document.querySelectorAll("#steps > li")];
  const taken = entries.map((entry) => JSON.parse(entry.dataset.paragraphs || "[]"));
  const known = new Map();
  let latest = 0;

  const changed = () => form.dispatchEvent(new Event("answer-changed", { bubbles: true }));
  const judgement = () => new FormData(form).get("judgement") || "right";
  const at = () => Number(new FormData(form).get("at") || 0);
  const address = (path, values) => `${path}?${new URLSearchParams({ item, ...values })}`;

  window.kgqaStep = {
    read() {
      const steps = entries.map((entry, number) => ({
        paragraphs: taken[number], operation: entry.querySelector(".of-operation").checked, no_evidence: entry.querySelector(".of-nothing").checked,
      }));
      return { judgement: judgement(), steps: judgement() === "right" ? steps : [] };
    },
  };
  function make(tag, text, ...children) {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    element.append(...children);
    return element;
  }
  function button(text, label, act) {
    const element = make("button", text);
    element.type = "button";
    element.setAttribute("aria-label", label);
    element.addEventListener("click", act);
    return element;
  }
  function show() {
    document.getElementById("matching").hidden = judgement() !== "right";
    entries.forEach((entry, number) => {
      entry.classList.toggle("at", number === at());
      entry.querySelector(".taken").replaceChildren(...taken[number].map((id) => {
        const title = known.has(id) ? known.get(id).title || id : id;
        const name = make("span", title);
        name.title = known.has(id) ? known.get(id).text : id;
        return make("li", "", name, button("×", `Remove ${title} from step ${number + 1}`, () => {
          taken[number] = taken[number].filter((each) => each !== id);
          show();
          changed();
        }));
      }));
    });
  }
  function take(document_) {
    const number = at();
    known.set(document_.id, document_);
    if (!taken[number].includes(document_.id)) taken[number] = [...taken[number], document_.id];
    searched.textContent = `${document_.title || document_.id} is evidence of step ${number + 1}.`;
    show();
    changed();
  }
  async function get(path) {
    const answer = await fetch(path), body = await answer.json();
    if (!answer.ok) throw new Error(body.error.sentence);
    return body;
  }
  async function find() {
    const query = search.value.trim(), mine = latest + 1;
    latest = mine;
    if (!query) return;
    searched.textContent = "…";
    try {
      const { documents } = await get(address("/api/search", { q: query }));
      if (mine !== latest) return; // an answer to an earlier search that comes late
      searched.textContent = documents.length ? `${documents.length} paragraphs for “${query}”` : `Nothing for “${query}”; try other words.`;
      found.replaceChildren(...documents.map((each) => {
        const title = each.title || each.id, text = make("div", each.text), row = make("div", "", make("h3", title), button("Take", `Take ${title}`, () => take(each)));
        text.className = "text";
        row.className = "row";
        return make("li", "", row, text);
      }));
    } catch (error) {
      if (mine === latest) searched.textContent = error instanceof TypeError ? "The server does not answer; search once more later." : error.message;
    }
  }
  async function name() {
    for (const id of new Set(taken.flat())) {
      try { known.set(id, await get(address("/api/document", { id }))); } catch (error) { /* its id is shown */ }
    }
    show();
  }
  document.getElementById("find").addEventListener("click", find);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
    event.preventDefault();
    find();
  });
  // What is typed into the search, and which step is chosen, is no part of the answer.
  search.addEventListener("input", (event) => event.stopPropagation());
  for (const entry of entries) {
    const page = entry.querySelector(".of-page");
    if (page) page.addEventListener("click", () => {
      entry.querySelector("[name=at]").checked = true;
      search.value = entry.dataset.page;
      show();
      find();
      search.focus();
    });
  }
  form.addEventListener("change", show);
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (document.activeElement && document.activeElement.matches("textarea, select, input:not([type=checkbox], [type=radio])")) return;
    event.preventDefault();
    search.focus();
  });
  show();
  name();
})();
