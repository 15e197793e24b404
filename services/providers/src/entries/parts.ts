import { z } from "zod";

/** Settings that several kinds of providers share. */

export const text = z.string().min(1);
export const pointer = z.string().regex(/^(?:\/.*)?$/, "must be a JSON pointer");
export const method = z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).optional();
export const path = z.string().startsWith("/");

/** Members by name. They can contain inputs: `{ "$input": "name" }`, `"${name}s"`, `{ "$each": "name", "item": … }`. */
export const template = z.record(text, z.json());

/** Maximum data URL that is sent to a provider. Longer files are streamed or rejected. */
export const MAX_DATA_URL_CHARS = 5 * 1024 * 1024;

/** Ways to send a file to a provider. `form` streams it as a part of a multipart form. */
const SENDING = ["url", "upload", "form", "data-url", "base64"] as const;

/** How the files of one input are sent. The first possible way is used. */
const inputFiles = z.strictObject({
  send: z.array(z.enum(SENDING)).min(1),
  /** Maximum characters of a data URL, or of base64, that the provider accepts. */
  maxDataChars: z.number().int().min(1).max(MAX_DATA_URL_CHARS).optional(),
  /** Converts a mask before it is sent: how the provider marks selected parts, and the input with the image whose size the mask gets. */
  mask: z.strictObject({ selected: z.enum(["white", "black", "transparent"]), image: text }).optional(),
});
export type InputFiles = z.infer<typeof inputFiles>;

const variable = z.string().regex(/^[A-Z][A-Z0-9_]*$/, "must be the name of an environment variable");
const concurrent = z.number().int().min(1).max(10_000);

export const shared = {
  /** How files are sent, by input name. */
  files: z.record(text, inputFiles).optional(),
  /** The provider's own storage. It is at the provider's URL unless `baseUrl` is set. */
  upload: z.strictObject({ api: z.enum(["fal", "replicate", "runway", "comfyui"]), baseUrl: text.optional() }).optional(),
  /** Set for a server added by an administrator, which can be in a private network. Only the platform sets it. */
  server: z.strictObject({ id: text, name: text }).optional(),
  /** True if the provider can read only public URLs. By default, true if the provider's own URL is public. */
  hosted: z.boolean().optional(),
  /** Maximum concurrent calls per process to this model. */
  maxConcurrent: concurrent.optional(),
  /** True to send the header `traceparent` with traced requests. */
  traceparent: z.boolean().optional(),
  /** The URL up to and including the version, for example https://host/v1. */
  baseUrl: text,
  /** The secret's value stays in the environment of the process that calls the provider. */
  auth: z
    .strictObject({
      header: text.optional(),
      scheme: text.optional(),
      secretEnv: variable,
      default: text.optional(),
      /** Maximum concurrent calls per process with this secret, for all models together. The environment variable overrides it. */
      maxConcurrent: concurrent.optional(),
      maxConcurrentEnv: variable.optional(),
    })
    .optional(),
};

/** Settings of requests other than path and body. */
export const described = {
  headers: z.record(text, z.string()).optional(),
  /** For services that report errors with status 200. The value at `when` is an error unless `not` contains it. */
  error: z
    .strictObject({ when: pointer, not: z.array(z.union([text, z.number(), z.boolean()])).optional(), message: pointer.optional() })
    .optional(),
  /** Hosts of the provider in addition to the host of `baseUrl`. `*.` matches any prefix. */
  pollHosts: z
    .array(z.string().regex(/^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+$/, "must be a host's name, or one with `*.` before it"))
    .min(1)
    .max(20)
    .optional(),
};

/** A request with inputs in its path, query and body. The body is JSON or a form. */
export const request = { method, path, query: template.optional(), body: template.optional(), form: template.optional() };
export const ONE_BODY = "must be JSON (body) or a form (form), not both";

/** Values for inputs that a call omits. */
export const defaults = template.optional();

/** Kinds of results in a provider's response. */
export const RESULTS = ["images", "videos", "audios", "models3d", "text", "json"] as const;
const places = z.union([pointer, z.array(pointer).min(1).max(10)]);
/** Pointers to results: URLs of files, data URLs, base64, text, or any JSON. */
export const outputs = z
  .partialRecord(z.enum(RESULTS), places)
  .refine((value) => Object.keys(value).some((name) => name !== "json"), "must name an output beside json");
