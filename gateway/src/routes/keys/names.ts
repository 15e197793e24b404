import { groupBy } from "@nodeloom/kernel";
import type { identity } from "@nodeloom/proto";
import type { Gateway } from "../../edge/gateway";

type Names = ReadonlyMap<string, string>;

/**
 * Names of an account's API keys by id, also of deleted keys.
 * @param keyIds only these keys; without it, all
 */
export const keyNames = async ({ services }: Pick<Gateway, "services">, userId: string, keyIds?: readonly string[]): Promise<Names> => {
  if (keyIds?.length === 0) return new Map();
  const selection = keyIds && { keyIds: [...new Set(keyIds)] };
  const { keys } = await services.identity.listKeys({ userId, selection, withDeleted: true });
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
  const byKeys = groupBy(
    rows.filter(({ keyId }) => keyId !== ""),
    ({ actorId }) => ownerId ?? actorId,
  );
  const names = await Promise.all(
    [...byKeys].map(([userId, some]) =>
      keyNames(
        gateway,
        userId,
        some.map(({ keyId }) => keyId),
      ),
    ),
  );
  return new Map(names.flatMap((some) => [...some]));
};
