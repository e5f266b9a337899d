"use strict";
(() => {
  const form = document.getElementById("filter");
  const entries = [...document.querySelectorAll(".entry")];
  const parts = [...document.querySelectorAll(".part")];

  const chosen = (name) => new Set([...form.querySelectorAll(`[name=${name}]:checked`)].map((box) => box.value));

  const filter = () => {
    const verdicts = chosen("verdict");
    const levels = chosen("level");
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const entry of entries) {
      const text = words.length ? entry.textContent.toLowerCase() : "";
      const wanted =
        verdicts.has(entry.dataset.verdict) &&
        levels.has(entry.dataset.level) &&
        words.every((word) => text.includes(word));
      entry.hidden = !wanted;
      shown += wanted;
    }
    for (const part of parts) {
      const left = part.querySelectorAll(".entry:not([hidden])").length;
      part.hidden = left === 0;
      part.querySelector("h2 .count").textContent = left;
    }
    document.getElementById("shown").textContent = `${shown} of ${entries.length} requirements`;
  };

  // a link into a folded or filtered entry leads there all the same
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const entry = target && target.closest(".entry");
    if (!entry) return;
    if (entry.hidden) form.reset();
    entry.open = true;
    target.scrollIntoView({ block: "center" });
  };

  if (form) {
    form.hidden = false;
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(filter));
    const unfold = document.getElementById("unfold");
    unfold.addEventListener("click", () => {
      const open = unfold.textContent === "Open all";
      for (const entry of entries) entry.open = open;
      unfold.textContent = open ? "Close all" : "Open all";
    });
    filter();
  }
  for (const button of navigator.clipboard ? document.querySelectorAll(".copy") : []) {
    button.hidden = false;
    button.addEventListener("click", () =>
      navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent).then(
        () => (button.textContent = "Copied"),
        () => (button.textContent = "The browser refused; select the command by hand"),
      ),
    );
  }
  addEventListener("hashchange", reveal);
  reveal();
})();
