export const COPY = {
  blocked: "Your browser blocked copying. Select the text and copy it yourself.",
  copy: "Copy",
  copied: "Copied",
  copyNamed: (label: string) => `Copy ${label}`,
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
