import { isKeyAddress } from "@nodeloom/kernel";
import { PLATFORM_OWNER, type ClientOf, type Logger, type OwnServers } from "@nodeloom/platform";
import type { identity as identityProto } from "@nodeloom/proto";
import type { NamedServer } from "./environment";
import { createServers, type Servers } from "./servers";
import type { ServerStore } from "./store";

const READ_MS = 2_000;

export interface OpenServersOptions {
  store: ServerStore;
  /** Servers set in the environment. */
  environmentServers: readonly NamedServer[];
  ownServers: OwnServers;
  identity: Pick<ClientOf<identityProto.IdentityServiceServer>, "readSecrets">;
  logger: Logger;
}

/**
 * Reads server keys from identity for each listing. Returns undefined if a key was stored for another address, or identity is unreachable.
 */
const createKeys =
  ({ identity, logger }: Pick<OpenServersOptions, "identity" | "logger">) =>
  async (name: string, url: string): Promise<string | undefined> => {
    try {
      const { values, hosts } = await identity.readSecrets({ owner: PLATFORM_OWNER, names: [name] }, { deadlineMs: READ_MS });
      return isKeyAddress(hosts[name]?.hosts ?? [], new URL(url)) ? values[name] : undefined;
    } catch (error) {
      logger.debug({ err: error, secret: name }, "the key of a model server could not be read");
      return undefined;
    }
  };

/** Opens the registry of servers, including those set in the environment. */
export const openServers = async ({ store, environmentServers, ownServers, identity, logger }: OpenServersOptions): Promise<Servers> => {
  await store.setEnvironment(environmentServers.map(({ id, ...rest }) => ({ _id: id, ...rest })));
  return createServers({
    store,
    servers: ownServers,
    secret: createKeys({ identity, logger }),
    onStale: (error) => logger.warn({ err: error }, "model servers could not be read; what was known last stays"),
  });
};
