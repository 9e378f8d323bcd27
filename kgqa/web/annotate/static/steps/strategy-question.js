// A question and its facts; Enter in the last fact adds one.
(function () {
  "use strict";
  const MOST = 20;
  const form = document.getElementById("answer"), question = document.getElementById("question"), list = document.getElementById("facts");
  const inputs = () => [...list.querySelectorAll(".fact-of")];

  window.kgqaStep = {
    read: () => ({ question: question.value, facts: inputs().map((input) => input.value).filter((text) => text.trim()) }),
  };
  function more() {
    if (inputs().length === MOST) return;
    const entry = list.lastElementChild.cloneNode(true), input = entry.querySelector("input");
    input.value = "";
    list.append(entry);
    entry.querySelector(".nth").textContent = inputs().length;
    input.setAttribute("aria-label", `Fact ${inputs().length}`);
    input.focus();
  }
  document.getElementById("more").addEventListener("click", more);
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
    event.preventDefault();
    const all = inputs(), place = all.indexOf(event.target);
    if (place < all.length - 1) all[place + 1].focus();
    else more();
  });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.key !== "q" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (document.activeElement && document.activeElement.matches("textarea, select, input:not([type=checkbox], [type=radio])")) return;
    event.preventDefault();
    question.focus();
  });
})();
