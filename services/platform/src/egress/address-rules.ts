import { lookup as dnsLookup } from "node:dns";
import { isIP } from "node:net";
import { canonicalTargets, checkUrl, EgressError, isPublicAddress, NOT_ONLY_PUBLIC, egressRefusal, targetOf, type Lookup } from "./address";

/** Applies the guarded client's rules to URLs that another system fetches, such as a provider. */
export interface AddressRules {
  /** The reason why the URL is rejected, without a DNS lookup; undefined if it is accepted. */
  problem(url: string): string | undefined;
  /** Like `problem`, with a DNS lookup. A name that can't be resolved before the deadline is accepted, because it can't be reached. */
  resolvedProblem(url: string): Promise<string | undefined>;
}

export interface AddressRulesOptions {
  /** Exceptions to the rules, as `host:port`. */
  allow?: readonly string[];
  /** URL prefix of files in media storage, which are always accepted. */
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
      const urlProblem = problem(url);
      if (urlProblem !== undefined || isOwn(url)) return urlProblem;
      const target = new URL(url);
      const host = target.hostname.replace(/^\[|\]$/g, "");
      if (isIP(host) || allowed.has(targetOf(target))) return undefined;
      return (await leadsInside(host, lookup, lookupTimeoutMs)) ? egressRefusal(NOT_ONLY_PUBLIC, target.host).message : undefined;
    },
  };
};
