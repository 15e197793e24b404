import type { UsageRow } from "@nodeloom/client";

const COLUMNS = [
  "id",
  "createdAt",
  "workflowSlug",
  "modelIds",
  "status",
  "errorCode",
  "source",
  "creditsCost",
  "userCost",
  "cost",
  "durationMs",
  "requestId",
] as const;

/** Spreadsheets treat a text that starts with one of these characters as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = Array.isArray(value) ? value.join(" ") : String(value as string);
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
};

/** Rows as CSV (RFC 4180). */
export const csv = (rows: readonly UsageRow[]): string =>
  [COLUMNS.join(","), ...rows.map((row) => COLUMNS.map((column) => cell(row[column])).join(","))].join("\r\n") + "\r\n";
