// Writes the table of error codes into errors.md, from the one that the gateway answers by.
//
//   node docs/guide/error-table.mjs       writes it (after npm run build)
//   node docs/guide/error-table.mjs -     reads the table as JSON from stdin and prints the page
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";

const PAGE = fileURLToPath(new URL("errors.md", import.meta.url));
const MARKED = /(<!-- errors -->\n)[\s\S]*?(<!-- end -->)/;
const STDIN = 0;

const isPiped = process.argv[2] === "-";
const readTable = () => {
  if (isPiped) return JSON.parse(readFileSync(STDIN, "utf8"));
  const { ERRORS, WITHOUT_CODE } = createRequire(import.meta.url)("../../gateway/dist/http/error-table.js");
  return { errors: ERRORS, withoutCode: [...WITHOUT_CODE] };
};

const { errors, withoutCode } = readTable();
const membersOf = (members = {}) =>
  Object.entries(members)
    .map(([name, what]) => `\`${name}\`: ${what}`)
    .join("<br>");
const rows = Object.entries(errors)
  .map(([code, { status, when, members }]) => ({ code: withoutCode.includes(code) ? "none" : `\`${code}\``, status, when, members }))
  .sort((a, b) => a.status - b.status)
  .map(({ code, status, when, members }) => `| ${status} | ${code} | ${when} | ${membersOf(members)} |`);
const table = ["| status | `code` | when | more members |", "| --- | --- | --- | --- |", ...rows].join("\n");

const page = readFileSync(PAGE, "utf8");
if (!MARKED.test(page)) throw new Error("errors.md has no place for the table");
const next = await format(
  page.replace(MARKED, (_, start, end) => `${start}\n${table}\n\n${end}`),
  { ...(await resolveConfig(PAGE)), filepath: PAGE },
);
if (isPiped) process.stdout.write(next);
else writeFileSync(PAGE, next);
