import { Router } from "express";
import type { Gateway } from "../edge/gateway";
import type { ApiDocument } from "./api/document";
import { explorerRouter } from "./explorer";
import { fixed } from "./compressed";
import { siteRouter } from "./site/router";
import { createSite, llmsText } from "./site/site";

export interface DocsOptions {
  document: object;
  publicBaseUrl: string;
  gateway: Gateway;
}

/** Serves /openapi.json and /api/openapi.json, /llms.txt, and the documentation at /docs. */
export const docsRouter = ({ document, publicBaseUrl, gateway }: DocsOptions): Router => {
  const text = JSON.stringify(document);
  const site = createSite(document as Pick<ApiDocument, "tags">, text);
  const router = Router({ caseSensitive: true, strict: true });
  router.get(
    ["/api/openapi.json", "/openapi.json"],
    fixed("application/json", () => text),
  );
  router.get(
    "/llms.txt",
    fixed("text/plain; charset=utf-8", () => llmsText(site, publicBaseUrl)),
  );
  router.use(explorerRouter(text), siteRouter(site, gateway));
  return router;
};
