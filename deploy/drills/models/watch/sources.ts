import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Models that public packages list, read from a folder with their files. */

/** A model as a source lists it. */
export interface Offer {
  /** Company as in registry entries. */
  company: string;
  /** The provider's id: an app of fal, or else the model's name. */
  id: string;
  /** Package and version. */
  source: string;
  /** Costs in US dollars by LiteLLM's names; empty in sources without prices. */
  costs: Readonly<Record<string, number>>;
  /** Day on which the provider shuts down the model. */
  retiresOn?: string | undefined;
  /** Page that the source names for its data. */
  page?: string | undefined;
}

/** Files of a folder of sources, the packages with their published contents. */
export const FILES = {
  litellm: { folder: "litellm", file: "model_prices_and_context_window_backup.json" },
  fal: { folder: "fal", file: "src/types/endpoints.d.ts" },
  runway: { folder: "runway", file: "resources" },
} as const;
export type SourceName = keyof typeof FILES;

/** Companies of the registry by LiteLLM's providers. Others resell the same models. */
const LITELLM_COMPANIES: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  dashscope: "alibaba",
  deepseek: "deepseek",
  elevenlabs: "elevenlabs",
  fal_ai: "fal",
  gemini: "google",
  minimax: "minimax",
  mistral: "mistral",
  moonshot: "moonshot",
  openai: "openai",
  runwayml: "runway",
  xai: "xai",
  zai: "zai",
};
const MODES: readonly unknown[] = [
  "chat",
  "responses",
  "image_generation",
  "image_edit",
  "video_generation",
  "audio_speech",
  "audio_transcription",
];
/** LiteLLM lists image models again for each quality and size. */
const IS_VARIANT = /^(?:low|medium|high|xhigh|max|standard|hd|auto|\d+-x-\d+)\//;
const DAY = /^\d{4}-\d\d-\d\d$/;

interface LiteLlmModel {
  litellm_provider?: string;
  mode?: unknown;
  deprecation_date?: string;
  source?: string;
}

const costsOf = (model: object): Record<string, number> =>
  Object.fromEntries(
    Object.entries(model).filter((entry): entry is [string, number] => entry[0].includes("_cost_per_") && typeof entry[1] === "number"),
  );

const versionIn = (folder: string): string => {
  const version = join(folder, "version");
  if (existsSync(version)) return readFileSync(version, "utf8").trim();
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
};

const litellm = (folder: string): Offer[] => {
  const source = `litellm ${versionIn(folder)}`;
  const models = JSON.parse(readFileSync(join(folder, FILES.litellm.file), "utf8")) as Record<string, LiteLlmModel>;
  return Object.entries(models).flatMap(([name, model]): Offer[] => {
    const { litellm_provider: provider = "", mode, deprecation_date: day, source: page } = model;
    const company = LITELLM_COMPANIES[provider];
    const id = name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name;
    if (company === undefined || !MODES.includes(mode) || IS_VARIANT.test(id)) return [];
    return [{ company, id, source, costs: costsOf(model), retiresOn: day !== undefined && DAY.test(day) ? day : undefined, page }];
  });
};

const fal = (folder: string): Offer[] => {
  const source = `@fal-ai/client ${versionIn(folder)}`;
  const types = readFileSync(join(folder, FILES.fal.file), "utf8");
  return [...types.matchAll(/^ +"([a-z0-9][\w.-]*\/[^"]+)": \{/gm)].map(([, id]) => ({ company: "fal", id: id!, source, costs: {} }));
};

const runway = (folder: string): Offer[] => {
  const source = `@runwayml/sdk ${versionIn(folder)}`;
  const resources = join(folder, FILES.runway.file);
  const types = readdirSync(resources).filter((name) => name.endsWith(".d.ts"));
  const ids = types.flatMap((name) =>
    [...readFileSync(join(resources, name), "utf8").matchAll(/^ +model: (.+);$/gm)].flatMap(
      ([, type]) => type!.match(/(?<=['"])[^'" |]+(?=['"])/g) ?? [],
    ),
  );
  return [...new Set(ids)].map((id) => ({ company: "runway", id, source, costs: {} }));
};

const READERS: Readonly<Record<SourceName, (folder: string) => Offer[]>> = { litellm, fal, runway };

/**
 * Reads every source of a folder.
 * @throws Error if a source lists nothing, because its format has changed
 */
export const readOffers = (folder: string): Offer[] =>
  (Object.keys(FILES) as SourceName[]).flatMap((name) => {
    const offers = READERS[name](join(folder, FILES[name].folder));
    if (offers.length === 0)
      throw new Error(`${name}: no models were found in ${join(folder, FILES[name].folder)}; has its format changed?`);
    return offers;
  });
