import { existsSync, readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { Router, type RequestHandler } from "express";
import helmet from "helmet";
import sirv from "sirv";

/** Beside the gateway's own code, whether that runs from its sources or built. */
export const CONSOLE_FOLDER = join(__dirname, "../../console/dist");
const PAGE = "/index.html";
const HASHED = "/assets/";
const FOR_EVER = "public, max-age=31536000, immutable";
const ASK_FIRST = "no-cache";
/** Answered by the service itself, whatever it is asked with. */
const NOT_PAGES = /^\/(?:api|media|docs|healthz|readyz|temporal)(?:\/|$)/;
const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

export interface ConsoleOptions {
  folder?: string;
  /** Origins besides our own that media come from: a bucket, a CDN. */
  mediaOrigins: readonly string[];
}

/** Scripts, styles and fonts come from here alone; no style or script stands in the page itself. */
const secure = (mediaOrigins: readonly string[]): RequestHandler =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "blob:", "data:", ...mediaOrigins],
        "media-src": ["'self'", "blob:", ...mediaOrigins],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "worker-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "object-src": ["'none'"],
      },
    },
  });

/** Only browsers ask for pages by name; an API client that takes anything is told that there is no such route. */
const wantsPage = (accept: string | undefined): boolean => accept?.includes("text/html") === true;

/**
 * The browser console: its files, and its page for every address that no route of the service has. Nothing is served
 * where it was not built.
 */
export const consoleRouter = ({ folder = CONSOLE_FOLDER, mediaOrigins }: ConsoleOptions): Router => {
  const router = Router({ caseSensitive: true });
  if (!existsSync(join(folder, PAGE))) return router;
  const files = sirv(folder, {
    brotli: true,
    gzip: true,
    etag: true,
    extensions: [],
    setHeaders: (response, path) => response.setHeader("Cache-Control", path.startsWith(HASHED) ? FOR_EVER : ASK_FIRST),
  });
  const protect = secure(mediaOrigins);
  const known = new Set(readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `/${name.split(sep).join("/")}`));
  router.use((request, response, next) => {
    if (!READS.has(request.method) || NOT_PAGES.test(request.path)) return next();
    const isPage = request.path === PAGE || !known.has(request.path);
    if (isPage && (request.path.startsWith(HASHED) || !wantsPage(request.headers.accept))) return next();
    if (isPage) request.url = PAGE;
    protect(request, response, () => {
      if (isPage) response.setHeader("Vary", "Accept");
      files(request, response, next);
    });
  });
  return router;
};
