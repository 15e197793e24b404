import { DomainError, unlessNotFound } from "@nodeloom/kernel";
import { PLATFORM_OWNER } from "@nodeloom/platform";
import { identity } from "@nodeloom/proto";
import type { CallContext } from "../../edge/route";

/** Keys of model servers: stored by identity, and sent only to the server's scheme, host and port. */

type Context = Pick<CallContext<"admin">, "gateway" | "caller">;

const nameOf = (id: string): string => `MODEL_SERVER_${id.toUpperCase().replaceAll("-", "_")}`;

/** @throws DomainError NOT_CONFIGURED if keys can't be stored */
export const assertKeysCanBeKept = async ({ gateway }: Context): Promise<void> => {
  const { configured } = await gateway.services.identity.listSecrets({ owner: PLATFORM_OWNER });
  if (!configured)
    throw new DomainError(
      "unavailable",
      "NOT_CONFIGURED",
      "the server's key can't be stored, because this installation has no encryption keys: set SECRETS_KEYS",
    );
};

export const putKey = async ({ gateway, caller }: Context, { id, url }: { id: string; url: string }, value: string): Promise<void> => {
  const secret = { owner: PLATFORM_OWNER, name: nameOf(id), hosts: [new URL(url).origin], setBy: caller.user.id };
  await gateway.services.identity.putSecret({ ...identity.PutSecretRequest.fromPartial(secret), value });
};

export const removeKey = async ({ gateway }: Context, id: string): Promise<void> => {
  await unlessNotFound(gateway.services.identity.deleteSecret({ owner: PLATFORM_OWNER, name: nameOf(id) }));
};
