import { DomainError, isKeyAddress } from "@nodeloom/kernel";
import { createFreshValue, PLATFORM_OWNER } from "@nodeloom/platform";
import { createTransport, type DialectContext, PROVIDER_ACCOUNTS, ProviderError, type ProviderSettings } from "@nodeloom/providers";
import type { executions } from "@nodeloom/proto";
import type { Identity, Models } from "../clients";

/** Keys of providers, from the environment or from identity, which stores the ones entered in the console. */

/** How long a replaced or removed key may still be used. */
const FRESH_MS = 500;
/** How long a key is used while identity is unavailable. */
const STALE_MS = 600_000;
const READ_MS = 2_000;
const CHECK_MS = 10_000;

export type ReadSecret = DialectContext["secret"];

interface StoredKey {
  value: string | undefined;
  /** Addresses that may receive the key. */
  addresses: readonly string[];
}

/**
 * The environment comes first, then the default of a registry entry, then identity, whose keys go only to the addresses stored with them.
 */
export const createProviderKeys = (
  identity: Pick<Identity, "readSecrets">,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ReadSecret => {
  const kept = new Map<string, () => Promise<StoredKey>>();
  const fromIdentity = async (name: string, url: string): Promise<string | undefined> => {
    const load = async (): Promise<StoredKey> => {
      const { values, hosts } = await identity.readSecrets({ owner: PLATFORM_OWNER, names: [name] }, { deadlineMs: READ_MS });
      return { value: values[name], addresses: hosts[name]?.hosts ?? [] };
    };
    const get = kept.get(name) ?? createFreshValue({ load, freshMs: FRESH_MS, staleMs: STALE_MS });
    kept.set(name, get);
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
 * Tests a key with a free request, sent as the models would send it.
 * @throws DomainError NOT_FOUND if no model needs it; NOT_CONFIGURED or SERVICE_UNAVAILABLE if it can't be read
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
