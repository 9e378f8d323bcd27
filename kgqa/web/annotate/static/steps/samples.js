// Keys of the pages of samples: fold candidates and documents, filter documents, write a note.
(function () {
  "use strict";
  const filter = document.getElementById("filter"), note = document.getElementById("note");

  function fold(kind) {
    const all = [...document.querySelectorAll(`details.${kind}`)], open = !all.every((each) => each.open);
    for (const each of all) each.open = open;
    if (open && all.length) all[0].scrollIntoView({ block: "start" });
  }
  const words = (text) => text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  if (filter) filter.addEventListener("input", () => {
    const wanted = words(filter.value);
    for (const each of document.querySelectorAll(".document")) {
      const text = each.textContent.toLocaleLowerCase();
      each.hidden = !wanted.every((word) => text.includes(word));
    }
  });
  const actions = { c: () => fold("candidate"), d: () => fold("rest"), n: () => note && note.focus(), "/": () => filter && filter.focus() };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (document.activeElement && document.activeElement.matches("textarea, select, input:not([type=checkbox], [type=radio])")) return;
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  });
})();
