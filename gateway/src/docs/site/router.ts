import { invalidRequest } from "@nodeloom/kernel";
import { Router, type RequestHandler } from "express";
import helmet from "helmet";
import type { Gateway } from "../../edge/gateway";
import { countByAddress } from "../../edge/rate/counting";
import { fixed, keep, sendKept, type CompressedText } from "../compressed";
import { DOCS_PATH, ICON_PATH, MAX_QUERY_CHARS, SCRIPT_PATH, SEARCH_PATH, STYLE_PATH } from "./layout";
import { SCRIPT } from "./script";
import type { Site } from "./site";
import { ICON, STYLE } from "./style";

const MARKDOWN = /\.md$/;
const NOT_FOUND = 404;
const MAX_AGE_MS = 60 * 60 * 1_000;

/** Blocks other hosts, and inline scripts and styles. */
const secure = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      "default-src": ["'none'"],
      "script-src": ["'self'"],
      "style-src": ["'self'"],
      "img-src": ["'self'"],
      "base-uri": ["'none'"],
      "form-action": ["'self'"],
      "frame-ancestors": ["'none'"],
    },
  },
});

const pageHandler = (site: Site): RequestHandler<{ path: string[] }> => {
  const pagesByPath = new Map<string, CompressedText>();
  const make = (path: string): CompressedText | undefined => {
    const isMarkdown = MARKDOWN.test(path);
    const text = isMarkdown ? site.markdown(path.replace(MARKDOWN, "")) : site.html(path);
    return text === undefined ? undefined : keep(isMarkdown ? "text/markdown; charset=utf-8" : "html", text);
  };
  return (request, response, next) => {
    const path = request.params.path.join("/");
    const page = pagesByPath.get(path) ?? make(path);
    if (page) {
      pagesByPath.set(path, page);
      return sendKept(page, request, response);
    }
    const file = site.file(path);
    if (file === undefined) {
      if (request.accepts(["json", "html"]) !== "html") return next();
      return void response.status(NOT_FOUND).type("html").send(site.missing());
    }
    response.sendFile(file, { maxAge: MAX_AGE_MS });
  };
};

type Counter = Pick<Gateway, "rateLimits" | "anonymousLimit" | "ownIds">;

const searchHandler =
  (site: Site, gateway: Counter): RequestHandler =>
  async (request, response) => {
    const query = typeof request.query.q === "string" ? request.query.q.trim() : "";
    if (query.length > MAX_QUERY_CHARS) throw invalidRequest([{ path: "q", message: `must be at most ${MAX_QUERY_CHARS} characters` }]);
    response.set(await countByAddress(gateway, request, `GET ${SEARCH_PATH}`));
    sendKept(keep("html", await site.search(query)), request, response);
  };

/** Serves /docs: front page, pages as HTML and Markdown, pictures, and search. */
export const siteRouter = (site: Site, gateway: Counter): Router => {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(DOCS_PATH, secure);
  router.get(`${DOCS_PATH}/`, (_request, response) => response.redirect(DOCS_PATH));
  router.get([DOCS_PATH, `${DOCS_PATH}/guide`], fixed("html", site.front));
  router.get(
    STYLE_PATH,
    fixed("css", () => STYLE),
  );
  router.get(
    SCRIPT_PATH,
    fixed("text/javascript", () => SCRIPT),
  );
  router.get(
    ICON_PATH,
    fixed("svg", () => ICON),
  );
  router.get(SEARCH_PATH, searchHandler(site, gateway));
  router.get(`${DOCS_PATH}/*path`, pageHandler(site));
  return router;
};
