import { lookup as dnsLookup } from "node:dns";
import { isIP } from "node:net";
import { canonicalTargets, checkUrl, EgressError, isPublicAddress, NOT_ONLY_PUBLIC, refused, targetOf, type Lookup } from "./address";

/** Rules of the guarded client for addresses that another system calls, such as a provider that fetches a picture. */
export interface AddressRules {
  /** Why the address is rejected, without a DNS look-up; undefined if it passes. */
  problem(url: string): string | undefined;
  /** As `problem`, after a DNS look-up. A name that can't be resolved before the deadline leads nowhere and passes. */
  resolvedProblem(url: string): Promise<string | undefined>;
}

export interface AddressRulesOptions {
  /** Exceptions as `host:port`. */
  allow?: readonly string[];
  /** Addresses with this prefix are files in Nodeloom's own storage and always allowed. */
  own?: string;
  lookup?: Lookup;
  lookupTimeoutMs?: number;
}

const LOOKUP_TIMEOUT_MS = 1_000;

const leadsInside = (host: string, lookup: Lookup, timeoutMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), timeoutMs);
    lookup(host, { all: true }, (error, addresses) => {
      clearTimeout(timer);
      resolve(!error && addresses.some(({ address }) => !isPublicAddress(address)));
    });
  });

const reasonOf = (error: unknown): string => {
  if (error instanceof EgressError) return error.message;
  throw error;
};

export const createAddressRules = ({
  allow = [],
  own,
  lookup = dnsLookup,
  lookupTimeoutMs = LOOKUP_TIMEOUT_MS,
}: AddressRulesOptions): AddressRules => {
  const allowed = canonicalTargets(allow);
  const isOwn = (url: string): boolean => own !== undefined && URL.canParse(url) && new URL(url).href.startsWith(own);

  const problem = (url: string): string | undefined => {
    if (isOwn(url)) return undefined;
    try {
      checkUrl(url, allowed);
      return undefined;
    } catch (error) {
      return reasonOf(error);
    }
  };

  return {
    problem,
    resolvedProblem: async (url) => {
      const found = problem(url);
      if (found !== undefined || isOwn(url)) return found;
      const target = new URL(url);
      const host = target.hostname.replace(/^\[|\]$/g, "");
      if (isIP(host) || allowed.has(targetOf(target))) return undefined;
      return (await leadsInside(host, lookup, lookupTimeoutMs)) ? refused(NOT_ONLY_PUBLIC, target.host).message : undefined;
    },
  };
};
