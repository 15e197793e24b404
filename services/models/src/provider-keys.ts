import { createFreshValue, PLATFORM_OWNER, type ClientOf } from "@nodeloom/platform";
import { PROVIDER_ACCOUNTS } from "@nodeloom/providers";
import type { identity, models } from "@nodeloom/proto";
import type { CatalogModel, StoredKeys } from "./catalog-model";

/** Provider keys: the models that need each key, and whether the environment or identity has it. */

/** How long an added or removed key can remain unnoticed. */
const FRESH_MS = 500;
const DEADLINE_MS = 1_000;
/** Pause after a failed request to identity, because otherwise every read of a model would wait for identity. */
const RETRY_MS = 5_000;

export type Identity = Pick<ClientOf<identity.IdentityServiceServer>, "listSecrets">;

export interface ConsoleKeysOptions {
  identity: Identity;
  /** Called when identity is unreachable and cached keys are used. */
  onStale: (error: unknown) => void;
}

/**
 * Returns the keys stored in identity, with the addresses that each key was stored for. Uses the cache while identity is unreachable; empty
 * before the first answer.
 */
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
        askAgainAt = Date.now() + RETRY_MS;
        onStale(error);
      }
      return last;
    },
  });
};

/** Returns the variable of a model's provider key; undefined if the model needs no key. */
export const keyOf = ({ provider: { auth, server } }: Pick<CatalogModel, "provider">): string | undefined =>
  // A server's key is set together with the server.
  auth && auth.default === undefined && !server ? auth.secretEnv : undefined;

const addressesOf = ({ provider }: Pick<CatalogModel, "provider">): string[] => {
  const pollHosts = "pollHosts" in provider ? (provider.pollHosts ?? []) : [];
  const urls = [provider.baseUrl, ...(provider.upload?.baseUrl === undefined ? [] : [provider.upload.baseUrl])];
  // A URL can still contain an unset variable.
  const origins = urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin);
  return [...origins, ...pollHosts.map((host) => (host.startsWith("*.") ? host : `https://${host}`))];
};

/** All provider keys that models need, by name. */
export const providerKeys = (all: readonly CatalogModel[]): models.ProviderKey[] => {
  const byName = new Map<string, models.ProviderKey>();
  for (const model of all) {
    const name = keyOf(model);
    if (name === undefined) continue;
    const row = byName.get(name) ?? {
      name,
      account: PROVIDER_ACCOUNTS[name]?.name ?? name,
      keysUrl: PROVIDER_ACCOUNTS[name]?.keysUrl ?? "",
      inEnvironment: !model.environmentLacks.includes(name),
      testable: PROVIDER_ACCOUNTS[name]?.check !== undefined,
      models: [],
      addresses: [],
    };
    const addresses = [...new Set([...row.addresses, ...addressesOf(model)])];
    byName.set(name, { ...row, models: [...row.models, model.internalName], addresses });
  }
  return [...byName.values()].sort((one, other) => one.account.localeCompare(other.account));
};
