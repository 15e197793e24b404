import { existsSync } from "node:fs";
import { join } from "node:path";
import { Router } from "express";
import helmet from "helmet";
import { contentSecurity } from "./content-security";
import { readFiles, sendFile } from "./files";

/** Beside the gateway's code, built or not. */
export const CONSOLE_FOLDER = join(__dirname, "../../console/dist");
const PAGE = "/index.html";
const HASHED = "/assets/";
const FOR_EVER = "public, max-age=31536000, immutable";
const ASK_FIRST = "no-cache";
/** Paths of the service, for which the console's page is never sent. */
const NOT_PAGES = /^\/(?:api|media|docs|healthz|readyz|temporal)(?:\/|$)/;
const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

export interface ConsoleOptions {
  folder?: string;
  /** Other origins of media, such as a bucket or a CDN. */
  mediaOrigins: readonly string[];
}

/** Browsers name text/html in Accept. API clients that accept any type get ROUTE_NOT_FOUND. */
const wantsPage = (accept: string | undefined): boolean => accept?.includes("text/html") === true;

/**
 * Serves the console: its files, and its page for every address without a route. Without a built console nothing is served. Files are read
 * at startup, so later changes to the folder have no effect.
 */
export const consoleRouter = ({ folder = CONSOLE_FOLDER, mediaOrigins }: ConsoleOptions): Router => {
  const router = Router({ caseSensitive: true });
  if (!existsSync(join(folder, PAGE))) return router;
  const files = readFiles(folder);
  // The preview of an app's embedding is a frame.
  const own = { "worker-src": ["'self'"], "frame-src": ["'self'"], "form-action": ["'self'"], "frame-ancestors": ["'none'"] };
  const protect = helmet({ contentSecurityPolicy: contentSecurity(mediaOrigins, own) });
  router.use((request, response, next) => {
    if (!READS.has(request.method) || NOT_PAGES.test(request.path)) return next();
    const isPage = request.path === PAGE || !files.has(request.path);
    if (isPage && (request.path.startsWith(HASHED) || !wantsPage(request.headers.accept))) return next();
    const path = isPage ? PAGE : request.path;
    protect(request, response, () => {
      response.vary(isPage ? "Accept, Accept-Encoding" : "Accept-Encoding");
      response.setHeader("Cache-Control", path.startsWith(HASHED) ? FOR_EVER : ASK_FIRST);
      sendFile(files.get(path)!, request, response);
    });
  });
  return router;
};
