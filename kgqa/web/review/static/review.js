// Keys, and what is said on its way to the table: one request after the other, so that the last word stays the last.
(function () {
  "use strict";
  const form = document.getElementById("judgement"), keys = document.getElementById("keys"), main = document.getElementById("main");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let waiting = 0, sending = Promise.resolve(), late = null, failed = false;

  function turn() {
    const now = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("kgqa-theme", next); } catch (error) { /* storage is off: it holds for this page */ }
  }
  document.getElementById("theme").addEventListener("click", turn);
  document.getElementById("help").addEventListener("click", () => keys.showModal());

  const another = form && form.querySelector('[name="marks"][value="another"]'), which = document.getElementById("candidate");

  function said() {
    const given = new FormData(form);
    return {
      sample: form.dataset.sample, verdict: given.get("verdict") || "", marks: given.getAll("marks"),
      candidate: given.get("candidate") || "", note: given.get("note"),
    };
  }
  // To name a candidate is to set the mark, and who takes the mark back has named none.
  function agree(input) {
    if (input === which && which.value) another.checked = true;
    else if (input === another && which && !another.checked) which.value = "";
  }
  function tell(text, trouble) {
    failed = Boolean(trouble);
    document.getElementById("state").textContent = text;
    const box = document.getElementById("trouble");
    box.hidden = !trouble;
    box.textContent = trouble || "";
  }
  async function send(judgement) {
    let sentence = "The page's server does not answer; start kgqa review again, and say this once more.";
    // What the table is known to say by now, so that no word is overwritten that this page has not shown.
    const body = JSON.stringify({ ...judgement, seen: form.dataset.seen });
    try {
      const answer = await fetch("/api/judgement", { method: "POST", headers: { "Content-Type": "application/json" }, body, keepalive: true });
      const found = await answer.json();
      if (answer.ok) {
        form.dataset.seen = found.seen;
        document.getElementById("done").textContent = found.done.toLocaleString("en");
        return "";
      }
      sentence = found.error.sentence;
    } catch (error) { /* the sentence above */ }
    return sentence;
  }
  function store() {
    clearTimeout(late);
    late = null;
    const judgement = said();
    waiting += 1;
    tell("…");
    sending = sending.then(() => send(judgement)).then((sentence) => {
      waiting -= 1;
      if (sentence) tell("", `Not in the table: ${sentence}`);
      else if (!waiting) tell("In the table.");
    });
    return sending;
  }
  // Nothing is left behind: the page goes when the table has it, and stays with the sentence where it has not.
  async function go(address) {
    if (late !== null || failed) store();
    await sending;
    if (!failed) window.location.assign(address);
  }
  const back = () => { document.activeElement.blur(); main.focus({ preventScroll: true }); };

  if (form) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", (event) => { if (event.target.name !== "note") { agree(event.target); store(); } });
    form.elements.note.addEventListener("input", () => { clearTimeout(late); late = setTimeout(store, 300); });
    form.elements.note.addEventListener("blur", () => { if (late !== null) store(); });
    window.addEventListener("pagehide", () => { if (late !== null) store(); });
    window.addEventListener("beforeunload", (event) => { if (failed) event.preventDefault(); });
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[href]");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || link.getAttribute("href").startsWith("#")) return;
      event.preventDefault();
      go(link.href);
    });
    // A page that comes back from the browser's memory may hold what was said before: it is loaded again.
    window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });
  }

  function press(input) {
    input.checked = !input.checked;
    agree(input);
    store();
    if (input === another && input.checked && which) { which.scrollIntoView({ block: "nearest" }); which.focus(); }
  }
  function fold(kind) {
    const all = [...document.querySelectorAll(`details.${kind}`)], open = !all.every((each) => each.open);
    for (const each of all) each.open = open;
    if (open && all.length) all[0].scrollIntoView({ block: "start" });
  }
  function follow(id) {
    const link = document.getElementById(id);
    if (link) go(link.href);
  }
  const actions = {
    j: () => follow("next"), ArrowRight: () => follow("next"), k: () => follow("previous"), ArrowLeft: () => follow("previous"),
    u: () => go("/"), l: () => go("/list"), n: () => form.elements.note.focus(), c: () => fold("candidate"), d: () => fold("rest"),
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    const here = document.activeElement || document.body;
    if (here.matches("textarea, select")) {
      if (event.key === "Escape" || (event.key === "Enter" && here.matches("select"))) { event.preventDefault(); back(); }
      return;
    }
    const input = form && event.key.length === 1 && form.querySelector(`[data-press="${CSS.escape(event.key)}"]`);
    if (input) { if (!event.repeat) press(input); }
    else if (event.key === "?") keys.showModal();
    else if (event.key === "t") turn();
    else if (event.key === "Escape" && here !== document.body) back();
    else if (form && actions[event.key]) actions[event.key]();
    else if (!form && event.key === "u") window.location.assign("/");
    else if (!form && (event.key === "j" || event.key === "k")) {
      const items = [...document.querySelectorAll("[data-item]")], at = items.indexOf(here);
      if (items.length) items[Math.min(items.length - 1, Math.max(0, at + (event.key === "j" ? 1 : -1)))].focus();
    } else return;
    event.preventDefault();
  });
})();
