// An answer: spans that are typed or marked in a document, a number, yes, no, none or a candidate, and what supports it.
(function () {
  "use strict";
  const form = document.getElementById("answer"), draft = JSON.parse(document.getElementById("draft").textContent || "{}") || {};
  const list = document.getElementById("spans"), typed = document.getElementById("typed"), mark = document.getElementById("mark");
  const said = document.getElementById("said");
  const spans = Array.isArray(draft.spans) ? draft.spans : [];

  const changed = () => form.dispatchEvent(new Event("answer-changed", { bubbles: true }));
  const characters = (text) => Array.from(text).length; // as the server counts them, not units of UTF-16

  window.kgqaStep = {
    read() {
      const given = new FormData(form), choice = given.get("choice");
      const kind = choice === null ? given.get("kind") || "" : choice ? "candidate" : "none";
      const sentences = [...form.querySelectorAll(".of-sentence:checked")].map((each) => ({
        document: each.closest("[data-document]").dataset.document, sentence: Number(each.dataset.sentence),
      }));
      return {
        kind, spans: kind === "spans" ? spans : [], number: kind === "number" ? given.get("number") : "",
        unit: kind === "number" ? given.get("unit") : "", candidate: choice || "", support: given.getAll("support"), sentences,
        knew: given.has("knew"), note: given.get("note") || "",
      };
    },
  };

  function show() {
    if (!list) return;
    const kind = new FormData(form).get("kind");
    document.getElementById("of-spans").hidden = kind !== "spans";
    document.getElementById("of-number").hidden = kind !== "number";
    list.replaceChildren(...spans.map((span, place) => {
      const entry = document.createElement("li"), text = document.createElement("span"), remove = document.createElement("button");
      text.textContent = span.text;
      remove.type = "button";
      remove.textContent = "×";
      remove.setAttribute("aria-label", `Remove ${span.text}`);
      remove.addEventListener("click", () => { spans.splice(place, 1); show(); changed(); });
      entry.append(text, remove);
      return entry;
    }));
  }
  function add(span) {
    spans.push(span);
    form.querySelector('[name="kind"][value="spans"]').checked = true;
    said.textContent = `Added: ${span.text}`;
    show();
    changed();
  }
  function take() {
    const chosen = window.getSelection();
    const range = chosen.rangeCount && !chosen.isCollapsed ? chosen.getRangeAt(0) : null;
    const element = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);
    const text = range && element(range.startContainer).closest(".document .text");
    if (!text || element(range.endContainer).closest(".document .text") !== text) {
      said.textContent = "Select a part of one document first.";
      return;
    }
    const before = document.createRange(), whole = range.toString();
    before.selectNodeContents(text);
    before.setEnd(range.startContainer, range.startOffset);
    const start = characters(before.toString()) + characters(whole) - characters(whole.trimStart());
    if (whole.trim()) add({ text: whole.trim(), document: text.closest("[data-document]").dataset.document, start });
  }

  form.addEventListener("change", (event) => { if (event.target.name === "kind") show(); });
  if (mark) {
    mark.addEventListener("click", take);
    typed.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.ctrlKey) return;
      event.preventDefault();
      if (typed.value.trim()) add({ text: typed.value.trim(), document: "", start: null });
      typed.value = "";
    });
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.key !== "a" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.activeElement && document.activeElement.matches("textarea, select, input:not([type=checkbox], [type=radio])")) return;
      event.preventDefault();
      take();
    });
  }
  show();
})();
