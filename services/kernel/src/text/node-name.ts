/** A node as messages name it: its label, if any, and its id. */
export const nodeName = (id: string, label: string | undefined): string =>
  label === undefined || label === id ? id : `"${label}" (${id})`;
