import { historyInput, SAMPLING_INPUTS } from "../chat-inputs";
import { at, dayOf, ImportProblem, nameOf, textAt, type Draft, type ImportRequest, type PublicDescriptions } from "./draft";

/** Imports from OpenRouter, which publishes one list of models with prices. */

const ADDRESS = "https://openrouter.ai/api/v1/models";
const BASE = "https://openrouter.ai/api/v1";
const MILLION = 1_000_000;
const DECIMALS = 6;
const USUAL_TOKENS = 1_024;
const MOST_TOKENS = 65_536;
const MAX_TEXT = 262_144;
/** Tokens per image of the models that count the most tokens. */
const PICTURE_TOKENS = 16_000;

const perMillion = (perToken: unknown): number | undefined => {
  const usd = typeof perToken === "string" ? Number(perToken) : Number.NaN;
  // Models that route to other models publish -1.
  return usd >= 0 ? Number((usd * MILLION).toFixed(DECIMALS)) : undefined;
};

const includes = (list: unknown, value: string): boolean => Array.isArray(list) && list.includes(value);

const inputsOf = (model: unknown): Record<string, unknown> => {
  const most = at(model, "top_provider", "max_completion_tokens");
  const maximum = Math.min(typeof most === "number" && most > 0 ? most : MOST_TOKENS, MOST_TOKENS);
  const supported = at(model, "supported_parameters");
  const image = {
    type: "string",
    format: "media",
    contentMediaType: "image/*",
    title: "Image",
    description: "A picture for the model to read: http(s) URL, data URL or media id.",
    minLength: 1,
    "x-tokens": PICTURE_TOKENS,
  };
  return {
    prompt: { type: "string", title: "Prompt", description: "The question or task.", minLength: 1, maxLength: MAX_TEXT },
    system: { type: "string", title: "System prompt", description: "Instructions for the answers.", maxLength: MAX_TEXT },
    history: historyInput(MAX_TEXT),
    ...(includes(at(model, "architecture", "input_modalities"), "image") ? { image } : {}),
    maxTokens: {
      type: "integer",
      title: "Longest answer",
      description: "In tokens of about four characters.",
      default: Math.min(USUAL_TOKENS, maximum),
      minimum: 1,
      maximum,
    },
    ...(includes(supported, "temperature")
      ? { temperature: { type: "number", title: "Temperature", default: 1, minimum: 0, maximum: 2 } }
      : {}),
    ...Object.fromEntries(Object.entries(SAMPLING_INPUTS).filter(([name]) => includes(supported, name))),
  };
};

export const openRouterDraft = async ({ app, internalName, now }: ImportRequest, published: PublicDescriptions): Promise<Draft> => {
  const list = at(await published.json(ADDRESS), "data");
  const model: unknown = Array.isArray(list) ? list.find((one) => textAt(one, "id") === app) : undefined;
  if (model === undefined)
    throw new ImportProblem({
      path: "model",
      message: `OpenRouter has no model ${JSON.stringify(app)}: its names are like openai/gpt-6-luna`,
    });
  if (!includes(at(model, "architecture", "output_modalities"), "text"))
    throw new ImportProblem({ path: "model", message: "makes no text: only text models of OpenRouter can be imported" });
  const [input, output] = [perMillion(at(model, "pricing", "prompt")), perMillion(at(model, "pricing", "completion"))];
  const properties = inputsOf(model);
  const price = input === undefined || output === undefined ? null : { inputUsdPerMillionTokens: input, outputUsdPerMillionTokens: output };
  const entry = {
    internalName: internalName ?? nameOf("openrouter", app),
    displayName: textAt(model, "name") ?? app,
    description: (textAt(model, "description") ?? `${app}, through OpenRouter.`).slice(0, 500),
    modality: "text",
    company: "openrouter",
    asOf: dayOf(now),
    source: ADDRESS,
    provider: {
      kind: "llm",
      baseUrl: BASE,
      ...("image" in properties ? { files: { image: { send: ["url", "data-url"] } } } : {}),
      model: app,
      stream: true,
      ...(includes(at(model, "supported_parameters"), "structured_outputs") ? { structuredOutput: "json_schema" } : {}),
      ...(includes(at(model, "supported_parameters"), "tools") ? { tools: true } : {}),
      auth: { scheme: "Bearer", secretEnv: "OPENROUTER_API_KEY" },
    },
    inputSchema: { type: "object", additionalProperties: false, required: ["prompt"], properties },
    outputs: ["text"],
    price,
    minTier: "free",
  };
  return { entry, notes: price === null ? ["its price depends on the model that OpenRouter chooses: set one"] : [] };
};
