// What the theme adds to a page after it has loaded, made accessible: tables that scroll sideways are reachable by
// keyboard, and the buttons of each code block have a name of their own.
const complete = () => {
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((e) => (e.tabIndex = 0));
  document
    .querySelectorAll("nav.md-code__nav")
    .forEach((e, n) => e.getAttribute("aria-label") || e.setAttribute("aria-label", `Code ${n + 1}`));
};
new MutationObserver(complete).observe(document.documentElement, { childList: true, subtree: true });
complete();
