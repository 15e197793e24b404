import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/platform.mjs";

/** Table of measured models in the guide. */

/** @typedef {{ model: string, what: string, seconds: number, megabytes: number | undefined }} Row */

const PAGE = join(ROOT, "docs", "guide", "local-models.md");
const MARKED = /(<!-- measured -->\n)[\s\S]*?(<!-- end -->)/;

/** Writes the rows into the page. @param {readonly Row[]} rows @returns the table */
export const writeTable = async (rows) => {
  const lines = rows.map(
    ({ model, what, seconds, megabytes }) => `| \`${model}\` | ${what} | ${seconds.toFixed(1)} | ${megabytes ?? "–"} MB |`,
  );
  const table = ["| model | what | seconds | memory |", "| --- | --- | ---: | ---: |", ...lines, ""].join("\n");
  const page = readFileSync(PAGE, "utf8");
  const { format, resolveConfig } = await import("prettier");
  const source = page.replace(MARKED, (_, begin, end) => `${begin}\n${table}\n${end}`);
  writeFileSync(PAGE, await format(source, { ...(await resolveConfig(PAGE)), filepath: PAGE }));
  return `\n${table}`;
};
