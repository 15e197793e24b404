import { dirname, join } from "node:path";
import { Router } from "express";
import helmet from "helmet";
import { fixed } from "./compressed";
import { DOCS_PATH, EXPLORER_PATH, ICON_PATH } from "./site/layout";
import { THEME } from "./site/style";

/** Swagger UI for trying operations. */

const ASSETS = ["swagger-ui.css", "swagger-ui-bundle.js"] as const;
const MAX_AGE_MS = 60 * 60 * 1_000;

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Try the API – Nodeloom</title>
    <link rel="icon" type="image/svg+xml" href="${ICON_PATH}" />
    <link rel="stylesheet" href="${EXPLORER_PATH}/swagger-ui.css" />
    <link rel="stylesheet" href="${EXPLORER_PATH}/page.css" />
    <link rel="preload" as="fetch" href="${EXPLORER_PATH}/openapi.json" crossorigin="anonymous" />
    <script src="${EXPLORER_PATH}/theme.js"></script>
  </head>
  <body>
    <header>
      <a class="home" href="${DOCS_PATH}"><img src="${ICON_PATH}" alt="" width="24" height="24" />Nodeloom <span>API</span></a>
      <nav aria-label="Elsewhere"><a href="${DOCS_PATH}">Documentation</a><a href="${DOCS_PATH}/api">Reference</a><a href="/">Console</a></nav>
    </header>
    <div id="reference"></div>
    <script src="${EXPLORER_PATH}/swagger-ui-bundle.js"></script>
    <script src="${EXPLORER_PATH}/start.js"></script>
  </body>
</html>
`;

/** Applies the theme of the documentation to Swagger UI, which follows a class. It runs before the first paint. */
const THEME_SCRIPT = `(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let theme = null;
  try {
    theme = localStorage.getItem("nodeloom.theme");
  } catch {}
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const apply = () => root.classList.toggle("dark-mode", (root.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark");
  apply();
  dark.addEventListener("change", apply);
})();
`;

interface Operation {
  responses: Record<string, { description?: string }>;
}

/**
 * Returns the OpenAPI document without bodies and headers of error responses, which are the same everywhere. They are seven tenths of its
 * size and cost Swagger UI seconds.
 * @param text the OpenAPI document
 */
export const explorerDocument = (text: string): string => {
  const { webhooks: _, ...document } = JSON.parse(text) as { webhooks: object; paths: Record<string, Record<string, Operation>> };
  for (const { responses } of Object.values(document.paths).flatMap((methods) => Object.values(methods)))
    for (const [status, { description = "" }] of Object.entries(responses)) if (/^[45]/.test(status)) responses[status] = { description };
  return JSON.stringify(document);
};

/**
 * Groups start closed, because drawing every operation takes seconds. The validator badge is off, because it calls another host. Swagger UI
 * would resolve the references of the whole document for each part that it shows, which takes seconds; `partOf` returns the part with only
 * the components that it refers to.
 */
const START = `(() => {
  const componentsOf = (part, document) => {
    const components = {};
    const add = (value) => {
      if (typeof value !== "object" || value === null) return;
      const [, kind, name] = /^#\\/components\\/([^/]+)\\/([^/]+)$/.exec(value.$ref ?? "") ?? [];
      const component = document.components[kind]?.[name];
      if (component && !components[kind]?.[name]) {
        (components[kind] ??= {})[name] = component;
        add(component);
      }
      Object.values(value).forEach(add);
    };
    add(part);
    return components;
  };
  const partOf = (document, [root, name, key]) => {
    const { paths, components, ...head } = document;
    const part = key === undefined ? document[root][name] : { [key]: document[root][name][key] };
    const used = componentsOf(part, document);
    if (root === "paths") return { ...head, paths: { [name]: part }, components: used };
    return { ...head, paths: {}, components: { ...used, [name]: { ...used[name], ...part } } };
  };
  const inParts = () => ({
    afterLoad() {
      const resolve = this.fn.resolveSubtree;
      this.fn.resolveSubtree = (document, path, options) => resolve(partOf(document, path), path, options);
    },
    // Swagger UI reads documents as YAML, which takes ten times as long.
    statePlugins: { spec: { wrapActions: { parseToJson: (_, { specActions }) => (text) => specActions.updateJsonSpec(JSON.parse(text)) } } },
  });
  SwaggerUIBundle({
    url: "${EXPLORER_PATH}/openapi.json",
    dom_id: "#reference",
    plugins: [inParts],
    deepLinking: true,
    docExpansion: "none",
    filter: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    validatorUrl: null,
  });
})();
`;

/** Keeps all content within the width of a phone. */
const STYLE = `${THEME}body { margin: 0; background: var(--page); }
header { display: flex; align-items: center; gap: 16px; padding: 10px 16px; border-bottom: 1px solid var(--line); background: var(--page); font: 16px/1.6 "Inter Variable", system-ui, sans-serif; }
header a { color: var(--accent); text-decoration: none; }
header nav { display: flex; gap: 14px; margin-left: auto; font-size: 14px; white-space: nowrap; }
header .home { display: flex; align-items: center; gap: 8px; color: var(--text); font-weight: 600; }
header .home span { color: var(--muted); font-weight: 400; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
html.dark-mode, :is(html, html.dark-mode) .swagger-ui, :is(html, html.dark-mode) .swagger-ui .scheme-container { background: var(--page); color: var(--text); }
:is(html, html.dark-mode) .swagger-ui :is(.info, .opblock, .opblock-tag, .opblock-description-wrapper p, .opblock-summary-description, .markdown p, .markdown li, .title, table, .btn, label, select, input, textarea, .model-box, h1, h2, h3, h4, h5) { font-family: "Inter Variable", system-ui, sans-serif; }
:is(html, html.dark-mode) .swagger-ui :is(.info .title, .info h3, .opblock-tag, .opblock .opblock-summary-path) { color: var(--text); }
:is(html, html.dark-mode) .swagger-ui :is(.info a, .opblock-tag small a, .markdown a) { color: var(--accent); }
.swagger-ui .scheme-container { box-shadow: none; border-bottom: 1px solid var(--line); padding: 16px 0; }
.swagger-ui .opblock-tag { border-bottom-color: var(--line); }
.swagger-ui .response-col_links { display: none; }
.swagger-ui .info { margin: 32px 0; max-width: 76ch; }
.swagger-ui .info h3 { font-size: 1.1em; margin: 1.6em 0 .4em; }
.swagger-ui .info pre { white-space: pre-wrap; }
.swagger-ui .response-col_description ul { margin: 0; padding-left: 1.2em; }
.swagger-ui .response-col_description li p { margin: 0; }
.swagger-ui .responses-table.live-responses-table pre { white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  header { flex-wrap: wrap; }
  .swagger-ui .wrapper { padding: 0 12px; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 64px; padding: 4px 0; }
  .swagger-ui .opblock .opblock-summary-path { max-width: none; overflow-wrap: anywhere; }
  .swagger-ui .opblock .opblock-summary-path-description-wrapper { flex: 1; flex-direction: column; align-items: flex-start; min-width: 0; }
  .swagger-ui .opblock-body :is(.parameters, .headers) :is(tbody, tr, td) { display: block; width: auto; max-width: none; padding: 2px 0; }
  .swagger-ui .opblock-body :is(.parameters, .headers) thead { display: none; }
  .swagger-ui .opblock-body :is(.parameters, .headers) tr { padding: 8px 0; border-bottom: 1px solid rgb(59 65 81 / 15%); }
  .swagger-ui .opblock-body :is(input[type="text"], select, textarea) { box-sizing: border-box; max-width: 100%; min-width: 0; width: 100%; }
  .swagger-ui .responses-table { display: block; }
  .swagger-ui .responses-table :is(thead, tbody) { display: block; }
  .swagger-ui .responses-table .response, .swagger-ui .responses-header { display: grid; grid-template-columns: 60px minmax(0, 1fr); }
  .swagger-ui .response-col_description { width: auto; min-width: 0; }
  .swagger-ui .responses-inner { padding: 12px; }
  .swagger-ui .response-controls { flex-wrap: wrap; gap: 8px; padding-top: 8px; }
  .swagger-ui .scheme-container .schemes { flex-wrap: wrap; gap: 12px; }
  .swagger-ui .dialog-ux .modal-ux { min-width: 0; width: calc(100vw - 24px); }
}
`;

/** The page loads nothing from other hosts. */
const secure = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      "default-src": ["'none'"],
      "script-src": ["'self'"],
      "style-src": ["'self'", "'unsafe-inline'"],
      "img-src": ["'self'", "data:"],
      "connect-src": ["'self'"],
      "frame-ancestors": ["'none'"],
    },
  },
});

/** @param text the OpenAPI document as JSON */
export const explorerRouter = (text: string): Router => {
  const folder = dirname(require.resolve("swagger-ui-dist/package.json"));
  const router = Router({ caseSensitive: true, strict: true });
  router.use(EXPLORER_PATH, secure);
  router.get(
    EXPLORER_PATH,
    fixed("html", () => PAGE),
  );
  router.get(
    `${EXPLORER_PATH}/openapi.json`,
    fixed("application/json", () => explorerDocument(text)),
  );
  router.get(
    `${EXPLORER_PATH}/page.css`,
    fixed("css", () => STYLE),
  );
  router.get(
    `${EXPLORER_PATH}/theme.js`,
    fixed("text/javascript", () => THEME_SCRIPT),
  );
  router.get(
    `${EXPLORER_PATH}/start.js`,
    fixed("text/javascript", () => START),
  );
  for (const asset of ASSETS) {
    router.get(`${EXPLORER_PATH}/${asset}`, (_request, response) => response.sendFile(join(folder, asset), { maxAge: MAX_AGE_MS }));
  }
  return router;
};
