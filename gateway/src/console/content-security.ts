import type { HelmetOptions } from "helmet";

/**
 * Scripts, styles and fonts come from here alone; no style or script stands in a page itself.
 * @param mediaOrigins origins besides our own that media come from: a bucket, a CDN
 * @param own directives of the one page
 */
export const contentSecurity = (mediaOrigins: readonly string[], own: Readonly<Record<string, string[]>>) =>
  ({
    useDefaults: false,
    directives: {
      "default-src": ["'none'"],
      "script-src": ["'self'"],
      "style-src": ["'self'"],
      "img-src": ["'self'", "blob:", "data:", ...mediaOrigins],
      "media-src": ["'self'", "blob:", ...mediaOrigins],
      "font-src": ["'self'"],
      "connect-src": ["'self'"],
      "base-uri": ["'none'"],
      "object-src": ["'none'"],
      ...own,
    },
  }) satisfies HelmetOptions["contentSecurityPolicy"];
