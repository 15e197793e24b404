import { DomainError, isKeyAddress } from "@nodeloom/kernel";
import { createFreshValue, PLATFORM_OWNER } from "@nodeloom/platform";
import { createTransport, type DialectContext, PROVIDER_ACCOUNTS, ProviderError, type ProviderSettings } from "@nodeloom/providers";
import type { executions } from "@nodeloom/proto";
import type { Identity, Models } from "../clients";

/** Reads provider keys from the environment or from identity, which stores the keys entered in the console. */

/** How long a replaced or removed key can still be used. */
const FRESH_MS = 500;
/** How long a key is used while identity is unavailable. */
const STALE_MS = 600_000;
const READ_MS = 2_000;
const CHECK_MS = 10_000;

export type ReadSecret = DialectContext["secret"];

interface StoredKey {
  value: string | undefined;
  /** Addresses to which the key can be sent. */
  addresses: readonly string[];
}

/**
 * Looks for a key in the environment, then for the default of the registry entry, then in identity. Keys from identity are sent only to the
 * addresses stored with them.
 */
export const createProviderKeys = (
  identity: Pick<Identity, "readSecrets">,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ReadSecret => {
  const cachedKeys = new Map<string, () => Promise<StoredKey>>();
  const fromIdentity = async (name: string, url: string): Promise<string | undefined> => {
    const load = async (): Promise<StoredKey> => {
      const { values, hosts } = await identity.readSecrets({ owner: PLATFORM_OWNER, names: [name] }, { deadlineMs: READ_MS });
      return { value: values[name], addresses: hosts[name]?.hosts ?? [] };
    };
    const get = cachedKeys.get(name) ?? createFreshValue({ load, freshMs: FRESH_MS, staleMs: STALE_MS });
    cachedKeys.set(name, get);
    const { value, addresses } = await get();
    return isKeyAddress(addresses, new URL(url)) ? value : undefined;
  };
  return ({ secretEnv, default: usual }, url) => env[secretEnv] || usual || fromIdentity(secretEnv, url);
};

export interface KeyTestOptions extends DialectContext {
  models: Pick<Models, "listModels">;
}

const settingsWith = (name: string, providerJson: string): ProviderSettings | undefined => {
  const settings = JSON.parse(providerJson) as ProviderSettings;
  return settings.auth?.secretEnv === name ? settings : undefined;
};

const outcome = (error: ProviderError): executions.TestProviderKeyResponse => {
  const { kind, message, status: providerStatus = 0 } = error;
  return { outcome: kind === "refused" ? "refused" : "unreachable", message, providerStatus };
};

/**
 * Tests a key with a free request that is sent in the same way as requests of models.
 * @throws DomainError NOT_FOUND if no model needs the key; NOT_CONFIGURED or SERVICE_UNAVAILABLE if it can't be read
 */
export const createKeyTest =
  ({ models, ...context }: KeyTestOptions) =>
  async (name: string): Promise<executions.TestProviderKeyResponse> => {
    const listed = (await models.listModels({ includeDisabled: true })).models;
    const settings = listed.map(({ providerJson }) => settingsWith(name, providerJson)).find(Boolean);
    if (!settings?.auth) throw new DomainError("not_found", "NOT_FOUND", `no model needs a key ${name}`);
    const check = PROVIDER_ACCOUNTS[name]?.check;
    if (!check) return { outcome: "not_testable", message: "", providerStatus: 0 };
    if (!(await context.secret(settings.auth, settings.baseUrl))) return { outcome: "not_set", message: "", providerStatus: 0 };
    const url = new URL(check.path, settings.baseUrl).href;
    try {
      await createTransport(context, settings).done({ method: "GET", url, headers: { ...check.headers }, timeoutMs: CHECK_MS });
      return { outcome: "works", message: "", providerStatus: 0 };
    } catch (error) {
      if (error instanceof ProviderError) return outcome(error);
      throw error;
    }
  };
