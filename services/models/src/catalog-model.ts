import type { RegisteredModel } from "./registry";

/** Keys set in the console: each name with the addresses that its key was stored for. */
export type StoredKeys = ReadonlyMap<string, readonly string[]>;

/** A model with its overrides. `missing` lists variables that neither the environment nor the console provides. */
export interface CatalogModel extends RegisteredModel {
  /** Variables that the environment doesn't provide. */
  environmentLacks: readonly string[];
  fallback: readonly string[];
}
