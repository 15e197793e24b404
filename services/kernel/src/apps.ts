/** A workflow's page for others: what both ends of it agree on. */

export const APP_PAYERS = ["owner", "runner"] as const;
export type AppPayer = (typeof APP_PAYERS)[number];
export const APP_THEMES = ["auto", "light", "dark"] as const;
export type AppTheme = (typeof APP_THEMES)[number];

/** Every bound of apps. */
export const APP_BOUNDS = {
  titleChars: 100,
  coverChars: 400,
  /** Origins that one app may be used from. */
  origins: 20,
  originChars: 300,
  /** Runs that one visitor may be allowed in a day. */
  visitorRuns: 1_000,
  /** Of a visitor's id. */
  visitorChars: 100,
  /** Apps in one gallery. */
  listed: 100,
} as const;

/** Names that the platform alone writes on runs begin so. */
export const RESERVED_METADATA = "nodeloom.";
/** What a run by an app's visitor carries: the app's slug, and the visitor's id. Its daily budget is that of the first. */
export const APP_METADATA = { app: `${RESERVED_METADATA}app`, visitor: `${RESERVED_METADATA}visitor` } as const;

/** A host name or an address. URL parsers take more, such as `*`, which a Content-Security-Policy reads as every host, and `;`. */
const HOST = /^(?:\[[0-9a-f:]+\]|\w[\w-]*(?:\.\w[\w-]*)*\.?)$/;

/** Whether a text is one origin as browsers send it: `https://example.com`, without a path or a wildcard. */
export const isOrigin = (text: string): boolean => {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { origin, hostname } = new URL(text);
  return origin === text && HOST.test(hostname);
};
