// Writes the table of error codes into docs/guide/errors.md, and a page per code into docs/reference/errors, from the
// table that the gateway answers by.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../../deploy/local/paths.mjs";
import { writeGenerated, writeMarked } from "../../deploy/local/generate/write.mjs";

const FOLDER = "docs/reference/errors";
const { ERRORS, WITHOUT_CODE } = createRequire(import.meta.url)("../../gateway/dist/http/error-table.js");
const hasCode = (code) => !WITHOUT_CODE.has(code);

const rows = Object.entries(ERRORS)
  .sort(([, a], [, b]) => a.status - b.status)
  .map(
    ([code, { status, when }]) =>
      `| ${status} | ${hasCode(code) ? "" : "no code: "}[\`${code}\`](../reference/errors/${code}.md) | ${when} |`,
  );

const pageOf = ([code, { status, when, fix, members = {} }]) =>
  [
    `# ${code}`,
    `Status ${status}. ${when}`,
    ...(hasCode(code) ? [] : ["The body has only `error`: this response has no `code`."]),
    "## What to do",
    fix,
    ...(Object.keys(members).length === 0
      ? []
      : [
          "## Members of the body",
          [
            "| Member | Meaning |",
            "| --- | --- |",
            ...Object.entries(members).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`),
          ].join("\n"),
        ]),
    "[All errors](../../guide/errors.md)",
  ].join("\n\n");

await writeMarked("docs/guide/errors.md", { errors: ["| Status | `code` | When |", "| --- | --- | --- |", ...rows].join("\n") });
mkdirSync(join(ROOT, FOLDER), { recursive: true });
for (const entry of Object.entries(ERRORS)) await writeGenerated(`${FOLDER}/${entry[0]}.md`, `${pageOf(entry)}\n`);
for (const page of readdirSync(join(ROOT, FOLDER))) if (ERRORS[page.slice(0, -3)] === undefined) rmSync(join(ROOT, FOLDER, page));
