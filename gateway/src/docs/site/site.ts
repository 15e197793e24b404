import { readFileSync } from "node:fs";
import { join } from "node:path";
import { apiPages } from "../api/pages";
import type { ApiDocument } from "../api/document";
import { DOCS_FOLDER, errorEntries, PAGE, readContents, README, type Entry, type Group } from "./contents";
import { frontPage } from "./front";
import { addressOf, DOCS_PATH, EXPLORER_PATH, layout } from "./layout";
import { renderPage, type Links } from "./markdown";
import { createSearch, type Found } from "./search";
import { missingPage, searchPage } from "./search-page";

/** The documentation as a site: docs/ and the API reference in one layout. */

export interface Site {
  groups: readonly Group[];
  /** A page's Markdown by its path (`guide/runs`, `api/runs`); undefined where there is none. */
  markdown(path: string): string | undefined;
  /** The same as a page. */
  html(path: string): string | undefined;
  front(): string;
  /** For an address without a page. */
  missing(): string;
  /** Pictures and examples: where a file of docs is kept. */
  file(path: string): string | undefined;
  search(query: string): Promise<string>;
}

/** The group that the pages of the API end. */
const REFERENCE = "Reference";
/** Where the references of the clients are. */
const CLIENTS = "reference/";
/** Addresses that are no page of Markdown. */
const OTHERS: ReadonlySet<string> = new Set([DOCS_PATH, EXPLORER_PATH, "/openapi.json", "/llms.txt"]);

const withApi = (groups: readonly Group[], api: readonly Entry[]): Group[] => {
  const hasReference = groups.some(({ title }) => title === REFERENCE);
  const all = hasReference ? groups : [...groups, { title: REFERENCE, entries: [] }];
  return all.map((group) => (group.title === REFERENCE ? { ...group, entries: [...group.entries, ...api] } : group));
};

/**
 * Pages are read and rendered when they are asked for.
 * @param document the OpenAPI document, of which its tags are kept
 * @param text the same as JSON, for when its pages are asked for
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
      const found: readonly Found[] = query === "" ? [] : await search.find(query);
      return searchPage(groups, query, found);
    },
  };
};

/** What there is to read, for language models (llmstxt.org): the API's document, and every page as Markdown. */
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
