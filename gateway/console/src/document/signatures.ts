/** Signatures of file addresses: documents store addresses without signatures, and pictures are shown with them. */
import { createMediaUrls, type MediaUrls } from "@nodeloom/kernel/media-urls";

let mediaUrls: MediaUrls | undefined;
const urls = (): MediaUrls => (mediaUrls ??= createMediaUrls(location.origin));

/** The newest signature of each file that this page has seen, as a query. */
const newest = new Map<string, { query: string; expires: number }>();
/** More files than a page shows. The oldest entries are dropped first. */
const MOST = 20_000;

/** Removes signatures from a text and remembers them. */
export const withoutSignatures = (text: string): string => {
  if (!text.includes("/media/")) return text;
  const { text: plain, urls: sentUrls } = urls().unsigned(text);
  for (const { key, expires, signature } of sentUrls) {
    if (signature === "" || (newest.get(key)?.expires ?? 0) >= Number(expires)) continue;
    newest.delete(key);
    newest.set(key, { query: `e=${expires}&s=${signature}`, expires: Number(expires) });
    if (newest.size > MOST) newest.delete(newest.keys().next().value!);
  }
  return plain;
};

/** An address with the newest known signature. */
export const withSignature = (url: string): string => {
  const plain = withoutSignatures(url);
  const queries = urls()
    .keysIn(plain)
    .flatMap((key): [string, string][] => {
      const newestUrl = newest.get(key);
      return newestUrl ? [[key, newestUrl.query]] : [];
    });
  return urls().signed(plain, new Map(queries));
};

const MS = 1_000;

/** True if an address has an expiry in the past. */
export const isExpired = (url: string): boolean => Number(/[?&]e=(\d+)/.exec(url)?.[1] ?? Infinity) * MS <= Date.now();
