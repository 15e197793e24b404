import type { Entry, Group } from "./contents";
import { escapeHtml } from "./html";
import { addressOf, EXPLORER_PATH, layout } from "./layout";

const ABOUT = "Build AI media pipelines as node graphs and call them over HTTP.";

const card = ({ path, label, about }: Entry): string =>
  `<li><a href="${addressOf(path)}"><strong>${escapeHtml(label)}</strong><span>${escapeHtml(about)}</span></a></li>`;

const link = ({ path, label }: Entry): string => `<a href="${addressOf(path)}">${escapeHtml(label)}</a>`;

/** A line per page with a summary; the other pages share one. */
const lines = (entries: readonly Entry[]): string => {
  const described = entries.filter(({ about }) => about !== "");
  const others = entries.filter(({ about }) => about === "");
  const items = described.map((entry) => `${link(entry)} <span>${escapeHtml(entry.about)}</span>`);
  return [...items, ...(others.length === 0 ? [] : [others.map(link).join(", ")])].map((item) => `<li>${item}</li>`).join("");
};

/** Front page: a quick start per audience, then all pages. */
export const frontPage = (groups: readonly Group[]): string => {
  const [start, ...others] = groups;
  const sections = others.map(
    ({ title, entries }) => `<section><h2 id="${title.toLowerCase()}">${escapeHtml(title)}</h2><ul>${lines(entries)}</ul></section>`,
  );
  const body = `<div class="front">
<h1>Nodeloom documentation</h1>
<p>${ABOUT} Start from where you are:</p>
<ul class="cards">${start?.entries.map(card).join("") ?? ""}</ul>
<p>For programs: <a href="/openapi.json">the OpenAPI document</a>, <a href="${EXPLORER_PATH}">a page to try every operation</a>, and <a href="/llms.txt">a list of all pages as Markdown</a>.</p>
<div class="groups">
${sections.join("\n")}
</div>
</div>`;
  return layout(groups, { title: "Documentation", about: ABOUT, body });
};
