import { posix } from "node:path";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import yaml from "highlight.js/lib/languages/yaml";
import MarkdownIt from "markdown-it";
import { escapeHtml } from "./html";

/** Renders Markdown, and extracts its text for the search. */

export interface Heading {
  level: number;
  /** Fragment of links to it. */
  id: string;
  text: string;
}

/** A heading with the text up to the next one. */
export interface Section extends Heading {
  body: string;
}

export interface RenderedPage {
  title: string;
  html: string;
  headings: readonly Heading[];
}

export interface Links {
  /** Site address of a docs file (`guide/runs.md`); undefined if it isn't served. */
  addressOf(file: string): string | undefined;
  isPage(address: string): boolean;
}

type Markdown = InstanceType<typeof MarkdownIt>;
type Token = ReturnType<Markdown["parse"]>[number];

const LANGUAGES = { bash, javascript, json, python, typescript, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Links to other sites, and within a page. */
const ELSEWHERE = /^(?:[a-z]+:|#)/i;
/** Deepest heading level in contents and search results. */
const LISTED_LEVEL = 3;
const DETAILS = /^<details/;
const DETAILS_END = /^<\/details/;

/** Same id as on GitHub, so that links with fragments work on both. */
const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

const plainText = ({ children, content }: Token): string =>
  children?.map((child) => (child.type === "softbreak" ? " " : child.type === "image" ? "" : child.content)).join("") ?? content;

const levelOf = ({ tag }: Token): number => Number(tag.slice(1));

/** Headings in order. Repeated names get a number, as on GitHub. */
const headingsOf = (tokens: readonly Token[]): Map<number, Heading> => {
  const counts = new Map<string, number>();
  const headings = new Map<number, Heading>();
  for (const [index, token] of tokens.entries()) {
    if (token.type !== "heading_open") continue;
    const text = plainText(tokens[index + 1]!);
    const fragment = fragmentOf(text);
    const count = counts.get(fragment) ?? 0;
    counts.set(fragment, count + 1);
    headings.set(index, { level: levelOf(token), id: count === 0 ? fragment : `${fragment}-${count}`, text });
  }
  return headings;
};

const highlight = (code: string, language: string): string => {
  const isKnownLanguage = hljs.getLanguage(language);
  return isKnownLanguage ? hljs.highlight(code, { language }).value : escapeHtml(code);
};

/** Marks code blocks that show one call in several languages. */
const CALL = "call";
const LANGUAGE_NAMES: Readonly<Record<string, string>> = { sh: "curl", ts: "TypeScript", python: "Python" };

const isCall = (token: Token | undefined): boolean => token?.type === "fence" && token.info.trim().endsWith(` ${CALL}`);

/** Wraps neighbouring blocks in sections that the script turns into tabs; without it all are visible. */
const inTab = (block: string, language: string, follows: boolean, precedes: boolean): string =>
  `${follows ? "" : '<div class="tabs">\n'}<section data-tab="${escapeHtml(LANGUAGE_NAMES[language] ?? language)}">${block}</section>\n${precedes ? "" : "</div>\n"}`;

const linkRules = (markdown: Markdown, from: string, links: Links): void => {
  const { rules } = markdown.renderer;
  /** One entry per open link: true if the output contains the link. */
  const open: boolean[] = [];
  rules.link_open = (tokens, index, options, _env, self) => {
    const href = String(tokens[index]!.attrGet("href"));
    if (!ELSEWHERE.test(href)) {
      const [path = "", fragment] = href.split("#");
      const address = links.addressOf(posix.join(posix.dirname(from), path));
      open.push(address !== undefined);
      if (address === undefined) return "";
      tokens[index]!.attrSet("href", fragment === undefined ? address : `${address}#${fragment}`);
    } else open.push(true);
    return self.renderToken(tokens, index, options);
  };
  rules.link_close = () => (open.pop() ? "</a>" : "");
  rules.code_inline = (tokens, index) => {
    const { content } = tokens[index]!;
    const code = `<code>${escapeHtml(content)}</code>`;
    return links.isPage(content) ? `<a href="${escapeHtml(content)}">${code}</a>` : code;
  };
  rules.image = (tokens, index, options, env, self) => {
    const token = tokens[index]!;
    const src = String(token.attrGet("src"));
    token.attrSet("src", (ELSEWHERE.test(src) ? undefined : links.addressOf(posix.join(posix.dirname(from), src))) ?? src);
    token.attrSet("alt", self.renderInlineAsText(token.children ?? [], options, env));
    token.attrSet("loading", "lazy");
    return self.renderToken(tokens, index, options);
  };
};

/** Aligns cells by classes, because the content security policy forbids inline styles. */
const tableRules = (markdown: Markdown): void => {
  const { rules } = markdown.renderer;
  rules.th_open = rules.td_open = (tokens, index, options, _env, self) => {
    const token = tokens[index]!;
    const alignment = /^text-align:(\w+)$/.exec(String(token.attrGet("style")))?.[1];
    if (alignment !== undefined) token.attrs = [["class", `align-${alignment}`]];
    return self.renderToken(tokens, index, options);
  };
};

const createMarkdown = (): Markdown => new MarkdownIt({ html: true });

/**
 * Renders a page. Links point to site pages (`runs.md#limits` becomes `/docs/guide/runs#limits`); links to unserved files become plain
 * text.
 * @param from path of the page's file in docs
 */
export const renderPage = (text: string, from: string, links: Links): RenderedPage => {
  const markdown = createMarkdown();
  const tokens = markdown.parse(text, {});
  const headings = headingsOf(tokens);
  const { rules } = markdown.renderer;
  linkRules(markdown, from, links);
  tableRules(markdown);
  rules.heading_open = (all, index) => `<${all[index]!.tag} id="${escapeHtml(headings.get(index)!.id)}">`;
  rules.heading_close = (all, index) => {
    const { id, text: title } = headings.get(index - 2)!;
    const label = escapeHtml(`Link to ${title}`);
    const anchor = all[index]!.tag === "h1" ? "" : ` <a class="anchor" href="#${escapeHtml(id)}" aria-label="${label}">#</a>`;
    return `${anchor}</${all[index]!.tag}>\n`;
  };
  rules.fence = (all, index) => {
    const { info, content } = all[index]!;
    const [language = "", mark] = info.trim().split(/\s+/);
    const block = `<pre tabindex="0"><code>${highlight(content, language)}</code></pre>\n`;
    return mark === CALL ? inTab(block, language, isCall(all[index - 1]), isCall(all[index + 1])) : block;
  };
  const html = markdown.renderer.render(tokens, markdown.options, {});
  const all = [...headings.values()];
  return {
    title: all.find(({ level }) => level === 1)?.text ?? from,
    html,
    headings: all.filter(({ level }) => level > 1 && level <= LISTED_LEVEL),
  };
};

/** Searchable text by heading, without markup and collapsed parts. */
export const sectionsOf = (text: string): Section[] => {
  const tokens = createMarkdown().parse(text, {});
  const headings = headingsOf(tokens);
  const sections: (Heading & { texts: string[] })[] = [];
  let isFolded = false;
  for (const [index, token] of tokens.entries()) {
    const heading = headings.get(index);
    if (heading && heading.level <= LISTED_LEVEL) sections.push({ ...heading, texts: [] });
    if (token.type === "html_block") isFolded = DETAILS.test(token.content) || (isFolded && !DETAILS_END.test(token.content));
    const section = sections.at(-1);
    const isText = token.type === "inline" || token.type === "fence";
    if (!section || isFolded || !isText || headings.has(index - 1)) continue;
    section.texts.push(plainText(token).replaceAll(/\s+/g, " ").trim());
  }
  return sections.map(({ texts, ...heading }) => ({ ...heading, body: texts.join(" ") }));
};
