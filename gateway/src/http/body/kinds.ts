import type { DomainError, Issue } from "@nodeloom/kernel";
import { z } from "zod";

/**
 * The kinds of bodies that routes take: `json` is read and checked; `bytes` is a file, by itself or in a form, and `form` a form with fields
 * and files, both of which the handler streams; `signed` is JSON as it was sent, for its signature.
 */
export interface Body<B = unknown> {
  kind: "json" | "bytes" | "form" | "signed";
  /** Shape of the JSON, or of the form's fields. */
  schema: z.ZodType<B>;
  /** Bytes it may have, where those are others than the kind's. */
  bytes?: number;
  /** Values that the JSON may have, where those are others than usual. */
  values?: number;
  /** Members that are stored as sent; lone surrogates in them are allowed. */
  kept?: readonly string[];
  /** The error of JSON that fails validation; INVALID_REQUEST unless given. */
  invalid?(issues: Issue[]): DomainError;
}

export const jsonBody = <B>(schema: z.ZodType<B>, options: Pick<Body<B>, "values" | "kept" | "invalid"> = {}): Body<B> => ({
  kind: "json",
  schema,
  ...options,
});

export const fileBody = (): Body => ({ kind: "bytes", schema: z.unknown() });

export const formBody = (fields: z.ZodType): Body => ({ kind: "form", schema: fields });

export const signedBody = (bytes: number): Body<Buffer> => ({ kind: "signed", schema: z.custom<Buffer>(), bytes });

/** Whether the handler streams a body, which is asked for once everything else is checked. */
export const isStreamed = (body: Body | undefined): boolean => body?.kind === "bytes" || body?.kind === "form";
