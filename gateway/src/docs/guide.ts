import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import MarkdownIt from "markdown-it";

/** The guides of docs/guide as pages: read once, when the process starts. */
export interface Guide {
  /** The file's path in the folder, without `.md`: `nodes/json`. */
  path: string;
  title: string;
  markdown: string;
  html: string;
}

export interface Guides {
  pages: ReadonlyMap<string, Guide>;
  /** Pictures and examples by path: the files that pages name. */
  files: ReadonlyMap<string, Buffer>;
  /** The rendered list of pages. */
  index: string;
}

const FOLDER = join(__dirname, "..", "..", "..", "docs", "guide");
export const GUIDE_PATH = "/docs/guide";
const PAGE = /\.md$/;
const FILE = /\.(?:svg|png|webp|mjs|json)$/;
/** Links to other sites, and within a page. */
const ELSEWHERE = /^(?:[a-z]+:|#)/i;

/** A heading's id as GitHub makes it, so that links with a fragment work on both. */
const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);

const titleOf = (markdown: string, path: string): string => /^# +(.+)$/m.exec(markdown)?.[1] ?? path;

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(title)} – Nodeloom</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
    <link rel="stylesheet" href="${GUIDE_PATH}.css" />
  </head>
  <body>
    <nav><a href="${GUIDE_PATH}">Guides</a> <a href="/docs">API reference</a> <a href="/">Console</a></nav>
    <main>
${body}
    </main>
  </body>
</html>
`;

export const GUIDE_STYLE = `:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 80ch; padding: 16px; font: 16px/1.55 system-ui, sans-serif; }
nav { display: flex; gap: 16px; }
img { max-width: 100%; }
pre { overflow-x: auto; padding: 12px; background: rgb(127 127 127 / 12%); }
code { font-size: .9em; overflow-wrap: anywhere; }
pre code { overflow-wrap: normal; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
th, td { padding: 4px 10px; border-bottom: 1px solid rgb(127 127 127 / 35%); text-align: left; vertical-align: top; }
`;

/** Renders a page. Its links lead to pages (`runs.md#limits` to `runs#limits`); what isn't served here is named without a link. */
const render = (text: string, from: string, isServed: (path: string) => boolean): string => {
  const markdown = new MarkdownIt({ html: true });
  const { rules } = markdown.renderer;
  /** For each open link, whether it was rendered as one. */
  const open: boolean[] = [];
  rules.heading_open = (tokens, index, options, _env, self) => {
    tokens[index]!.attrSet("id", fragmentOf(tokens[index + 1]!.content.replaceAll("`", "")));
    return self.renderToken(tokens, index, options);
  };
  rules.link_open = (tokens, index, options, _env, self) => {
    const href = String(tokens[index]!.attrGet("href"));
    const isElsewhere = ELSEWHERE.test(href);
    if (!isElsewhere) tokens[index]!.attrSet("href", href.replace(/\.md(?=#|$)/, ""));
    open.push(isElsewhere || isServed(posix.join(posix.dirname(from), href.split("#")[0]!)));
    return open.at(-1) ? self.renderToken(tokens, index, options) : "";
  };
  rules.link_close = () => (open.pop() ? "</a>" : "");
  return markdown.render(text);
};

/** Reads the folder of guides. */
export const readGuides = (folder = FOLDER): Guides => {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/"));
  const served = new Set(names.filter((name) => PAGE.test(name) || FILE.test(name)));
  const pages = new Map<string, Guide>();
  const files = new Map<string, Buffer>();
  for (const name of [...served].sort()) {
    const content = readFileSync(join(folder, name));
    if (!PAGE.test(name)) {
      files.set(name, content);
      continue;
    }
    const markdown = content.toString("utf8");
    const path = name.replace(PAGE, "");
    const title = titleOf(markdown, path);
    pages.set(path, {
      path,
      title,
      markdown,
      html: page(
        title,
        render(markdown, name, (target) => served.has(target)),
      ),
    });
  }
  const items = [...pages.values()].map(({ path, title }) => `<li><a href="${GUIDE_PATH}/${path}">${escapeHtml(title)}</a></li>`);
  return { pages, files, index: page("Guides", `<h1>Guides</h1>\n<ul>\n${items.join("\n")}\n</ul>`) };
};

/** What there is to read, for language models (llmstxt.org): the API's document, and every guide as Markdown. */
export const llmsText = ({ pages }: Guides, baseUrl: string): string =>
  [
    "# Nodeloom\n",
    "> Build AI media pipelines as node graphs and call them over HTTP.\n",
    "## API\n",
    `- [OpenAPI 3.1 document](${baseUrl}/openapi.json): every operation, its parameters, answers and errors\n`,
    "## Guides\n",
    ...[...pages.values()].map(({ path, title }) => `- [${title}](${baseUrl}${GUIDE_PATH}/${path}.md)`),
    "",
  ].join("\n");
