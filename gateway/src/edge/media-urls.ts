/** Signs addresses of stored files in replies, and checks and removes the signatures in requests. */

import { createMediaUrls, invalidInputs, invalidRequest, isUnavailable, type Issue } from "@nodeloom/kernel";
import { admitUrls, sentByKey, signaturesOf, type Logger } from "@nodeloom/platform";
import { media } from "@nodeloom/proto";
import { LRUCache } from "lru-cache";
import type { Caller } from "../auth/caller";
import type { Services } from "../clients/services";

const REMEMBERED = 50_000;
const HOUR_MS = 3_600_000;
/** How long a refusal is cached: the caller can get access soon. */
const UNREADABLE_MS = 30_000;
/** Maximum number of other accounts' files in one body: more than a batch with ten in each row. */
const MAX_SENT = 20_000;
/** Maximum number of values searched for the path of an address. */
const MAX_PLACES = 20_000;

export interface SentAddresses {
  text: string;
  urls: media.SentUrl[];
}

/** The reader of a file. A visitor's addresses last for an hour. */
type Reader = { user: Pick<Caller["user"], "id">; visitor?: Caller["visitor"] | true | undefined } | undefined;

export interface AddressDoor {
  /** Moves addresses from earlier base URLs to the current one, and signs them for a caller. Addresses of files that the caller can't read stay unsigned. */
  leave(text: string, caller: Reader): Promise<string>;
  /**
   * An address by which a caller reads a file; undefined if the caller can't read it.
   * @throws SERVICE_UNAVAILABLE while media is unavailable
   */
  readable(url: string, caller: Reader): Promise<string | undefined>;
  /** Removes signatures from a caller's text, and returns the addresses in it. Addresses with an earlier base URL are moved. */
  enter(text: string): SentAddresses;
  /**
   * Accepts addresses of the caller's own and of public files, and addresses with a valid signature.
   * @param value the text's value, to find the path of a rejected address
   * @throws DomainError INVALID_REQUEST, or INVALID_INPUTS for a run; SERVICE_UNAVAILABLE while media is unavailable
   */
  admit(urls: readonly media.SentUrl[], caller: Reader, from: { value: unknown; forRun: boolean }): Promise<void>;
}

/** Path at which a value names a file: `inputs.image`, `nodes.3.data.url`. */
const placeOf = (value: unknown, key: string): string => {
  const open: [string, unknown][] = [["", value]];
  for (let placeCount = 0; open.length > 0 && placeCount < MAX_PLACES; placeCount += 1) {
    const [path, one] = open.pop()!;
    if (typeof one === "string" && one.includes(key)) return path;
    if (typeof one !== "object" || one === null) continue;
    for (const [name, member] of Object.entries(one)) open.push([path === "" ? name : `${path}.${name}`, member]);
  }
  return "";
};

const REFUSED =
  "names a private file of another account, and the address has expired or has no signature: read it again where you got it, or upload the file";

interface Access {
  /** The signature; undefined if the reader has no access of their own. */
  query: string | undefined;
  /** True for a private file of another account without a grant. */
  isRefused: boolean;
}

export interface AddressDoorOptions {
  media: Pick<Services["media"], "signUrls" | "admitUrls">;
  publicBaseUrl: string;
  formerBaseUrls?: readonly string[];
  logger: Logger;
}

export const createAddressDoor = ({ media: service, publicBaseUrl, formerBaseUrls, logger }: AddressDoorOptions): AddressDoor => {
  const urls = createMediaUrls(publicBaseUrl, formerBaseUrls);
  /** Cached by reader and key. Signatures are renewed each hour. */
  const knownUrls = new LRUCache<string, Access>({ max: REMEMBERED });
  const nameOf = ({ user, visitor }: NonNullable<Reader>, key: string): string => `${visitor ? "visitor" : "account"} ${user.id} ${key}`;

  const ask = async (keys: readonly string[], caller: NonNullable<Reader>): Promise<void> => {
    const lifetime = caller.visitor ? media.UrlLifetime.URL_LIFETIME_VISITOR : media.UrlLifetime.URL_LIFETIME_UNSPECIFIED;
    const { queries, refused } = await signaturesOf(service, keys, { ownerId: caller.user.id, lifetime });
    const unreadable = new Set(refused);
    const untilNextHour = HOUR_MS - (Date.now() % HOUR_MS);
    for (const key of keys) {
      const query = queries.get(key);
      const ttl = query === undefined ? UNREADABLE_MS : untilNextHour;
      knownUrls.set(nameOf(caller, key), { query, isRefused: unreadable.has(key) }, { ttl });
    }
  };

  return {
    leave: async (storedText, caller) => {
      const text = urls.current(storedText);
      const keys = caller ? urls.keysIn(text) : [];
      if (!caller || keys.length === 0) return text;
      const lacking = keys.filter((key) => !knownUrls.has(nameOf(caller, key)));
      try {
        if (lacking.length > 0) await ask(lacking, caller);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        // A caller who reads again gets signed addresses. Without media, the files can't be read either.
        logger.warn({ reason: (error as Error).message }, "addresses of files leave without signatures");
      }
      const queries = keys.flatMap((key): [string, string][] => {
        const query = knownUrls.get(nameOf(caller, key))?.query;
        return query ? [[key, query]] : [];
      });
      return urls.signed(text, new Map(queries));
    },
    readable: async (storedUrl, caller) => {
      const url = urls.current(storedUrl);
      const [key] = urls.keysIn(url);
      if (key === undefined || !caller) return url;
      if (!knownUrls.has(nameOf(caller, key))) await ask([key], caller);
      const { query, isRefused } = knownUrls.get(nameOf(caller, key)) ?? {};
      if (isRefused) return undefined;
      return query === undefined ? url : urls.signed(url, new Map([[key, query]]));
    },
    enter: (text) => urls.unsigned(urls.current(text)),
    admit: async (sentUrls, caller, { value, forRun }) => {
      if (!caller) return;
      const unknownUrls = caller.visitor ? sentUrls : sentUrls.filter(({ key }) => !knownUrls.get(nameOf(caller, key))?.query);
      if (unknownUrls.length === 0) return;
      const byKey = sentByKey(unknownUrls);
      if (byKey.size > MAX_SENT)
        throw invalidRequest([{ path: "", message: `names ${byKey.size} stored files; at most ${MAX_SENT} are allowed` }]);
      const refusedKeys = await admitUrls(service, byKey, { ownerId: caller.user.id, byVisitor: caller.visitor !== undefined });
      for (const key of byKey.keys()) knownUrls.delete(nameOf(caller, key));
      if (refusedKeys.length === 0) return;
      const issues = refusedKeys.map((key): Issue => ({ path: placeOf(value, key), message: REFUSED }));
      throw (forRun ? invalidInputs : invalidRequest)(issues);
    },
  };
};
