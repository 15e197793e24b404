import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../paths.mjs";

/** Licences that need no line in NOTICE. */
const COMMON = new Set(["MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD"]);
/** Development dependencies whose files are in the built console. */
const IN_CONSOLE = new Set(["@fontsource-variable/inter"]);
const UNDECLARED = "undeclared";

/** @param {string} licence an SPDX expression of AND and OR, without nesting */
const isCommon = (licence) =>
  licence
    .replace(/[()]/g, "")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((name) => COMMON.has(name)));

/**
 * Required lines of NOTICE, `- name: licence`, for production dependencies without a common licence.
 * @param {{ packages: Record<string, { license?: string, dev?: boolean, link?: boolean }> }} lock package-lock.json
 */
export const noticeLines = ({ packages }) => {
  const lines = Object.entries(packages).flatMap(([path, { license = UNDECLARED, dev, link }]) => {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const isShipped = path.includes("node_modules/") && !link && (!dev || IN_CONSOLE.has(name));
    return isShipped && !isCommon(license) ? [`- ${name}: ${license}`] : [];
  });
  return [...new Set(lines)].sort();
};

/** Differences between NOTICE and the dependencies, a line each. @param {string} notice @param {readonly string[]} lines */
export const noticeProblems = (notice, lines) => {
  // A line can continue after the licence.
  const listed = notice.split("\n").flatMap((line) => /^- [^:]+: [^;]+/.exec(line) ?? []);
  return [
    ...lines.filter((line) => !listed.includes(line)).map((line) => `NOTICE lacks: ${line}`),
    ...listed.filter((line) => !lines.includes(line)).map((line) => `NOTICE lists a package that isn't a dependency: ${line}`),
  ];
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [notice, lock] = await Promise.all(["NOTICE", "package-lock.json"].map((name) => readFile(join(ROOT, name), "utf8")));
  const problems = noticeProblems(notice ?? "", noticeLines(JSON.parse(lock ?? "")));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
