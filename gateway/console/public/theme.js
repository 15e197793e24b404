// Before the first paint, so that a dark page never flashes white.
(() => {
  let chosen;
  try {
    chosen = localStorage.getItem("nodeloom.theme");
  } catch {
    chosen = null;
  }
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
