import { isRecord } from "@nodeloom/kernel";
import type { models } from "@nodeloom/proto";

/** Finds models by their providers' names, and inputs by the providers' parameters. */

export interface ProviderName {
  internalName: string;
  /** The provider's parameters as templates of inputs. */
  body: Readonly<Record<string, unknown>>;
}

/** Models by their providers' names. If several models share a name, the first model has it. */
export type ProviderNames = ReadonlyMap<string, ProviderName>;

/** Names as providers such as fal and Replicate write them: `<owner>/<name>`, optionally with a path. */
const OWNED = /^[^/]+(?:\/[^/]+)+$/;

const nameOf = ({ internalName, providerJson }: models.Model): { app: string; model: ProviderName } | undefined => {
  const settings: unknown = JSON.parse(providerJson || "{}");
  if (!isRecord(settings) || typeof settings.app !== "string" || !OWNED.test(settings.app)) return undefined;
  return { app: settings.app, model: { internalName, body: isRecord(settings.body) ? settings.body : {} } };
};

export const providerNames = ({ models }: models.ListModelsResponse): ProviderNames => {
  const byName = new Map<string, ProviderName>();
  for (const model of [...models].sort((a, b) => (a.internalName < b.internalName ? -1 : 1))) {
    const modelName = nameOf(model);
    if (modelName && !byName.has(modelName.app)) byName.set(modelName.app, modelName.model);
  }
  return byName;
};

const PLACE = /^\$\{(\w+)\}(\w*)$/;

/** Inputs from which the template makes this value of a parameter; undefined if the template can't be reversed. */
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
 * Converts a provider's parameters to a model's inputs. The model's own input names stay, and parameters with a constant value are left
 * out. Unknown names also stay, so that the run rejects them by name.
 * @param isOwn true if the model has an input with this name
 */
export const inputsFrom = (
  body: Readonly<Record<string, unknown>>,
  inputs: Readonly<Record<string, unknown>>,
  isOwn: (name: string) => boolean,
): Record<string, unknown> => {
  const parts = Object.entries(inputs).map(([name, value]) => {
    const places = isOwn(name) || !Object.hasOwn(body, name) ? undefined : placesOf(body[name], value);
    return places ?? { [name]: value };
  });
  // The model's own names override the provider's.
  const own = Object.fromEntries(Object.entries(inputs).filter(([name]) => isOwn(name)));
  return { ...(Object.assign({}, ...parts) as Record<string, unknown>), ...own };
};
