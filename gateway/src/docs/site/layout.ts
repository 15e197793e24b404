import type { Entry, Group } from "./contents";
import { escapeHtml } from "./html";
import type { Heading } from "./markdown";

/** Frame of all pages; it works without JavaScript. */

export const DOCS_PATH = "/docs";
export const SEARCH_PATH = `${DOCS_PATH}/search`;
export const EXPLORER_PATH = `${DOCS_PATH}/explorer`;
export const STYLE_PATH = `${DOCS_PATH}/site.css`;
export const SCRIPT_PATH = `${DOCS_PATH}/site.js`;
export const ICON_PATH = `${DOCS_PATH}/icon.svg`;
/** Characters of a query. */
export const MAX_QUERY_CHARS = 200;
const MENU = "menu";

export const addressOf = (path: string): string => `${DOCS_PATH}/${path}`;

export interface PageFrame {
  title: string;
  /** For search engines and previews. */
  about: string;
  /** Path in the navigation; undefined for the front page and the search. */
  path?: string;
  body: string;
  headings?: readonly Heading[];
  query?: string;
}

const link = ({ path, label }: Entry, current: string | undefined): string =>
  `<li><a href="${addressOf(path)}"${path === current ? ' aria-current="page"' : ""}>${escapeHtml(label)}</a></li>`;

const navigation = (groups: readonly Group[], current: string | undefined): string =>
  groups
    .map(({ title, entries }) => {
      const isOpen = current === undefined || entries.some(({ path }) => path === current);
      const links = entries.map((entry) => link(entry, current)).join("");
      return `<details${isOpen ? " open" : ""}><summary>${escapeHtml(title)}</summary><ul>${links}</ul></details>`;
    })
    .join("\n");

const contents = (headings: readonly Heading[]): string => {
  if (headings.length < 2) return "";
  const items = headings.map(
    ({ level, id, text }) => `<li class="level-${level}"><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`,
  );
  return `<details class="contents"><summary>On this page</summary><nav aria-label="On this page"><ul>${items.join("")}</ul></nav></details>`;
};

/** Previous and next page in navigation order. */
const neighbours = (groups: readonly Group[], current: string): string => {
  const all = groups.flatMap(({ entries }) => entries);
  const at = all.findIndex(({ path }) => path === current);
  if (at === -1) return "";
  const step = (entry: Entry | undefined, rel: "prev" | "next", word: string): string =>
    entry ? `<a rel="${rel}" href="${addressOf(entry.path)}"><small>${word}</small>${escapeHtml(entry.label)}</a>` : "<span></span>";
  return `<nav class="neighbours" aria-label="Other pages">${step(all[at - 1], "prev", "Previous")}${step(all[at + 1], "next", "Next")}</nav>`;
};

export const searchForm = (query = ""): string =>
  `<form role="search" action="${SEARCH_PATH}"><input type="search" name="q" value="${escapeHtml(query)}" maxlength="${MAX_QUERY_CHARS}" required placeholder="Search" aria-label="Search the documentation" /><button>Search</button></form>`;

const header = (query: string | undefined): string => `<header>
<a class="skip" href="#content">Skip to the content</a>
<a class="home" href="${DOCS_PATH}"><img src="${ICON_PATH}" alt="" width="24" height="24" />Nodeloom <span>docs</span></a>
${searchForm(query)}
<nav aria-label="Elsewhere"><a class="menu" href="#${MENU}">Menu</a><a href="${EXPLORER_PATH}">Try the API</a><a href="/">Console</a></nav>
</header>`;

export const layout = (groups: readonly Group[], { title, about, path, body, headings = [], query }: PageFrame): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>${escapeHtml(title)} – Nodeloom</title>
<meta name="description" content="${escapeHtml(about)}" />
<link rel="icon" type="image/svg+xml" href="${ICON_PATH}" />
<link rel="stylesheet" href="${STYLE_PATH}" />
${path === undefined ? "" : `<link rel="alternate" type="text/markdown" href="${addressOf(path)}.md" />\n`}<script src="${SCRIPT_PATH}"></script>
</head>
<body>
${header(query)}
<div class="columns">
<nav id="${MENU}" class="navigation" aria-label="All pages"><a class="close" href="#content">Close</a>
${navigation(groups, path)}
</nav>
${contents(headings)}
<main id="content">
${body}
${path === undefined ? "" : `${neighbours(groups, path)}\n<footer><a href="${addressOf(path)}.md">This page as Markdown</a></footer>`}
</main>
</div>
</body>
</html>
`;
