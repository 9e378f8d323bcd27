// A judgement: a verdict that may be taken back, marks, a candidate that goes with its mark, and the answer that may be hidden at first.
(function () {
  "use strict";
  const form = document.getElementById("answer"), draft = JSON.parse(document.getElementById("draft").textContent || "{}") || {};
  const which = document.getElementById("candidate"), uncover = document.getElementById("uncover");
  const another = form.querySelector('[name="marks"][value="another"]');
  let uncovered = draft.uncovered === true || form.dataset.action === "adjudicate";

  window.kgqaStep = {
    read() {
      const given = new FormData(form);
      return {
        verdict: given.get("verdict") || "", marks: given.getAll("marks"), candidate: given.get("candidate") || "",
        note: given.get("note") || "", own: (given.has("own") ? given.get("own") : draft.own) || "", uncovered,
      };
    },
  };
  const changed = () => form.dispatchEvent(new Event("answer-changed", { bubbles: true }));
  // To name a candidate is to set the mark, and who takes the mark back has named none.
  form.addEventListener("change", (event) => {
    if (event.target === which && which.value) another.checked = true;
    else if (event.target === another && which) {
      if (!another.checked) which.value = "";
      else { which.scrollIntoView({ block: "nearest" }); which.focus(); }
    } else return;
    changed();
  });
  if (which) which.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); which.blur(); } });
  if (uncover) uncover.addEventListener("click", () => {
    uncovered = true;
    form.dispatchEvent(new Event("answer-reload", { bubbles: true })); // the server sends the rest
  });
})();
