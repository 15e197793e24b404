import type { HelmetOptions } from "helmet";

/**
 * Allows scripts, styles and fonts from this origin only, and none inline.
 * @param mediaOrigins other origins of media, such as a bucket or a CDN
 * @param own additional directives of the page
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
