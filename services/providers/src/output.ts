import { LIMITS } from "@nodeloom/kernel";
import type { ProviderSettings } from "./entries/settings";
import { base64Bytes } from "./base64";
import type { ProviderOutput, ProviderFile } from "./dialect";
import { pointer, pointerAll, pointerTexts } from "./pointer";
import { isOwnAddress } from "./request";
import { DIRECT_TIMEOUT_MS, type Transport } from "./transport";

/** Reads a provider's output at the pointers in its registry entry. */

type Outputs = Extract<ProviderSettings, { outputs: unknown }>["outputs"];

const ADDRESS = /^https?:\/\//i;
const DATA_URL = /^data:[^,]{0,200};base64,/i;
const FILES = ["images", "videos", "audios", "models3d"] as const;

const inline = (base64: string): ProviderFile => {
  // Copied only if necessary, because line breaks are rare and a copy is large.
  const text = /\s/.test(base64) ? base64.replace(/\s+/g, "") : base64;
  return { read: () => base64Bytes(text) };
};

/** A file in a response, given as a URL, a data URL or base64. */
const fileOf = (value: string): ProviderFile => {
  if (ADDRESS.test(value)) return { url: value };
  return inline(value.slice(DATA_URL.exec(value)?.[0].length ?? 0));
};

const placesOf = (outputs: Outputs, name: keyof Outputs): string[] => [outputs[name] ?? []].flat();

const jsonAt = (answer: unknown, place: string): unknown => (place.includes("*") ? pointerAll(answer, place) : pointer(answer, place));

/** Output of a response. */
export const outputIn = (outputs: Outputs, answer: unknown): ProviderOutput => {
  // A text can be empty, for example the transcript of silence.
  const texts = placesOf(outputs, "text")
    .flatMap((place) => pointerAll(answer, place))
    .filter((value) => typeof value === "string");
  const json = placesOf(outputs, "json")
    .map((place) => jsonAt(answer, place))
    .find((value) => value !== undefined);
  return {
    files: FILES.flatMap((name) => placesOf(outputs, name).flatMap((place) => pointerTexts(answer, place))).map(fileOf),
    text: texts.length > 0 ? texts.join("\n") : null,
    ...(json === undefined ? {} : { json: { value: json } }),
    answer,
  };
};

/** Like `madeIn`. If the entry says so, also downloads files from the provider's own hosts with its secret. */
export const withDownloads = (
  settings: Pick<ProviderSettings, "baseUrl"> & { pollHosts?: string[] | undefined; downloadWithKey?: boolean | undefined },
  transport: Transport,
  output: ProviderOutput,
): ProviderOutput => {
  if (!settings.downloadWithKey) return output;
  const files = output.files.map((file): ProviderFile => {
    if (!("url" in file) || !isOwnAddress(settings, file.url)) return file;
    const { url } = file;
    return {
      read: async function* () {
        const call = { method: "GET", url, headers: { accept: "*/*" }, timeoutMs: DIRECT_TIMEOUT_MS, maxBytes: LIMITS.mediaBytes };
        yield* (await transport.open(call)).body;
      },
    };
  });
  return { ...output, files };
};
