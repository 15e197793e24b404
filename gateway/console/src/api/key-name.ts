import type { ApiKey } from "@nodeloom/client";
import { COMMON } from "../messages/common";

export type NamedKey = Pick<ApiKey, "id" | "name"> & { deletedAt?: string | undefined };

/**
 * The name of a key. A deleted key is marked as such.
 * @param otherwise shown if the caller can't read the key's name
 */
export const keyName = (keys: readonly NamedKey[], keyId: string, otherwise: string): string => {
  const key = keys.find(({ id }) => id === keyId);
  if (!key) return otherwise;
  return key.deletedAt === undefined ? key.name : COMMON.deletedKey(key.name);
};
