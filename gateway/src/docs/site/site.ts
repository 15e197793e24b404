import { readFileSync } from "node:fs";
import { join } from "node:path";
import { apiPages } from "../api/pages";
import type { ApiDocument } from "../api/document";
import { DOCS_FOLDER, errorEntries, PAGE, readContents, README, type Entry, type Group } from "./contents";
import { frontPage } from "./front";
import { addressOf, DOCS_PATH, EXPLORER_PATH, layout } from "./layout";
import { renderPage, type Links } from "./markdown";
import { createSearch, type SearchResult } from "./search";
import { missingPage, searchPage } from "./search-page";

/** The documentation site: docs/ and the API reference in one layout. */

export interface Site {
  groups: readonly Group[];
  /** Markdown of a page by path (`guide/runs`, `api/runs`); undefined if there is none. */
  markdown(path: string): string | undefined;
  html(path: string): string | undefined;
  front(): string;
  /** Page for unknown addresses. */
  missing(): string;
  /** Path of a picture or example file. */
  file(path: string): string | undefined;
  search(query: string): Promise<string>;
}

/** Group that ends with the API pages. */
const REFERENCE = "Reference";
/** Folder of the clients' references. */
const CLIENTS = "reference/";
/** Addresses that aren't Markdown pages. */
const OTHERS: ReadonlySet<string> = new Set([DOCS_PATH, EXPLORER_PATH, "/openapi.json", "/llms.txt"]);

const withApi = (groups: readonly Group[], api: readonly Entry[]): Group[] => {
  const hasReference = groups.some(({ title }) => title === REFERENCE);
  const all = hasReference ? groups : [...groups, { title: REFERENCE, entries: [] }];
  return all.map((group) => (group.title === REFERENCE ? { ...group, entries: [...group.entries, ...api] } : group));
};

/**
 * Renders pages when they are requested.
 * @param document OpenAPI document; only its tags are kept
 * @param text the document as JSON, read when an API page is requested
 */
export const createSite = (document: Pick<ApiDocument, "tags">, text: string): Site => {
  const { groups: own, files } = readContents();
  const read = (): ApiDocument => JSON.parse(text) as ApiDocument;
  const api = new Map(apiPages(document).map((page) => [page.path, page]));
  const groups = withApi(own, [...api.values()]);
  const listed = [...groups.flatMap((group) => group.entries), ...errorEntries(files)];
  const entries = new Map(listed.map((entry) => [entry.path, entry] as const));

  const addressOfFile = (file: string): string | undefined => {
    if (file === README) return DOCS_PATH;
    const path = file.replace(PAGE, "");
    return files.has(file) || api.has(path) ? addressOf(PAGE.test(file) ? path : file) : undefined;
  };
  const isPage = (address: string): boolean =>
    OTHERS.has(address) || (address.startsWith(`${DOCS_PATH}/`) && entries.has(address.slice(DOCS_PATH.length + 1)));
  const links: Links = { addressOf: addressOfFile, isPage };

  const markdown = (path: string): string | undefined => {
    if (!entries.has(path)) return undefined;
    return api.get(path)?.markdown(read()) ?? readFileSync(join(DOCS_FOLDER, `${path}.md`), "utf8");
  };
  const pages = function* () {
    const parsed = read();
    for (const { path, label } of entries.values()) {
      const isReference = api.has(path) || path.startsWith(CLIENTS);
      yield { address: addressOf(path), title: label, markdown: api.get(path)?.markdown(parsed) ?? markdown(path) ?? "", isReference };
    }
  };
  const search = createSearch(pages);

  return {
    groups,
    markdown,
    html: (path) => {
      const page = markdown(path);
      if (page === undefined) return undefined;
      const { title, html, headings } = renderPage(page, `${path}.md`, links);
      const about = entries.get(path)?.about ?? "";
      return layout(groups, { title, about: about === "" ? title : about, path, body: html, headings });
    },
    front: () => frontPage(groups),
    missing: () => missingPage(groups),
    file: (path) => (files.has(path) && !PAGE.test(path) ? join(DOCS_FOLDER, path) : undefined),
    search: async (query) => {
      const results: readonly SearchResult[] = query === "" ? [] : await search.find(query);
      return searchPage(groups, query, results);
    },
  };
};

/** Index for language models (llmstxt.org): the API document, and every page as Markdown. */
export const llmsText = ({ groups }: Pick<Site, "groups">, baseUrl: string): string =>
  [
    "# Nodeloom\n",
    "> Build AI media pipelines as node graphs and call them over HTTP.\n",
    "## API\n",
    `- [OpenAPI 3.1 document](${baseUrl}/openapi.json): every operation, its parameters, answers and errors\n`,
    ...groups.flatMap(({ title, entries }) => [
      `## ${title}\n`,
      ...entries.map(({ path, label, about }) => `- [${label}](${baseUrl}${addressOf(path)}.md)${about === "" ? "" : `: ${about}`}`),
      "",
    ]),
  ].join("\n");
