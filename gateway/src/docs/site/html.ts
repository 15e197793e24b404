const ESCAPED: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text for HTML: its content, and values of attributes in quotes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => ESCAPED[one]!);
