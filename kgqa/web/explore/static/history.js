// The queries that ran, kept in this browser alone. Everything that is stored is put on the page as text, never as HTML.
(function () {
  "use strict";
  const NAME = "kgqa-cypher", MOST = 50, LONGEST = 20000;
  const place = document.getElementById("earlier"), box = document.getElementById("cypher"), params = document.getElementById("params");
  if (!place || !box) return;
  const list = place.querySelector("ul");

  function stored() {
    let found = null;
    try { found = JSON.parse(localStorage.getItem(NAME) || "[]"); } catch (error) { /* storage is off, or somebody else wrote there */ }
    const fits = (each) => each && typeof each.q === "string" && typeof each.params === "string" && each.q.trim() &&
      each.q.length <= LONGEST && each.params.length <= LONGEST;
    return Array.isArray(found) ? found.filter(fits).slice(0, MOST) : [];
  }
  function store(entries) {
    try { localStorage.setItem(NAME, JSON.stringify(entries)); } catch (error) { /* storage is off or full: nothing is kept */ }
  }

  function show() {
    const entries = stored();
    place.hidden = !entries.length;
    list.replaceChildren(...entries.map((entry) => {
      const item = document.createElement("li"), button = document.createElement("button");
      button.type = "button";
      button.className = "earlier mono";
      button.textContent = entry.q.replace(/\s+/g, " ").trim() + (entry.params.trim() ? "  (" + entry.params.trim().replace(/\s*\n\s*/g, ", ") + ")" : "");
      button.addEventListener("click", () => {
        box.value = entry.q;
        params.value = entry.params;
        box.focus();
      });
      item.append(button);
      return item;
    }));
  }

  function note() {
    // A query that was refused stands below its trouble, and is not worth to be found again.
    if (!box.value.trim() || !document.querySelector("#answer .bar")) return;
    const now = { q: box.value, params: params.value };
    store([now, ...stored().filter((each) => each.q !== now.q || each.params !== now.params)].slice(0, MOST));
    show();
  }

  place.querySelector("[data-forget]").addEventListener("click", () => {
    try { localStorage.removeItem(NAME); } catch (error) { /* storage is off: there is nothing */ }
    show();
    box.focus();
  });
  document.addEventListener("htmx:afterSwap", (event) => { if (event.target.id === "answer") note(); });
  window.addEventListener("storage", (event) => { if (event.key === NAME) show(); });
  show();
  note();
})();
