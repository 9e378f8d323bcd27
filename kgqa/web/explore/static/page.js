// Keys, suggestions, colours and the dialog: everything that is not the graph.
(function () {
  "use strict";
  const search = document.getElementById("search"), keys = document.getElementById("keys");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const announce = () => document.dispatchEvent(new Event("kgqa:theme"));

  function turn() {
    const now = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("kgqa-theme", next); } catch (error) { /* storage is off: it holds for this page */ }
    announce();
  }
  document.getElementById("theme").addEventListener("click", turn);
  document.getElementById("help").addEventListener("click", () => keys.showModal());
  dark.addEventListener("change", announce);

  const listOf = (input) => document.getElementById(input.getAttribute("aria-controls"));
  function shut(input) {
    const list = listOf(input);
    list.replaceChildren();
    input.setAttribute("aria-expanded", "false");
  }
  // A list does not change under the pointer or the focus: between press and release a click would be lost, or fall on another line.
  let pressed = null;
  document.addEventListener("pointerdown", (event) => { pressed = event.target; });
  for (const name of ["click", "pointercancel"]) document.addEventListener(name, () => { pressed = null; });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const list = event.target;
    if (!list.classList || !list.classList.contains("suggestions")) return;
    if (list.contains(pressed) || list.contains(document.activeElement)) event.detail.shouldSwap = false;
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (!event.target.classList || !event.target.classList.contains("suggestions")) return;
    const input = document.querySelector(`[aria-controls="${event.target.id}"]`);
    // An answer that comes after the field was left or emptied is not wanted any more.
    if (document.activeElement !== input || !input.value.trim()) { shut(input); return; }
    input.setAttribute("aria-expanded", String(event.target.childElementCount > 0));
    event.target.dataset.answers = event.detail.requestConfig.parameters[input.name];
    if (entered && entered.input === input && entered.text === input.value) take(input);
  });
  document.addEventListener("focusin", (event) => {
    for (const input of document.querySelectorAll("[role=combobox]")) {
      if (event.target !== input && !listOf(input).contains(event.target)) shut(input);
    }
  });
  document.addEventListener("click", (event) => {
    for (const input of document.querySelectorAll("[role=combobox]")) {
      if (event.target !== input && !listOf(input).contains(event.target)) shut(input);
    }
  });
  const gone = document.getElementById("gone");
  document.addEventListener("htmx:sendError", () => {
    const state = document.querySelector("body.split #graph-state, body.sample #graph-state");
    const place = state || gone;
    place.hidden = false;
    place.textContent = "The server does not answer; is kgqa explore still running?";
  });
  document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.xhr.status) gone.hidden = true; });
  // A suggestion in the form of a query fills its field.
  document.addEventListener("click", (event) => {
    const option = event.target.closest && event.target.closest("[data-value]");
    if (!option) return;
    event.preventDefault();
    const input = document.querySelector(`[aria-controls="${option.parentElement.id}"]`);
    input.value = option.dataset.value;
    input.focus();
    shut(input);
  });
  // Enter in the field of an end takes the first suggestion: of what is written there now, which may have to come first.
  let entered = null;
  function take(input) {
    const list = listOf(input), first = list.querySelector("[data-item]"), fits = list.dataset.answers === input.value;
    entered = fits ? null : { input, text: input.value };
    if (fits && first) first.click();
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches && event.target.matches("[data-picks]")) {
      event.preventDefault();
      take(event.target);
    } else entered = null;
  });

  function items(from) {
    const open = [...document.querySelectorAll("[role=combobox]")].find((input) => listOf(input).contains(from) || input === from);
    const scope = open ? listOf(open) : document.getElementById("main");
    return [...scope.querySelectorAll("[data-item]")].filter((item) => item.offsetParent !== null && (open || !item.closest(".suggestions")));
  }

  function move(by, from) {
    const found = items(from);
    if (!found.length) return false;
    const at = found.indexOf(from);
    const input = [...document.querySelectorAll("[role=combobox]")].find((other) => listOf(other).contains(from));
    if (input && at === 0 && by < 0) { input.focus(); return true; }
    const next = at < 0 ? (by > 0 ? 0 : found.length - 1) : Math.min(found.length - 1, Math.max(0, at + by));
    found[next].focus();
    found[next].scrollIntoView({ block: "nearest" });
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const here = document.activeElement || document.body;
    const typing = here.matches("input, select, textarea");
    if (event.key === "Escape") {
      const input = [...document.querySelectorAll("[role=combobox]")].find((other) => other === here || listOf(other).contains(here));
      // The browser would empty the field.
      if (input) { event.preventDefault(); shut(input); if (here === input) input.blur(); else input.focus(); } else if (here !== document.body && !keys.open) here.blur();
      return;
    }
    if (typing) {
      if (event.key === "ArrowDown" && here.getAttribute("role") === "combobox" && move(1, here)) event.preventDefault();
      return;
    }
    if (keys.open) return;
    const arrows = here === document.body || here.matches("[data-item], main");
    const inSuggestions = here.closest(".suggestions");
    if (event.key === "/") { search.focus(); search.select(); }
    else if (event.key === "?") keys.showModal();
    else if (event.key === "t") turn();
    else if (event.key === "g" && document.getElementById("graph")) document.getElementById("graph").focus();
    else if ((event.key === "j" && !inSuggestions) || (event.key === "ArrowDown" && arrows)) { if (!move(1, here)) return; }
    else if ((event.key === "k" && !inSuggestions) || (event.key === "ArrowUp" && arrows)) { if (!move(-1, here)) return; }
    else {
      const link = event.key.length === 1 && document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
      if (!link) return;
      if (link.matches("textarea")) link.focus(); else link.click();
    }
    event.preventDefault();
  });
})();
