/** JavaScript of the site: the console's theme, copy buttons, and `/` for the search. */
export const SCRIPT = `(() => {
  try {
    const theme = localStorage.getItem("nodeloom.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {}
  // Old addresses of operations, from before the explorer had its own path.
  if (location.pathname === "/docs" && location.hash.startsWith("#/")) location.replace("/docs/explorer" + location.hash);
  addEventListener("DOMContentLoaded", () => {
    for (const block of document.querySelectorAll("main pre")) {
      const frame = document.createElement("div");
      frame.className = "code";
      block.replaceWith(frame);
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Copy";
      frame.append(block, button);
      button.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(block.textContent);
          button.textContent = "Copied";
        } catch {
          getSelection().selectAllChildren(block);
          button.textContent = "Selected";
        }
        setTimeout(() => (button.textContent = "Copy"), 2000);
      });
    }
    const TAB = "nodeloom.docs-tab";
    const choose = (name) => {
      for (const tabs of document.querySelectorAll(".tabs")) {
        const panels = [...tabs.querySelectorAll("section")];
        const chosenPanel = panels.find(({ dataset }) => dataset.tab === name) ?? panels[0];
        for (const panel of panels) panel.hidden = panel !== chosenPanel;
        for (const tab of tabs.querySelectorAll("[aria-pressed]")) tab.setAttribute("aria-pressed", tab.textContent === chosenPanel.dataset.tab);
      }
    };
    for (const tabs of document.querySelectorAll(".tabs")) {
      const bar = document.createElement("div");
      bar.className = "tab-bar";
      for (const { dataset } of tabs.querySelectorAll("section")) {
        const tab = document.createElement("button");
        tab.type = "button";
        tab.textContent = dataset.tab;
        tab.setAttribute("aria-pressed", "false");
        tab.addEventListener("click", () => {
          const top = tab.getBoundingClientRect().top;
          choose(dataset.tab);
          scrollBy(0, tab.getBoundingClientRect().top - top);
          try {
            localStorage.setItem(TAB, dataset.tab);
          } catch {}
        });
        bar.append(tab);
      }
      tabs.prepend(bar);
    }
    let lastTab = null;
    try {
      lastTab = localStorage.getItem(TAB);
    } catch {}
    choose(lastTab);
    const contents = document.querySelector("details.contents");
    const wide = matchMedia("(min-width: 1200px)");
    const fit = () => contents && (contents.open = wide.matches);
    fit();
    wide.addEventListener("change", fit);
    addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
      event.preventDefault();
      document.querySelector("header input").focus();
    });
  });
})();
`;
