import { propertySchema, type JsonSchema } from "@nodeloom/kernel";
import { inputsInTemplate, type ProviderSettings } from "@nodeloom/providers";

/** Finds the inputs that an entry's request templates refer to. */

type Place = (string | number)[];

/** Returns all templates in a provider's settings, with their paths. */
const templatesOf = (provider: ProviderSettings): [Place, unknown][] => {
  if (provider.kind === "llm" || provider.kind === "comfyui") return [];
  if (provider.kind === "inference-platform") return [[["body"], provider.body]];
  const [place, { path, query, body, form }] =
    provider.kind === "http-polling" ? (["submit", provider.submit] as const) : (["request", provider.request] as const);
  return [
    [[place, "path"], path],
    [[place, "query"], query],
    [[place, "body"], body],
    [[place, "form"], form],
  ];
};

/** Returns inputs that templates use but the model doesn't have, with their paths. */
export const unknownInputs = (provider: ProviderSettings, inputSchema: JsonSchema): { name: string; path: Place }[] => {
  const templateInputs = templatesOf(provider).flatMap(([place, template]) =>
    inputsInTemplate(template).map(({ name, path }) => ({ name, path: [...place, ...path] })),
  );
  const defaults = "defaults" in provider ? Object.keys(provider.defaults ?? {}) : [];
  return [...templateInputs, ...defaults.map((name) => ({ name, path: ["defaults", name] }))].filter(
    ({ name }) => !propertySchema(inputSchema, name),
  );
};
