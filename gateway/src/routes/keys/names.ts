import type { identity } from "@nodeloom/proto";
import type { Gateway } from "../../edge/gateway";

type Names = ReadonlyMap<string, string>;

/** Names of an account's API keys by id, also of deleted keys. */
export const keyNames = async ({ services }: Pick<Gateway, "services">, userId: string): Promise<Names> => {
  const { keys } = await services.identity.listKeys({ userId, withDeleted: true });
  return new Map(keys.map(({ id, name }) => [id, name]));
};

/**
 * Names of the API keys in rows of an audit log.
 * @param ownerId whose log it is; undefined for that of administrators, who use keys of their own
 */
export const auditedKeyNames = async (
  gateway: Pick<Gateway, "services">,
  rows: readonly identity.AuditRow[],
  ownerId: string | undefined,
): Promise<Names> => {
  const userIds = new Set(rows.filter(({ keyId }) => keyId !== "").map(({ actorId }) => ownerId ?? actorId));
  const names = await Promise.all([...userIds].map((userId) => keyNames(gateway, userId)));
  return new Map(names.flatMap((some) => [...some]));
};
