// A composed question: each pair of names is judged, then the draft is edited or refused; the steps are sent only where they were corrected.
(function () {
  "use strict";
  const form = document.getElementById("answer"), question = document.getElementById("question"), refusal = document.getElementById("refusal");
  const pairs = [...form.querySelectorAll(".pair-of")], steps = [...form.querySelectorAll(".of-step")];

  const said = (pair) => { const input = pair.querySelector(":checked"); return input ? input.value : ""; };
  const differ = () => pairs.some((pair) => said(pair) === "no");
  window.kgqaStep = {
    read() {
      const own = !differ() && steps.some((input) => input.value.trim() !== input.dataset.was);
      return {
        same: pairs.map(said), question: differ() || refusal.value.trim() ? "" : question.value, refusal: differ() ? "" : refusal.value,
        steps: own ? steps.map((input) => input.value) : [],
      };
    },
  };
  // Where names differ there is nothing to compose; a reason takes the question's place.
  function show() {
    document.getElementById("composing").hidden = differ();
    question.disabled = Boolean(refusal.value.trim());
  }
  form.addEventListener("change", show);
  form.addEventListener("input", show);
  document.getElementById("redraft").addEventListener("click", () => {
    question.value = question.dataset.draft;
    form.dispatchEvent(new Event("answer-changed", { bubbles: true }));
    question.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.key !== "q" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (document.activeElement && document.activeElement.matches("textarea, select, input:not([type=checkbox], [type=radio])")) return;
    event.preventDefault();
    question.focus();
  });
  show();
})();
