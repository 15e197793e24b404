import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isHosted, type RegistryFile } from "./requests";

/** Table in docs/guide/registry.md. */

export const PAGE = join(__dirname, "..", "..", "..", "docs", "guide", "registry.md");
const MARKED = /(<!-- models -->\n)[\s\S]*?(<!-- end -->)/;
const ROW = /^\| `([a-z0-9-]+)` +\|/gm;

/** Models listed on the page. */
export const rowsOf = (page: string): string[] => [...(MARKED.exec(page)?.[0] ?? "").matchAll(ROW)].map(([, name]) => name!);

const row = (entry: RegistryFile, checked: string): string =>
  `| \`${entry.internalName}\` | ${entry.displayName} | ${entry.company ?? ""} | ${entry.asOf ?? "not said"} | ${entry.source ?? "not said"} | ${checked} |`;

/** Writes the library that each entry was checked against. */
export const writeTable = async (entries: readonly RegistryFile[], checked: ReadonlyMap<string, string>): Promise<void> => {
  const rows = entries
    .filter(isHosted)
    .sort((one, other) => (one.company ?? "").localeCompare(other.company ?? "") || one.internalName.localeCompare(other.internalName))
    .map((entry) => row(entry, checked.get(entry.internalName) ?? "not checked"));
  const table = [
    "| model | called | runs at | as of | id and price were read in | request |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
  ];
  // Loaded lazily because Jest, which reads the rows, can't load it.
  const { format, resolveConfig } = await import("prettier");
  const page = readFileSync(PAGE, "utf8");
  if (!MARKED.test(page)) throw new Error("registry.md has no place for the table");
  const next = page.replace(MARKED, (_, start: string, end: string) => `${start}\n${table.join("\n")}\n\n${end}`);
  writeFileSync(PAGE, await format(next, { ...(await resolveConfig(PAGE)), filepath: PAGE }));
};
