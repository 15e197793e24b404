import { isKeyAddress } from "@nodeloom/kernel";
import type { CatalogModel, StoredKeys } from "./catalog-model";
import type { Override } from "./override-check";
import type { RegisteredModel } from "./registry";

const isStored = (keys: StoredKeys, name: string, { provider }: RegisteredModel): boolean => {
  const addresses = keys.get(name);
  // If the URL still contains an unset variable, that variable is reported as missing separately.
  return addresses !== undefined && (!URL.canParse(provider.baseUrl) || isKeyAddress(addresses, new URL(provider.baseUrl)));
};

/** A model with its overrides. */
export const merged = (model: RegisteredModel, keys: StoredKeys, override: Override = {}): CatalogModel => {
  const missing = model.missing.filter((name) => !isStored(keys, name, model));
  const price = override.price ?? model.price;
  return {
    ...model,
    missing,
    environmentLacks: model.missing,
    price,
    minTier: override.minTier ?? model.minTier,
    fallback: override.fallback ?? [],
    enabled: (override.enabled ?? model.enabled) && model.retired !== true && missing.length === 0 && price !== null,
  };
};
