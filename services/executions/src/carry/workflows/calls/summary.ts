/** Longest summary of an activity, in characters; Temporal takes 400 bytes. */
const MAX_SUMMARY_CHARS = 90;
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const MARKDOWN = /[\\`*_[\]()<>#|~]/g;

/** Names that users chose as one line of plain text: Temporal's UI reads summaries as Markdown. */
export const plainSummary = (text: string): string =>
  [...text.replace(CONTROL, " ")].slice(0, MAX_SUMMARY_CHARS).join("").replace(MARKDOWN, "\\$&");
