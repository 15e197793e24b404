/**
 * Finds URLs of stored files in JSON texts. Outgoing texts get signed URLs; signatures are removed from incoming texts. Stored texts can
 * have URLs with a base that the platform had before it moved.
 */

/** File names are 32 hexadecimal digits and an extension. JSON encoders may escape slashes and the signs of a query. */
const SLASH = String.raw`(?:\\?/|\\u002[fF])`;
const KEY = "([0-9a-f]{32}\\.[a-z0-9]{1,8})(?![\\w-]|\\.\\w)";
const QUERY = String.raw`((?:\?|\\u003[fF])(?:[\w.=%+~-]|&(?:amp;)?|\\u0026|\\u003[dD])*)?`;

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Splits a query into its parameters, after undoing the escapes of the surrounding text. */
const plainQuery = (query: string): string[] =>
  query
    .replace(/^(?:\?|\\u003[fF])/, "")
    .replace(/\\u0026|&amp;/g, "&")
    .replace(/\\u003[dD]/g, "=")
    .split("&")
    .filter((part) => part !== "");

const EXPIRES = "e=";
const SIGNATURE = "s=";
const isOfSignature = (part: string): boolean => part.startsWith(EXPIRES) || part.startsWith(SIGNATURE);
const joined = (parts: readonly string[]): string => (parts.length === 0 ? "" : `?${parts.join("&")}`);

const withoutSlashes = (baseUrl: string): string => baseUrl.replace(/(?<!\/)\/+$/, "");

/** Prefix of the URLs of stored files. */
export const mediaPrefix = (baseUrl: string): string => `${withoutSlashes(baseUrl)}/media/`;

/** A URL as a client sent it: the file, and the parameters `e` and `s`, which are empty if they were missing. */
export interface SentUrl {
  key: string;
  expires: string;
  signature: string;
}

export interface MediaUrls {
  /** Returns the keys of the files whose URLs are in a text. */
  keysIn(text: string): string[];
  /** Adds available signatures to the URLs in a text. Other parameters stay. */
  signed(text: string, queries: ReadonlyMap<string, string>): string;
  /** Removes signatures from the URLs in a text. Returns the text and the URLs as they were sent. */
  unsigned(text: string): { text: string; urls: SentUrl[] };
  /** Moves the URLs with a former base to the current one. */
  current(text: string): string;
  /** Replaces the URLs of some files in a text with other names. */
  renamed(text: string, names: ReadonlyMap<string, string>): string;
}

const patternOf = (baseUrl: string): string => escaped(withoutSlashes(baseUrl)).replaceAll("/", SLASH);

/** Moves URLs of stored files from former base URLs to the current one. */
const createMove = (baseUrl: string, formerBaseUrls: readonly string[]): MediaUrls["current"] => {
  const otherUrls = formerBaseUrls.map(withoutSlashes).filter((url) => url !== withoutSlashes(baseUrl));
  if (otherUrls.length === 0) return (text) => text;
  // A former base inside another URL, such as a proxy's parameter, isn't the start of a URL of this platform.
  const pattern = new RegExp(
    String.raw`(?<!(?<!\\)[\w./:=%@-])(?:${otherUrls.map(patternOf).join("|")})(?=${SLASH}media${SLASH}${KEY})`,
    "g",
  );
  return (text) => (text.includes("media") ? text.replace(pattern, withoutSlashes(baseUrl)) : text);
};

/**
 * @param baseUrl the platform's URL as clients use it. URLs with this base are recognized, and so are paths without a host
 * @param formerBaseUrls base URLs that the platform had before; only `current` recognizes them
 */
export const createMediaUrls = (baseUrl: string, formerBaseUrls: readonly string[] = []): MediaUrls => {
  const pattern = new RegExp(`((?:${patternOf(baseUrl)}|(?<="))${SLASH}media${SLASH})${KEY}${QUERY}`, "g");
  /** A fast check without the pattern, because most texts contain no URL of a file. */
  const mayHave = (text: string): boolean => text.includes("media");

  return {
    keysIn: (text) => (mayHave(text) ? [...new Set([...text.matchAll(pattern)].map(([, , key]) => key!))] : []),
    current: createMove(baseUrl, formerBaseUrls),
    renamed: (text, names) => text.replace(pattern, (whole, _start, key: string) => names.get(key) ?? whole),
    signed: (text, queries) => {
      if (queries.size === 0) return text;
      return text.replace(pattern, (whole, start: string, key: string, query = "") => {
        const signature = queries.get(key);
        if (signature === undefined) return whole;
        return start + key + joined([signature, ...plainQuery(query as string).filter((part) => !isOfSignature(part))]);
      });
    },
    unsigned: (text) => {
      if (!mayHave(text)) return { text, urls: [] };
      const urls: SentUrl[] = [];
      const plain = text.replace(pattern, (whole, start: string, key: string, query = "") => {
        const parts = plainQuery(query as string);
        const valueOf = (name: string): string => parts.find((part) => part.startsWith(name))?.slice(name.length) ?? "";
        urls.push({ key, expires: valueOf(EXPIRES), signature: valueOf(SIGNATURE) });
        const otherParts = parts.filter((part) => !isOfSignature(part));
        return otherParts.length === parts.length ? whole : start + key + joined(otherParts);
      });
      return { text: plain, urls };
    },
  };
};
