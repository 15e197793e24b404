// Writes the table of error codes into docs/guide/errors.md, and a page per code into docs/reference/errors, from the
// table that the gateway answers by.
//
//   node docs/reference/errors.mjs       writes them (after npm run build)
//   node docs/reference/errors.mjs -     reads the table as JSON from stdin and prints the pages as JSON, by path
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";

const DOCS = fileURLToPath(new URL("..", import.meta.url));
const OVERVIEW = join("guide", "errors.md");
const FOLDER = join("reference", "errors");
const MARKED = /(<!-- errors -->\n)[\s\S]*?(<!-- end -->)/;
const STDIN = 0;

const isPiped = process.argv[2] === "-";
const readTable = () => {
  if (isPiped) return JSON.parse(readFileSync(STDIN, "utf8"));
  const { ERRORS, WITHOUT_CODE } = createRequire(import.meta.url)("../../gateway/dist/http/error-table.js");
  return { errors: ERRORS, withoutCode: [...WITHOUT_CODE] };
};

const { errors, withoutCode } = readTable();
const hasCode = (code) => !withoutCode.includes(code);

const overview = () => {
  const rows = Object.entries(errors)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(
      ([code, { status, when }]) =>
        `| ${status} | ${hasCode(code) ? "" : "no code: "}[\`${code}\`](../reference/errors/${code}.md) | ${when} |`,
    );
  const page = readFileSync(join(DOCS, OVERVIEW), "utf8");
  if (!MARKED.test(page)) throw new Error("errors.md has no place for the table");
  const table = ["| Status | `code` | When |", "| --- | --- | --- |", ...rows].join("\n");
  return page.replace(MARKED, (_, start, end) => `${start}\n${table}\n\n${end}`);
};

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

const pages = new Map([
  [OVERVIEW, overview()],
  ...Object.entries(errors).map((entry) => [join(FOLDER, `${entry[0]}.md`), `${pageOf(entry)}\n`]),
]);
const config = await resolveConfig(join(DOCS, OVERVIEW));
for (const [path, text] of pages) pages.set(path, await format(text, { ...config, filepath: join(DOCS, path) }));

if (isPiped) process.stdout.write(JSON.stringify(Object.fromEntries(pages)));
else {
  rmSync(join(DOCS, FOLDER), { recursive: true, force: true });
  mkdirSync(join(DOCS, FOLDER), { recursive: true });
  for (const [path, text] of pages) writeFileSync(join(DOCS, path), text);
}
