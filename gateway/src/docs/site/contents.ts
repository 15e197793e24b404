import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Contents of the site from docs/README.md: its headings are groups, its links are pages. */

export interface Entry {
  /** Path in docs without `.md`: `guide/nodes/json`. */
  path: string;
  label: string;
  /** Summary; empty if the list has none. */
  about: string;
}

export interface Group {
  title: string;
  entries: readonly Entry[];
}

export interface Contents {
  groups: readonly Group[];
  /** All files by path in docs. */
  files: ReadonlySet<string>;
}

export const DOCS_FOLDER = join(__dirname, "..", "..", "..", "..", "docs");
/** Served folders; the others are for contributors. */
const SERVED = ["guide", "operations", "reference"] as const;
export const README = "README.md";
export const PAGE = /\.md$/;
const FILE = /\.(?:md|svg|png|webp|mjs|json)$/;
/** Group of pages that the list lacks. */
const UNLISTED = "More";
/** One page per code, linked from the table of errors: too many for the navigation. */
const ERROR_PAGES = "reference/errors/";

const nameOf = (file: string): string => file.slice(file.lastIndexOf("/") + 1).replace(PAGE, "");

export const errorEntries = (files: ReadonlySet<string>): Entry[] =>
  [...files]
    .filter((file) => file.startsWith(ERROR_PAGES))
    .map((file) => ({ path: file.replace(PAGE, ""), label: nameOf(file), about: "" }));

const LINK = /\[([^\][]+)\]\(([^)#]+\.md)\)/g;

const entriesOf = (item: string, files: ReadonlySet<string>): Entry[] => {
  const links = [...item.matchAll(LINK)].filter(([, , path]) => files.has(path!));
  const about = links.length === 1 ? /\)(?:: (.+))?$/.exec(item)?.[1]?.trim() : undefined;
  return links.map(([, label, path]) => ({ path: path!.replace(PAGE, ""), label: label!, about: about ?? "" }));
};

/** Groups of the list. Headings without pages are left out. */
export const groupsOf = (readme: string, files: ReadonlySet<string>): Group[] => {
  const groups = readme
    .split(/^## +/m)
    .slice(1)
    .map((section) => ({
      title: section.split("\n", 1)[0]!.trim(),
      entries: section
        .split("\n")
        .filter((line) => line.startsWith("- "))
        .flatMap((item) => entriesOf(item, files)),
    }));
  const listed = new Set(groups.flatMap(({ entries }) => entries.map(({ path }) => path)));
  const unlisted = [...files]
    .filter((file) => PAGE.test(file) && !file.startsWith(ERROR_PAGES) && !listed.has(file.replace(PAGE, "")))
    .map((file) => ({ path: file.replace(PAGE, ""), label: nameOf(file), about: "" }));
  return [...groups, { title: UNLISTED, entries: unlisted }].filter(({ entries }) => entries.length > 0);
};

/** Reads the list and the file names; pages are read when requested. */
export const readContents = (folder = DOCS_FOLDER): Contents => {
  const names = SERVED.flatMap((part) =>
    readdirSync(join(folder, part), { recursive: true, encoding: "utf8" }).map((name) => `${part}/${name.replaceAll("\\", "/")}`),
  );
  const files = new Set(names.filter((name) => FILE.test(name)).sort());
  return { groups: groupsOf(readFileSync(join(folder, README), "utf8"), files), files };
};
