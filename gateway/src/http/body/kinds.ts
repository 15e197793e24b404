import type { DomainError, Issue } from "@nodeloom/kernel";
import { z } from "zod";

/**
 * Kinds of bodies: `json` is read and checked; `bytes` is a file, alone or in a form; `form` has fields and files; handlers stream both;
 * `signed` is raw JSON for its signature.
 */
export interface Body<B = unknown> {
  kind: "json" | "bytes" | "form" | "signed";
  /** Schema of the JSON, or of the form's fields. */
  schema: z.ZodType<B>;
  /** Maximum bytes, if different from the kind's. */
  bytes?: number;
  /** Maximum JSON values, if different from the default. */
  values?: number;
  /** Members stored as sent; they can contain lone surrogates. */
  lossless?: readonly string[];
  /** Error for JSON that fails validation; INVALID_REQUEST by default. */
  invalid?(issues: Issue[]): DomainError;
}

export const jsonBody = <B>(schema: z.ZodType<B>, options: Pick<Body<B>, "values" | "lossless" | "invalid"> = {}): Body<B> => ({
  kind: "json",
  schema,
  ...options,
});

/** @param bytes maximum, if it differs from that of uploads */
export const fileBody = (bytes?: number): Body => ({ kind: "bytes", schema: z.unknown(), ...(bytes === undefined ? {} : { bytes }) });

export const formBody = (fields: z.ZodType): Body => ({ kind: "form", schema: fields });

export const signedBody = (bytes: number): Body<Buffer> => ({ kind: "signed", schema: z.custom<Buffer>(), bytes });

/** True if the handler streams the body. The body is requested after all other checks. */
export const isStreamed = (body: Body | undefined): boolean => body?.kind === "bytes" || body?.kind === "form";
