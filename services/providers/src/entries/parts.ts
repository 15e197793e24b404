import { z } from "zod";

/** Settings that several kinds of providers share. */

export const text = z.string().min(1);
export const pointer = z.string().regex(/^(?:\/.*)?$/, "must be a JSON pointer");
export const method = z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).optional();
export const path = z.string().startsWith("/");

/** Members by name, with inputs in them: `{ "$input": "name" }`, `"${name}s"`, `{ "$each": "name", "item": … }`. */
export const template = z.record(text, z.json());

/** The longest data URL sent to a provider. Longer files are streamed, or rejected. */
export const MAX_DATA_URL_CHARS = 5 * 1024 * 1024;

/** Ways to send a file to a provider. `form`: streamed as a part of a multipart form. */
const SENDING = ["url", "upload", "form", "data-url", "base64"] as const;

/** How the files of one input are sent: the first of these ways that is possible. */
const inputFiles = z.strictObject({
  send: z.array(z.enum(SENDING)).min(1),
  /** Characters of the longest data URL, or base64, that the provider takes. */
  maxDataChars: z.number().int().min(1).max(MAX_DATA_URL_CHARS).optional(),
});
export type InputFiles = z.infer<typeof inputFiles>;

const variable = z.string().regex(/^[A-Z][A-Z0-9_]*$/, "must be the name of an environment variable");
const concurrent = z.number().int().min(1).max(10_000);

export const shared = {
  /** Keyed by input. */
  files: z.record(text, inputFiles).optional(),
  /** The provider's own storage, at the provider's address unless another one is set. */
  upload: z.strictObject({ api: z.enum(["fal", "replicate", "runway", "comfyui"]), baseUrl: text.optional() }).optional(),
  /** For a server that an administrator added, which can be in a private network. Only the platform sets it. */
  server: z.strictObject({ id: text, name: text }).optional(),
  /** True if the provider only reads public addresses. By default, true if its own address is public. */
  hosted: z.boolean().optional(),
  /** Concurrent calls per process to this model. */
  maxConcurrent: concurrent.optional(),
  /** Sends the header `traceparent` with traced requests. */
  traceparent: z.boolean().optional(),
  /** The address up to and including the version, for example https://host/v1. */
  baseUrl: text,
  /** The secret's value stays in the environment of the process that calls the provider. */
  auth: z
    .strictObject({
      header: text.optional(),
      scheme: text.optional(),
      secretEnv: variable,
      default: text.optional(),
      /** Concurrent calls per process with this secret, across all models. The environment variable overrides it. */
      maxConcurrent: concurrent.optional(),
      maxConcurrentEnv: variable.optional(),
    })
    .optional(),
};

/** Request settings besides path and body. */
export const described = {
  headers: z.record(text, z.string()).optional(),
  /** For services that report errors with status 200: the value at `when` is an error unless it is one of `not`. */
  error: z
    .strictObject({ when: pointer, not: z.array(z.union([text, z.number(), z.boolean()])).optional(), message: pointer.optional() })
    .optional(),
  /** Hosts that belong to the provider besides the one of `baseUrl`. `*.` matches any prefix. */
  pollHosts: z
    .array(z.string().regex(/^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+$/, "must be a host's name, or one with `*.` before it"))
    .min(1)
    .max(20)
    .optional(),
};

/** A request with inputs in its path, its query and its body, which is JSON or a form. */
export const request = { method, path, query: template.optional(), body: template.optional(), form: template.optional() };
export const ONE_BODY = "must be JSON (body) or a form (form), not both";

/** Values of inputs that are sent where a call leaves them out. */
export const defaults = template.optional();

/** Kinds of results in a provider's answer. */
export const RESULTS = ["images", "videos", "audios", "text", "json"] as const;
const places = z.union([pointer, z.array(pointer).min(1).max(10)]);
/** Pointers to results: addresses of files, data URLs, base64, text, or any JSON. */
export const outputs = z
  .partialRecord(z.enum(RESULTS), places)
  .refine((value) => Object.keys(value).some((name) => name !== "json"), "must name an output beside json");
