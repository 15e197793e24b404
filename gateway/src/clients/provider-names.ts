import { isRecord } from "@nodeloom/kernel";
import type { models } from "@nodeloom/proto";

/** Models by the names and parameters that their providers have for them. */

export interface ProviderName {
  internalName: string;
  /** The provider's parameters, as they are made from inputs. */
  body: Readonly<Record<string, unknown>>;
}

/** Providers' names of models: of those that some models share, the first model's. */
export type ProviderNames = ReadonlyMap<string, ProviderName>;

/** Names as providers such as fal and Replicate write them: `<owner>/<name>`, and perhaps a path. */
const OWNED = /^[^/]+(?:\/[^/]+)+$/;

const nameOf = ({ internalName, providerJson }: models.Model): { app: string; model: ProviderName } | undefined => {
  const settings: unknown = JSON.parse(providerJson || "{}");
  if (!isRecord(settings) || typeof settings.app !== "string" || !OWNED.test(settings.app)) return undefined;
  return { app: settings.app, model: { internalName, body: isRecord(settings.body) ? settings.body : {} } };
};

export const providerNames = ({ models }: models.ListModelsResponse): ProviderNames => {
  const byName = new Map<string, ProviderName>();
  for (const model of [...models].sort((a, b) => (a.internalName < b.internalName ? -1 : 1))) {
    const named = nameOf(model);
    if (named && !byName.has(named.app)) byName.set(named.app, named.model);
  }
  return byName;
};

const PLACE = /^\$\{(\w+)\}(\w*)$/;

/** The inputs that a value of a parameter stands for; undefined where the parameter isn't made from inputs in a way that can be read back. */
const placesOf = (part: unknown, value: unknown): Record<string, unknown> | undefined => {
  if (isRecord(part) && typeof part.$input === "string") return { [part.$input]: value };
  if (Array.isArray(part) && Array.isArray(value) && value.length <= part.length)
    return Object.assign({}, ...value.map((each, index) => placesOf(part[index], each))) as Record<string, unknown>;
  if (typeof part === "string") {
    const [, name, suffix = ""] = PLACE.exec(part) ?? [];
    const text = String(value);
    if (name !== undefined && text.endsWith(suffix) && text !== suffix)
      return { [name]: Number(text.slice(0, text.length - suffix.length)) };
  }
  return part === value ? {} : undefined;
};

/**
 * Inputs of a model from what its provider calls its parameters. Own names stay; a parameter that always has the given value is left out.
 * What nothing is known for stays as it is, so that the run refuses it by name.
 * @param isOwn whether the model has an input of a name
 */
export const inputsFrom = (
  body: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
  isOwn: (name: string) => boolean,
): Record<string, unknown> => {
  const parts = Object.entries(given).map(([name, value]) => {
    const places = isOwn(name) || !Object.hasOwn(body, name) ? undefined : placesOf(body[name], value);
    return places ?? { [name]: value };
  });
  // Own names come before the provider's.
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => isOwn(name)));
  return { ...(Object.assign({}, ...parts) as Record<string, unknown>), ...own };
};
