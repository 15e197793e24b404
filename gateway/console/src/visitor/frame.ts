/** True if another page embeds this one. */
export const isEmbedded = window.parent !== window;

/** Reports height changes to the embedding page. Only an app's origins can embed it, and one of them receives the message. */
export const tellHeight = (): void => {
  if (!isEmbedded || !URL.canParse(document.referrer)) return;
  const { origin } = new URL(document.referrer);
  const tell = (): void => {
    const { height } = document.getElementById("root")!.getBoundingClientRect();
    window.parent.postMessage({ type: "nodeloom:height", height }, origin);
  };
  new ResizeObserver(tell).observe(document.getElementById("root")!);
};
