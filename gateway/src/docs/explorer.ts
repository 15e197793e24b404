import { dirname, join } from "node:path";
import { Router } from "express";
import helmet from "helmet";
import { fixed } from "./kept";
import { DOCS_PATH, EXPLORER_PATH, ICON_PATH } from "./site/layout";

/** Swagger UI for trying operations. */

const ASSETS = ["swagger-ui.css", "swagger-ui-bundle.js"] as const;
const MAX_AGE_MS = 60 * 60 * 1_000;

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Nodeloom API</title>
    <link rel="icon" type="image/svg+xml" href="${ICON_PATH}" />
    <link rel="stylesheet" href="${EXPLORER_PATH}/swagger-ui.css" />
    <link rel="stylesheet" href="${EXPLORER_PATH}/page.css" />
  </head>
  <body>
    <nav><a href="${DOCS_PATH}">Documentation</a> <a href="${DOCS_PATH}/api">The same without JavaScript</a></nav>
    <div id="reference"></div>
    <script src="${EXPLORER_PATH}/swagger-ui-bundle.js"></script>
    <script src="${EXPLORER_PATH}/start.js"></script>
  </body>
</html>
`;

/** Without the validator badge, which calls another host. */
const START = `SwaggerUIBundle({
  url: "/api/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

/** Errors have the same bodies and headers everywhere, so only their codes are shown. Nothing is wider than a phone. */
const STYLE = `body { margin: 0; }
nav { display: flex; gap: 16px; padding: 12px 20px; font: 14px system-ui, sans-serif; }
.swagger-ui .response-col_links { display: none; }
.swagger-ui .info { margin: 32px 0; max-width: 76ch; }
.swagger-ui .info h3 { font-size: 1.1em; margin: 1.6em 0 .4em; }
.swagger-ui .info pre { white-space: pre-wrap; }
.swagger-ui .responses-table:not(.live-responses-table) .response:is([data-code^="4"], [data-code^="5"]) :is(.response-controls, .model-example, .headers-wrapper) { display: none; }
.swagger-ui .response-col_description ul { margin: 0; padding-left: 1.2em; }
.swagger-ui .response-col_description li p { margin: 0; }
.swagger-ui .responses-table.live-responses-table pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.swagger-ui .webhooks :is(.parameters-col_description input, .examples-select) { display: none; }
@media (max-width: 640px) {
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

export const explorerRouter = (): Router => {
  const folder = dirname(require.resolve("swagger-ui-dist/package.json"));
  const router = Router({ caseSensitive: true, strict: true });
  router.use(EXPLORER_PATH, secure);
  router.get(
    EXPLORER_PATH,
    fixed("html", () => PAGE),
  );
  router.get(
    `${EXPLORER_PATH}/page.css`,
    fixed("css", () => STYLE),
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
