import { dirname, join } from "node:path";
import { Router } from "express";
import helmet from "helmet";

const ASSETS = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"] as const;
const MAX_AGE_MS = 60 * 60 * 1_000;

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Nodeloom API</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
  </head>
  <body>
    <div id="reference"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** No validator badge: it would call another host. */
const START = `SwaggerUIBundle({
  url: "/api/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

/** Everything the page needs comes from here. */
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

/** The OpenAPI document at /api/openapi.json and an interactive reference at /docs. */
export const docsRouter = (document: object): Router => {
  const text = JSON.stringify(document);
  const folder = dirname(require.resolve("swagger-ui-dist/package.json"));
  const router = Router();
  router.get("/api/openapi.json", (_request, response) => void response.type("application/json").send(text));
  router.use("/docs", secure);
  router.get("/docs", (_request, response) => void response.type("html").send(PAGE));
  router.get("/docs/start.js", (_request, response) => void response.type("text/javascript").send(START));
  for (const asset of ASSETS) {
    router.get(`/docs/${asset}`, (_request, response) => response.sendFile(join(folder, asset), { maxAge: MAX_AGE_MS }));
  }
  return router;
};
