import type { Group } from "./contents";
import { escapeHtml } from "./html";
import { layout, searchForm } from "./layout";
import type { SearchResult } from "./search";

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Highlights the found words. */
const marked = (text: string, words: readonly string[]): string => {
  if (words.length === 0) return escapeHtml(text);
  const longestFirst = [...words].sort((a, b) => b.length - a.length);
  const parts = text.split(new RegExp(`(${longestFirst.map(escapePattern).join("|")})`, "gi"));
  return parts.map((part, index) => (index % 2 === 1 ? `<mark>${escapeHtml(part)}</mark>` : escapeHtml(part))).join("");
};

const item = ({ address, page, heading, excerpt, words }: SearchResult): string =>
  `<li><a href="${escapeHtml(address)}">${marked(heading === "" ? page : heading, words)}</a> <small>${escapeHtml(heading === "" ? "" : page)}</small><p>${marked(excerpt, words)}</p></li>`;

export const missingPage = (groups: readonly Group[]): string => {
  const body = `<h1>Page not found</h1>\n<p>This address has no page. It may have moved: search for its words, or choose a page from the list.</p>\n<div class="search-again">${searchForm()}</div>`;
  return layout(groups, { title: "Page not found", about: "Page not found", body });
};

/** Search results, or the form without a query. */
export const searchPage = (groups: readonly Group[], query: string, searchResults: readonly SearchResult[]): string => {
  const about = `Search for ${query}`;
  const count =
    searchResults.length === 0 ? "Nothing was found. Fewer words, or their beginnings, may find more." : `${searchResults.length} sections`;
  const results = query === "" ? "" : `<p role="status">${count}</p>\n<ol class="found">${searchResults.map(item).join("\n")}</ol>`;
  const body = `<h1>Search</h1>\n<div class="search-again">${searchForm(query)}</div>\n${results}`;
  return layout(groups, { title: query === "" ? "Search" : about, about, body, query });
};
