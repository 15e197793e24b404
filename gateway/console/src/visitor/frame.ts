/** Whether another page shows this one within it. */
export const isEmbedded = window.parent !== window;

/** Tells the page around this one how high it is, whenever that changes. Only an app's origins may show it, and one of them is told. */
export const tellHeight = (): void => {
  if (!isEmbedded || !URL.canParse(document.referrer)) return;
  const { origin } = new URL(document.referrer);
  const tell = (): void => {
    const { height } = document.getElementById("root")!.getBoundingClientRect();
    window.parent.postMessage({ type: "nodeloom:height", height }, origin);
  };
  new ResizeObserver(tell).observe(document.getElementById("root")!);
};
