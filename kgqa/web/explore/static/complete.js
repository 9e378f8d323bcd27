// Suggestions while Cypher is written, and Ctrl-Enter. Without scripts the same form runs by its button.
(function () {
  "use strict";
  const box = document.querySelector("[data-completes]");
  if (!box) return;
  const list = document.getElementById(box.getAttribute("aria-controls")), state = document.getElementById("completions-state");
  const params = document.getElementById("params");
  let begun = "", chosen = -1, waiting = 0, asked = null;

  const open = () => !list.hidden;
  function close() {
    clearTimeout(waiting);
    if (asked) asked.abort();
    list.hidden = true;
    list.replaceChildren();
    box.removeAttribute("aria-activedescendant");
    state.textContent = "";
    chosen = -1;
  }

  function choose(at) {
    const options = [...list.children];
    chosen = (at + options.length) % options.length;
    options.forEach((option, place) => option.setAttribute("aria-selected", String(place === chosen)));
    options[chosen].scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", options[chosen].id);
  }

  function show(found) {
    begun = found.begun;
    list.replaceChildren(...found.suggestions.map((each, at) => {
      const option = document.createElement("div"), word = document.createElement("span"), about = document.createElement("span");
      option.id = `completion-${at}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.dataset.word = each.word;
      option.dataset.kind = each.kind;
      word.className = "mono";
      word.textContent = each.word;
      about.className = "about";
      about.textContent = [each.kind, each.about].filter(Boolean).join(" · ");
      option.append(word, about);
      return option;
    }));
    chosen = -1;
    box.removeAttribute("aria-activedescendant");
    list.hidden = !list.children.length;
    state.textContent = open() ? `${list.children.length} suggestions` : "";
  }

  async function ask() {
    if (asked) asked.abort();
    asked = new AbortController();
    const text = box.value, at = box.selectionStart;
    if (at !== box.selectionEnd) return;
    const sent = new URLSearchParams({ q: text, at: [...text.slice(0, at)].length, params: params.value });
    try {
      const answer = await fetch(`/api/complete?${sent}`, { signal: asked.signal });
      if (!answer.ok) return;
      const found = await answer.json();
      if (document.activeElement === box && box.value === text && box.selectionStart === at) show(found);
    } catch (error) { /* stopped by what was typed since, or the server has gone, which Run says */ }
  }

  function take(option) {
    const word = option.dataset.word, at = box.selectionStart;
    const named = option.dataset.kind === "query";
    close();
    if (named) { location.assign(`/cypher?${new URLSearchParams({ name: word })}`); return; }
    box.setSelectionRange(at - begun.length, at);
    // Old, but the only way that can be undone by Ctrl-Z.
    if (!document.execCommand("insertText", false, word)) box.setRangeText(word, at - begun.length, at, "end");
    close();
  }

  box.addEventListener("input", (event) => {
    close();
    if (!event.isComposing) waiting = setTimeout(ask, 80);
  });
  box.addEventListener("compositionend", () => { waiting = setTimeout(ask, 80); });
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
    if (event.key === " " && event.ctrlKey) ask();
    else if (!open() || !plain) return;
    else if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen < 0 ? -1 : chosen - 1);
    else if (event.key === "Tab") take(list.children[Math.max(0, chosen)]);
    else if (event.key === "Enter" && chosen >= 0) take(list.children[chosen]);
    else if (event.key === "Escape") { close(); event.stopPropagation(); }
    else { if (event.key !== "Shift") close(); return; }
    event.preventDefault();
  });
  box.form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    close();
    box.form.requestSubmit();
  });
  box.form.addEventListener("submit", close);
  box.addEventListener("blur", close);
  list.addEventListener("pointerdown", (event) => event.preventDefault());  // the focus stays in the query
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) take(option);
  });
})();
