/** Addresses of stored files in JSON texts: how they leave, signed, and how they enter, without their signatures. */

/** Files are named by 32 hexadecimal digits and an extension. JSON encoders may escape slashes and the signs of a query. */
const SLASH = String.raw`(?:\\?/|\\u002[fF])`;
const KEY = "([0-9a-f]{32}\\.[a-z0-9]{1,8})(?![\\w-]|\\.\\w)";
const QUERY = String.raw`((?:\?|\\u003[fF])(?:[\w.=%+~-]|&(?:amp;)?|\\u0026|\\u003[dD])*)?`;

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** A query as it is meant, whatever the text around it escapes. */
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

/** The beginning of the addresses of stored files. */
export const mediaPrefix = (baseUrl: string): string => `${withoutSlashes(baseUrl)}/media/`;

/** An address as it was sent: its file, and the parameters `e` and `s`, which are empty where there were none. */
export interface SentUrl {
  key: string;
  expires: string;
  signature: string;
}

export interface MediaUrls {
  /** The keys of the addresses in a text. */
  keysIn(text: string): string[];
  /** A text whose addresses have signatures, where there is one. Other parameters stay. */
  signed(text: string, queries: ReadonlyMap<string, string>): string;
  /** A text whose addresses have no signatures, and the addresses as they were sent. */
  unsigned(text: string): { text: string; urls: SentUrl[] };
  /** A text with other words for the addresses of some files. */
  renamed(text: string, names: ReadonlyMap<string, string>): string;
}

/** @param baseUrl the platform as clients see it; its addresses count, and those that are a path alone */
export const createMediaUrls = (baseUrl: string): MediaUrls => {
  const base = escaped(withoutSlashes(baseUrl)).replaceAll("/", SLASH);
  const pattern = new RegExp(`((?:${base}|(?<="))${SLASH}media${SLASH})${KEY}${QUERY}`, "g");
  /** Most texts have none: told without the pattern. */
  const mayHave = (text: string): boolean => text.includes("media");

  return {
    keysIn: (text) => (mayHave(text) ? [...new Set([...text.matchAll(pattern)].map(([, , key]) => key!))] : []),
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
        const kept = parts.filter((part) => !isOfSignature(part));
        return kept.length === parts.length ? whole : start + key + joined(kept);
      });
      return { text: plain, urls };
    },
  };
};
