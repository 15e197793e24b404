import { z } from "zod";

/** What the settings of several kinds of providers have in common. */

export const text = z.string().min(1);
export const pointer = z.string().regex(/^(?:\/.*)?$/, "must be a JSON pointer");
export const method = z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).optional();
export const path = z.string().startsWith("/");

/** Members by name, with inputs in them: `{ "$input": "name" }`, `"${name}s"`, `{ "$each": "name", "item": … }`. */
export const template = z.record(text, z.json());

/** The longest data URL that a provider may be sent; what is longer is streamed, or not sent. */
export const MAX_DATA_URL_CHARS = 5 * 1024 * 1024;

/** The ways a file may reach a provider. `form`: as a part of the request's form, streamed. */
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
  /** By input. */
  files: z.record(text, inputFiles).optional(),
  /** The provider's own storage. Its address is that of the provider, unless there is another. */
  upload: z.strictObject({ api: z.enum(["fal", "replicate", "runway", "comfyui"]), baseUrl: text.optional() }).optional(),
  /** Of a server that an administrator has added: it may be in a private network. Set by the platform alone. */
  server: z.strictObject({ id: text, name: text }).optional(),
  /** Whether it reads public addresses alone; otherwise it does if its own address is public. */
  hosted: z.boolean().optional(),
  /** Calls of one process that may be under way at a provider, of this model alone. */
  maxConcurrent: concurrent.optional(),
  /** Whether requests that are traced carry the header `traceparent`. */
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
      /** Calls of one process that may be under way with this secret, of all models together; the variable's number, where it is set, instead. */
      maxConcurrent: concurrent.optional(),
      maxConcurrentEnv: variable.optional(),
    })
    .optional(),
};

/** What requests described by an entry have beside their path and body. */
export const described = {
  headers: z.record(text, z.string()).optional(),
  /** For services that report errors inside answers whose status is 200: what is at `when` is one unless it is one of `not`. */
  error: z
    .strictObject({ when: pointer, not: z.array(z.union([text, z.number(), z.boolean()])).optional(), message: pointer.optional() })
    .optional(),
  /** Hosts that are the provider's own beside the one of `baseUrl`; `*.` stands for any name before the rest. */
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

/** The results that a provider's answer may hold. */
export const RESULTS = ["images", "videos", "audios", "text", "json"] as const;
const places = z.union([pointer, z.array(pointer).min(1).max(10)]);
/** Where results are, by member: files' addresses, data URLs or base64; text; or whatever JSON says. */
export const outputs = z
  .partialRecord(z.enum(RESULTS), places)
  .refine((value) => Object.keys(value).some((name) => name !== "json"), "must name an output beside json");
