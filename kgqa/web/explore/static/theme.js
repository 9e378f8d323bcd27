// Runs before the page is drawn, so that it never flashes in the other colours.
(function () {
  "use strict";
  document.documentElement.classList.add("scripted");
  var chosen = null;
  try { chosen = localStorage.getItem("kgqa-theme"); } catch (error) { /* storage is off: the system's choice holds */ }
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
})();
