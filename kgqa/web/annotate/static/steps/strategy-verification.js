// The answers of all steps, in their order, and that of the question.
(function () {
  "use strict";
  const form = document.getElementById("answer"), steps = [...form.querySelectorAll(".of-step")];
  window.kgqaStep = { read: () => ({ steps: steps.map((input) => input.value), answer: new FormData(form).get("answer") || "" }) };
  form.addEventListener("keydown", (event) => {
    const place = steps.indexOf(event.target);
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing || place < 0) return;
    event.preventDefault();
    (steps[place + 1] || form.querySelector('[name="answer"]')).focus();
  });
})();
