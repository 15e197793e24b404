import { isRecord, type Issue } from "@nodeloom/kernel";
import type { Environment } from "@nodeloom/platform";
import type { ProviderSettings } from "@nodeloom/providers";
import { toolInputs } from "./chat-inputs";
import type { Entry, InputSchema } from "./entry";

/** Entries combined with the environment. */

export interface RegisteredModel extends Entry {
  /** Required environment variables that are unset. The model is disabled if there are any. */
  missing: string[];
}

const PLACEHOLDER = /\$\{([A-Z][A-Z0-9_]*)\}/g;

/** Inputs of an entry, including tool inputs if the model calls tools. */
const inputsOf = ({ provider, inputSchema }: Entry): InputSchema => {
  if (provider.kind !== "llm" || !provider.tools) return inputSchema;
  const { maxLength } = isRecord(inputSchema.properties.prompt) ? inputSchema.properties.prompt : {};
  const inputs = toolInputs(typeof maxLength === "number" ? maxLength : undefined);
  return { ...inputSchema, properties: { ...inputSchema.properties, ...inputs } };
};

/** Returns the model of an entry, or the problems of the URLs that the environment sets. */
export const resolveEntry = (entry: Entry, env: Environment): { model: RegisteredModel } | { issues: Issue[] } => {
  const missing: string[] = [];
  const issues: Issue[] = [];
  const resolved = (name: string, template: string): string => {
    const before = missing.length;
    const url = template.replaceAll(PLACEHOLDER, (_, variable: string) => {
      if (!env[variable]) missing.push(variable);
      return env[variable]?.replace(/(?<!\/)\/+$/, "") ?? "";
    });
    const isUsable = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    if (missing.length === before && !isUsable) issues.push({ path: `provider.${name}`, message: `isn't an http(s) URL: ${url}` });
    return url.replace(/(?<!\/)\/+$/, "");
  };
  const { upload, auth } = entry.provider;
  const baseUrl = resolved("baseUrl", entry.provider.baseUrl);
  const uploadUrl = upload?.baseUrl === undefined ? undefined : resolved("upload.baseUrl", upload.baseUrl);
  if (auth && auth.default === undefined && !env[auth.secretEnv]) missing.push(auth.secretEnv);
  if (issues.length > 0) return { issues };
  const stored = upload && uploadUrl !== undefined ? { upload: { ...upload, baseUrl: uploadUrl } } : {};
  const provider: ProviderSettings = { ...entry.provider, baseUrl, ...stored };
  return { model: { ...entry, provider, inputSchema: inputsOf(entry), missing: [...new Set(missing)] } };
};
