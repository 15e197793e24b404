import { existsSync } from "node:fs";
import { join } from "node:path";
import { unlessNotFound } from "@nodeloom/kernel";
import { Router, type RequestHandler } from "express";
import helmet from "helmet";
import type { Gateway } from "../edge/gateway";
import { countByAddress } from "../edge/rate/counting";
import { renderError, send } from "../edge/reply";
import { contentSecurity } from "./content-security";
import { readFile, sendFile } from "./files";
import { CONSOLE_FOLDER } from "./router";

/** The small page of apps for visitors, which other sites can embed. */
const PAGE = "/app.html";
const SCRIPT = "/embed.js";
const NOT_FOUND = 404;
const ASK_FIRST = "no-cache";

export interface AppPagesOptions {
  gateway: Pick<Gateway, "apps" | "logger" | "rateLimits" | "anonymousLimit" | "ownIds">;
  /** Other origins of media, such as a bucket or a CDN. */
  mediaOrigins: readonly string[];
  folder?: string;
}

/** @param ancestors origins whose pages can embed this page */
const secure = (mediaOrigins: readonly string[], ancestors: readonly string[]): RequestHandler =>
  helmet({
    // `frame-ancestors` is more precise than X-Frame-Options.
    frameguard: false,
    crossOriginResourcePolicy: { policy: "cross-origin" },
    contentSecurityPolicy: contentSecurity(mediaOrigins, { "form-action": ["'none'"], "frame-ancestors": ["'self'", ...ancestors] }),
  });

/**
 * `/a/<slug>`: an app; `/apps/<account>`: an account's apps; `/embed.js`: embeds an app in another site. Without a built console nothing is
 * served.
 */
export const appPages = ({ gateway, mediaOrigins, folder = CONSOLE_FOLDER }: AppPagesOptions): Router => {
  const router = Router({ caseSensitive: true, strict: true });
  if (!existsSync(join(folder, PAGE))) return router;
  const [app, script] = [readFile(join(folder, PAGE)), readFile(join(folder, SCRIPT))];

  const page =
    (name: string, ancestorsOf: (appName: string) => Promise<readonly string[] | undefined>): RequestHandler =>
    (request, response, next) => {
      const answer = async (): Promise<void> => {
        await countByAddress(gateway, request, name);
        const ancestors = await ancestorsOf(Object.values(request.params).join());
        response.removeHeader("X-Frame-Options");
        response.vary("Accept-Encoding");
        response.setHeader("Cache-Control", ASK_FIRST);
        // The page reports that the app doesn't exist.
        if (ancestors === undefined) response.status(NOT_FOUND);
        secure(mediaOrigins, ancestors ?? [])(request, response, (error?: unknown) => {
          if (error) return next(error);
          sendFile(app, request, response);
        });
      };
      answer().catch((error: unknown) => send(response, renderError(error, gateway)));
    };

  router.get(
    "/a/:slug",
    page("GET /a", async (slug) => (await unlessNotFound(gateway.apps.find(slug)))?.settings.origins),
  );
  router.get(
    "/apps/:owner",
    page("GET /apps", () => Promise.resolve([])),
  );
  router.get(SCRIPT, (request, response) => {
    response.vary("Accept-Encoding");
    response.setHeader("Cache-Control", ASK_FIRST);
    // Other sites load this script.
    response.setHeader("Cross-Origin-Resource-Policy", "cross-origin");
    sendFile(script, request, response);
  });
  return router;
};
