import type { DirectHttpSettings, ProviderSettings } from "./entries/settings";
import { isSentFile, multipart, type SentFile } from "./multipart";
import { pointer } from "./pointer";
import { fillPath, fillTemplate } from "./template";
import type { JsonCall } from "./transport";

/** Builds requests from registry entries and finds errors in responses. */

type Inputs = Readonly<Record<string, unknown>>;
type RequestSettings = Pick<DirectHttpSettings, "baseUrl" | "headers" | "defaults"> & { request: DirectHttpSettings["request"] };

const isPlain = (value: unknown): value is string | number | boolean => ["string", "number", "boolean"].includes(typeof value);

/** Fields of a form or query. A list becomes one field per item, and an object becomes JSON. */
const partsOf = (name: string, value: unknown): [string, string | SentFile][] => {
  if (Array.isArray(value)) return value.flatMap((item) => partsOf(name, item));
  if (value === null || value === undefined) return [];
  if (isSentFile(value)) return [[name, value]];
  return [[name, isPlain(value) ? String(value) : JSON.stringify(value)]];
};

const queryOf = (template: Inputs | undefined, inputs: Inputs): string => {
  if (!template) return "";
  const parts = Object.entries(fillTemplate(template, inputs)).flatMap(([name, value]) => partsOf(name, value));
  const query = new URLSearchParams(parts.filter((part): part is [string, string] => typeof part[1] === "string"));
  return query.size === 0 ? "" : `?${query.toString()}`;
};

/** Adds defaults for inputs that a call omits. */
export const withDefaults = (defaults: Inputs | undefined, inputs: Inputs): Record<string, unknown> => ({ ...defaults, ...inputs });

/** Builds the request body. Without a template, inputs are sent under their own names. */
const bodyOf = ({ method, body, form, query }: DirectHttpSettings["request"], inputs: Inputs): Pick<JsonCall, "body" | "raw"> => {
  if (form) return { raw: multipart(Object.entries(fillTemplate(form, inputs)).flatMap(([name, value]) => partsOf(name, value))) };
  if (body) return { body: fillTemplate(body, inputs) };
  return method === "GET" || query ? {} : { body: inputs };
};

/** @throws ProviderError for an input that can't be part of the path */
export const requestOf = ({ baseUrl, headers, defaults, request }: RequestSettings, callInputs: Inputs): JsonCall => {
  const inputs = withDefaults(defaults, callInputs);
  return {
    method: request.method ?? "POST",
    url: `${baseUrl}${fillPath(request.path, inputs)}${queryOf(request.query, inputs)}`,
    ...(headers ? { headers } : {}),
    ...bodyOf(request, inputs),
  };
};

/** Returns the error in a response with a success status, or undefined. */
export const errorIn = (error: DirectHttpSettings["error"], answer: unknown): string | undefined => {
  const code = error && pointer(answer, error.when);
  if (code === undefined || code === null || error!.not?.includes(code as string)) return undefined;
  const message = error!.message === undefined ? undefined : pointer(answer, error!.message);
  return typeof message === "string" && message !== "" ? message : `the provider reported the error ${JSON.stringify(code)}`;
};

/** True if a URL is on one of the provider's own hosts, to which its secret can be sent. */
export const isOwnAddress = (
  { baseUrl, pollHosts = [] }: Pick<ProviderSettings, "baseUrl"> & { pollHosts?: string[] | undefined },
  url: string,
) => {
  if (!URL.canParse(url)) return false;
  const { origin, hostname, port, protocol, username } = new URL(url);
  if (username !== "") return false;
  if (origin === new URL(baseUrl).origin) return true;
  if (protocol !== "https:" || port !== "") return false;
  return pollHosts.some((host) => (host.startsWith("*.") ? hostname.endsWith(host.slice(1)) : hostname === host));
};
