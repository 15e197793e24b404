import { createFreshValue, PLATFORM_OWNER, type ClientOf } from "@nodeloom/platform";
import { PROVIDER_ACCOUNTS } from "@nodeloom/providers";
import type { identity, models } from "@nodeloom/proto";
import type { CatalogModel, StoredKeys } from "./catalog";

/** Keys of providers: which models need which, and whether they are there, in the environment or in identity. */

/** How long a key that was added or removed may go unseen. */
const FRESH_MS = 500;
const DEADLINE_MS = 1_000;
/** Identity is not asked again for so long after it did not answer: every look at a model would wait for it. */
const AWAY_MS = 5_000;

export type Identity = Pick<ClientOf<identity.IdentityServiceServer>, "listSecrets">;

export interface ConsoleKeysOptions {
  identity: Identity;
  /** Called when identity can't be asked and what it said last holds. */
  onStale: (error: unknown) => void;
}

/** The keys that identity has, each with the addresses that it was stored for. While it can't be asked, those that it had last; none before it was there. */
export const createConsoleKeys = ({ identity, onStale }: ConsoleKeysOptions): (() => Promise<StoredKeys>) => {
  let last: StoredKeys = new Map();
  let askAgainAt = 0;
  return createFreshValue({
    freshMs: FRESH_MS,
    staleMs: FRESH_MS,
    load: async () => {
      if (Date.now() < askAgainAt) return last;
      try {
        const { secrets } = await identity.listSecrets({ owner: PLATFORM_OWNER }, { deadlineMs: DEADLINE_MS });
        last = new Map(secrets.map(({ name, hosts }) => [name, hosts]));
      } catch (error) {
        askAgainAt = Date.now() + AWAY_MS;
        onStale(error);
      }
      return last;
    },
  });
};

/** The variable of the key that a model needs; undefined where it needs none. */
export const keyOf = ({ provider: { auth, server } }: Pick<CatalogModel, "provider">): string | undefined =>
  // That of a server is set with it.
  auth && auth.default === undefined && !server ? auth.secretEnv : undefined;

const addressesOf = ({ provider }: Pick<CatalogModel, "provider">): string[] => {
  const pollHosts = "pollHosts" in provider ? (provider.pollHosts ?? []) : [];
  const urls = [provider.baseUrl, ...(provider.upload?.baseUrl === undefined ? [] : [provider.upload.baseUrl])];
  // An address may lack a variable of the environment still.
  const origins = urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin);
  return [...origins, ...pollHosts.map((host) => (host.startsWith("*.") ? host : `https://${host}`))];
};

/** Every key that some model needs, by name. */
export const providerKeys = (all: readonly CatalogModel[]): models.ProviderKey[] => {
  const byName = new Map<string, models.ProviderKey>();
  for (const model of all) {
    const name = keyOf(model);
    if (name === undefined) continue;
    const known = byName.get(name) ?? {
      name,
      account: PROVIDER_ACCOUNTS[name]?.name ?? name,
      keysUrl: PROVIDER_ACCOUNTS[name]?.keysUrl ?? "",
      inEnvironment: !model.environmentLacks.includes(name),
      testable: PROVIDER_ACCOUNTS[name]?.check !== undefined,
      models: [],
      addresses: [],
    };
    const addresses = [...new Set([...known.addresses, ...addressesOf(model)])];
    byName.set(name, { ...known, models: [...known.models, model.internalName], addresses });
  }
  return [...byName.values()].sort((one, other) => one.account.localeCompare(other.account));
};
