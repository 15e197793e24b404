/* <script src="https://…/embed.js" data-app="poster-maker" async></script> puts an app in the script's place. */
(() => {
  const script = document.currentScript;
  const { app, height = "480" } = script.dataset;
  if (!app) throw new Error("embed.js: data-app must name an app");
  const { origin } = new URL(script.src);
  const frame = document.createElement("iframe");
  frame.src = `${origin}/a/${encodeURIComponent(app)}?embed`;
  frame.title = script.dataset.title || app;
  frame.loading = "lazy";
  // The page tells its height to the origin that it is shown on, and to no other.
  frame.referrerPolicy = "origin";
  frame.allow = "clipboard-write";
  frame.style.width = "100%";
  frame.style.height = `${Number(height) || 480}px`;
  frame.style.border = "0";
  const MAX_HEIGHT = 20000;
  addEventListener("message", (event) => {
    if (event.origin !== origin || event.source !== frame.contentWindow) return;
    const told = event.data?.type === "nodeloom:height" ? Number(event.data.height) : 0;
    if (told > 0 && told <= MAX_HEIGHT) frame.style.height = `${Math.ceil(told)}px`;
  });
  script.after(frame);
})();
