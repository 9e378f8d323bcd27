// The page of an item: drafts at every key, live checks, one submission, keys. A step's script may set window.kgqaStep = { read() }.
(function () {
  "use strict";
  const form = document.getElementById("answer"), keys = document.getElementById("keys");
  const seal = document.querySelector('meta[name="kgqa-form"]').content;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const WAIT = 250;
  const AWAY = "The server does not answer. Your answer is kept in this browser; this page tries again.";

  function turn() {
    const now = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("kgqa-theme", next); } catch (error) { /* storage is off: it holds for this page */ }
  }
  document.getElementById("theme").addEventListener("click", turn);
  document.getElementById("help").addEventListener("click", () => keys.showModal());
  // By then the script of the step, which comes later in the page, has run.
  document.addEventListener("DOMContentLoaded", () => { document.documentElement.dataset.ready = ""; });

  // A request; resolves to { ok, status, body }. Status 0: the server is away.
  async function post(path, body, keepalive) {
    try {
      const answer = await fetch(path, {
        method: "POST", headers: { "Content-Type": "application/json", "X-Kgqa-Form": seal }, body: JSON.stringify(body), keepalive: Boolean(keepalive),
      });
      return { ok: answer.ok, status: answer.status, body: await answer.json() };
    } catch (error) {
      return { ok: false, status: 0, body: { error: { sentence: AWAY } } };
    }
  }
  function tell(text) { const box = document.getElementById("state"); if (box) box.textContent = text; }
  function trouble(sentence) {
    const box = document.getElementById("trouble");
    if (!box) return;
    box.hidden = !sentence;
    box.textContent = sentence || "";
  }

  // Undo works on the page without an item too.
  async function undo() {
    if (form && !(await settle())) return;
    const answer = await post("/api/undo", {});
    if (answer.ok) { leaving = true; window.location.assign("/"); } else trouble(answer.body.error.sentence);
  }
  let leaving = false, settle = async () => true;
  const button = (id) => document.getElementById(id);
  if (button("undo")) button("undo").addEventListener("click", undo);

  if (form) {
    const item = form.dataset.item, submits = form.dataset.action === "submit", local = `kgqa-draft ${seal} ${item}`;
    const draft = JSON.parse(document.getElementById("draft").textContent);
    let version = Number(form.dataset.version), late = null, checking = 0, sending = Promise.resolve(), busy = false, conflict = false;
    let since = performance.now(), seconds = 0;

    document.addEventListener("visibilitychange", () => {
      if (document.hidden) seconds += (performance.now() - since) / 1000; else since = performance.now();
    });
    const spent = () => seconds + (document.hidden ? 0 : (performance.now() - since) / 1000);

    // The fields of the form, unless the step's script reads its own.
    function read() {
      if (window.kgqaStep && window.kgqaStep.read) return window.kgqaStep.read();
      const answer = {};
      for (const field of form.elements) {
        if (!field.name || field.disabled) continue;
        const list = field.type === "checkbox" ? !("flag" in field.dataset) : "list" in field.dataset;
        if (list && !(field.name in answer)) answer[field.name] = [];
        if (field.type === "checkbox") { if (list) { if (field.checked) answer[field.name].push(field.value); } else answer[field.name] = field.checked; }
        else if (field.type === "radio") { if (field.checked) answer[field.name] = field.value; else if (!(field.name in answer)) answer[field.name] = ""; }
        else if (list) answer[field.name].push(field.value);
        else if ("number" in field.dataset) answer[field.name] = field.value === "" ? null : Number(field.value);
        else answer[field.name] = field.value;
      }
      return answer;
    }
    function keep(answer) { try { localStorage.setItem(local, JSON.stringify({ version, answer })); } catch (error) { /* storage is off */ } }
    function forget() { try { localStorage.removeItem(local); } catch (error) { /* storage is off */ } }

    function show(faults) {
      const list = document.getElementById("faults");
      list.replaceChildren(...faults.map((fault) => {
        const line = document.createElement("li");
        line.textContent = fault.sentence;
        if (fault.blocking) line.className = "blocking";
        return line;
      }));
      for (const field of form.querySelectorAll("[data-field]")) {
        const own = faults.find((fault) => fault.field === field.dataset.field);
        field.toggleAttribute("data-fault", Boolean(own));
        const control = field.matches("input, textarea, select") ? field : field.querySelector("input, textarea, select");
        if (control) { if (own && own.blocking) control.setAttribute("aria-invalid", "true"); else control.removeAttribute("aria-invalid"); }
      }
    }
    async function check(answer) {
      const own = ++checking, result = await post("/api/check", { item, answer });
      if (own === checking && result.ok) show(result.body.faults);
    }
    async function store(keepalive) {
      clearTimeout(late);
      late = null;
      if (!submits || conflict || leaving) return;
      const answer = read();
      keep(answer);
      const result = await post("/api/draft", { item, answer, version }, keepalive);
      if (result.ok) { version = result.body.version; forget(); tell("Draft kept."); trouble(""); check(answer); }
      else if (result.status === 0 || result.status === 503) { trouble(AWAY); late = setTimeout(again, 2000); }
      else { conflict = result.status === 409; trouble(result.body.error.sentence); }
    }
    // One request after the other, so that the last state stays the last.
    const again = (keepalive) => { sending = sending.then(() => store(keepalive)); return sending; };
    function changed() {
      keep(read());
      tell("…");
      clearTimeout(late);
      late = setTimeout(again, WAIT);
      if (!submits) check(read());
    }
    form.addEventListener("input", changed);
    form.addEventListener("change", changed);
    form.addEventListener("answer-changed", changed);
    window.addEventListener("pagehide", () => { if (late !== null && !leaving) store(true); });
    settle = async () => { if (late !== null) again(); await sending; return !conflict; };
    // A step's page that needs more from the server: the draft first, then the page again.
    form.addEventListener("answer-reload", async () => {
      changed();
      if (await settle() && late === null) { leaving = true; window.location.reload(); }
    });

    async function send() {
      if (busy || conflict) return;
      busy = true;
      await settle();
      const path = submits ? "/api/submit" : "/api/adjudicate";
      const result = await post(path, { item, answer: read(), token: form.dataset.token, seconds: Math.round(spent() * 1000) / 1000 });
      if (result.ok) { leaving = true; forget(); window.location.assign(submits ? "/" : "/disputes"); return; }
      busy = false;
      if (result.body.faults) { show(result.body.faults); trouble(""); const first = form.querySelector("[aria-invalid]"); if (first) first.focus(); }
      else { keep(read()); trouble(result.body.error.sentence); }
    }
    form.addEventListener("submit", (event) => { event.preventDefault(); send(); });

    const why = document.getElementById("why"), reason = document.getElementById("reason");
    let asked = "";
    function ask(kind) {
      asked = kind;
      document.getElementById("why-title").textContent = kind === "skip" ? "Skip this item" : "Flag this item for the lead";
      reason.value = "";
      why.returnValue = "";
      why.showModal();
    }
    why.addEventListener("close", async () => {
      if (why.returnValue !== "send") return;
      await settle();
      const result = await post(`/api/${asked}`, { item, reason: reason.value });
      if (!result.ok) trouble(result.body.error.sentence);
      else if (asked === "skip") { leaving = true; forget(); window.location.assign("/"); }
      else tell("Flagged.");
    });
    if (button("skip")) button("skip").addEventListener("click", () => ask("skip"));
    if (button("flag")) button("flag").addEventListener("click", () => ask("flag"));

    // What the browser kept while the server was away takes the place of an older draft.
    try {
      const kept = JSON.parse(localStorage.getItem(local) || "null");
      if (submits && kept && kept.version === version && JSON.stringify(kept.answer) !== JSON.stringify(draft)) {
        localStorage.removeItem(local);
        post("/api/draft", { item, answer: kept.answer, version }).then((result) => { if (result.ok) window.location.reload(); });
      }
    } catch (error) { /* storage is off, or what it has is not ours */ }
    // A page from the browser's memory may show an item that is done.
    window.addEventListener("pageshow", (event) => { if (event.persisted) window.location.reload(); });
    if (Object.keys(draft).length) window.addEventListener("load", () => check(read()));
  }

  document.addEventListener("keydown", (event) => {
    const here = document.activeElement || document.body;
    if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey) && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      if (!event.repeat) form.requestSubmit();
      return;
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (here.matches('textarea, select, input:not([type="radio"]):not([type="checkbox"])')) {
      if (event.key === "Escape") { event.preventDefault(); here.blur(); document.getElementById("main").focus({ preventScroll: true }); }
      else if (event.key === "Enter" && here.matches("input")) event.preventDefault();
      return;
    }
    const input = form && event.key.length === 1 && form.querySelector(`[data-press="${CSS.escape(event.key)}"]`);
    if (input) {
      if (!event.repeat) {
        if (input.matches("input")) { input.checked = input.type === "radio" ? true : !input.checked; input.dispatchEvent(new Event("change", { bubbles: true })); }
        else if (input.matches("button")) input.click();
        else input.focus();
      }
    } else if (event.key === "?") keys.showModal();
    else if (event.key === "t") turn();
    else if (event.key === "z" && button("undo")) undo();
    else if (event.key === "s" && button("skip")) button("skip").click();
    else if (event.key === "f" && button("flag")) button("flag").click();
    else return;
    event.preventDefault();
  });
})();
