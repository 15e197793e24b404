import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(__dirname, "..");

/** A fenced block of a page of the documentation. */
export interface Snippet {
  page: string;
  line: number;
  /** First word after the fence. */
  language: string;
  /** Second word after the fence. */
  mark: string;
  code: string;
}

const FENCE = /^( *)```([\w-]*) ?([\w-]*) *$/;

/** Blocks of a page, without the indentation of a list. */
export const snippetsOf = (page: string, markdown: string): Snippet[] => {
  const snippets: Snippet[] = [];
  let open: Snippet | undefined;
  let indentation = 0;
  for (const [index, line] of markdown.split("\n").entries()) {
    if (open && line.trim() === "```") {
      snippets.push(open);
      open = undefined;
    } else if (open) {
      open.code += `${line.slice(indentation)}\n`;
    } else if (line.trimStart().startsWith("```")) {
      const [, indent = "", language = "", mark = ""] = FENCE.exec(line) ?? [];
      indentation = indent.length;
      open = { page, line: index + 1, language, mark, code: "" };
    }
  }
  return snippets;
};

const pagesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);

/** Pages whose blocks are checked. */
export const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  ...["docs/contribute", "docs/guide", "docs/operations", "docs/reference"].flatMap(pagesIn),
  "docs/README.md",
  "gateway/client/README.md",
  "gateway/python/README.md",
].sort();

export const allSnippets = (): Snippet[] => PAGES.flatMap((page) => snippetsOf(page, readFileSync(join(ROOT, page), "utf8")));

export const placeOf = ({ page, line }: Snippet): string => `${page}:${line}`;
