export const COPY = {
  yourBrowserBlockedCopyingSelect: "Your browser blocked copying. Select the text and copy it yourself.",
  copy: "Copy",
  copied: "Copied",
  copy2: (label: string) => `Copy ${label}`,
};

export const NOTICE = {
  loading: "Loading",
};

export const TOAST = {
  messages: "Messages",
  dismiss: "Dismiss",
};

export const USE_TITLE = {
  nodeloom: "Nodeloom",
};
