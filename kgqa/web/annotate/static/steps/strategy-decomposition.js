// A decomposition: steps are added and removed, and numbered by their places. An operation has no page.
(function () {
  "use strict";
  const MOST = 12;
  const form = document.getElementById("answer"), list = document.getElementById("steps");
  const entries = () => [...list.children];
  const judgement = () => new FormData(form).get("judgement") || "right";
  const changed = () => form.dispatchEvent(new Event("answer-changed", { bubbles: true }));

  window.kgqaStep = {
    read() {
      const steps = entries().map((entry) => {
        const operation = entry.querySelector(".of-operation").checked;
        return { question: entry.querySelector(".of-question").value, page: operation ? "" : entry.querySelector(".of-page").value, operation };
      });
      return { judgement: judgement(), steps: judgement() === "right" ? steps : [] };
    },
  };
  function show() {
    document.getElementById("decomposing").hidden = judgement() !== "right";
    entries().forEach((entry, place) => {
      entry.dataset.field = `steps.${place}`;
      entry.querySelector(".nth").textContent = `#${place + 1}`;
      entry.querySelector(".of-question").setAttribute("aria-label", `Question of step ${place + 1}`);
      entry.querySelector(".of-page").setAttribute("aria-label", `Page that answers step ${place + 1}`);
      entry.querySelector(".remove").setAttribute("aria-label", `Remove step ${place + 1}`);
      entry.querySelector(".remove").hidden = entries().length < 2;
      entry.querySelector(".of-page").disabled = entry.querySelector(".of-operation").checked;
    });
  }
  function more() {
    if (entries().length === MOST) return;
    const entry = list.lastElementChild.cloneNode(true);
    for (const input of entry.querySelectorAll("input[type=text]")) input.value = "";
    entry.querySelector(".of-operation").checked = false;
    for (const told of entry.querySelectorAll(".fault")) told.remove();
    list.append(entry);
    show();
    entry.querySelector(".of-question").focus();
    changed();
  }
  document.getElementById("more").addEventListener("click", more);
  list.addEventListener("click", (event) => {
    const button = event.target.closest(".remove");
    if (!button) return;
    const entry = button.closest("li"), next = entry.nextElementSibling || entry.previousElementSibling;
    entry.remove();
    show();
    next.querySelector(".of-question").focus();
    changed();
  });
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing || !event.target.matches("input[type=text]")) return;
    event.preventDefault();
    const all = [...list.querySelectorAll("input[type=text]:not(:disabled)")], place = all.indexOf(event.target);
    if (place < all.length - 1) all[place + 1].focus();
    else more();
  });
  form.addEventListener("change", show);
  show();
})();
