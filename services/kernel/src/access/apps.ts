/** Constants of published workflow pages (apps), shared by the gateway and the console. */

export const APP_PAYERS = ["owner", "runner"] as const;
export type AppPayer = (typeof APP_PAYERS)[number];
export const APP_THEMES = ["auto", "light", "dark"] as const;
export type AppTheme = (typeof APP_THEMES)[number];

export const APP_BOUNDS = {
  titleChars: 100,
  coverChars: 400,
  /** Origins that can embed one app. */
  origins: 20,
  originChars: 300,
  /** The highest daily run limit per visitor that an owner can set. */
  visitorRuns: 1_000,
  visitorChars: 100,
  listed: 100,
} as const;

/** Prefix of metadata names that only the platform can set. */
export const RESERVED_METADATA = "nodeloom.";
/** Metadata of a run started by an app's visitor: the app's slug and the visitor's id. The app's daily budget counts runs by slug. */
export const APP_METADATA = { app: `${RESERVED_METADATA}app`, visitor: `${RESERVED_METADATA}visitor` } as const;

/** Stricter than URL parsers, which accept `;` and `*` (in a Content-Security-Policy, `*` allows every host). */
const HOST = /^(?:\[[0-9a-f:]+\]|\w[\w-]*(?:\.\w[\w-]*)*\.?)$/;

/** True for an origin in the form browsers send: `https://example.com`, without a path or a wildcard. */
export const isOrigin = (text: string): boolean => {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { origin, hostname } = new URL(text);
  return origin === text && HOST.test(hostname);
};
