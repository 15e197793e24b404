import {
  ALIAS,
  executionNotFound,
  HEADER_VALUE,
  HEADER_VALUE_FORM,
  LIMITS,
  ONE_LINE,
  ONE_LINE_FORM,
  MAX_SLUG_CHARS,
  SLUG,
  TIERS,
  UUID,
  VERSION,
  workflowNotFound,
  type DomainError,
} from "@nodeloom/kernel";
import { z } from "zod";
import { invalidSlug, notFound } from "./errors";
import { PAGE_DEFAULT, PAGE_MAX } from "./limits";

/** Schemas that several resources share. */

/** Path parameters: their schema, and the error for a value that can't name a resource. */
export interface ParamsSpec<P> {
  schema: z.ZodType<P>;
  invalid(): DomainError;
}

const MAX_ID_CHARS = 200;
const MAX_OFFSET = 1_000_000_000;

export const slug = z
  .string()
  .max(MAX_SLUG_CHARS)
  .regex(SLUG, "must be lowercase letters, digits and single hyphens")
  .meta({ example: "poster-maker" });
/** UUIDs are compared in lower case. */
const lowerUuid = (value: string): string => (UUID.test(value.toLowerCase()) ? value.toLowerCase() : value);
export const uuid = z.string().overwrite(lowerUuid).regex(UUID, "must be a UUID").meta({ example: "1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11" });
/** A line of text for a name, a title or an id. @param max maximum characters */
export const line = (max: number) => z.string().max(max).regex(ONE_LINE, ONE_LINE_FORM);
export const identifier = line(MAX_ID_CHARS).min(1).overwrite(lowerUuid);
/** Names are stored and searched in composed form (NFC), so that é is one character however it was typed. */
export const name = line(LIMITS.nameChars).normalize().regex(/\S/, "must not be empty").meta({ example: "Poster maker" });
/** A header value, such as another service's secret. @param max maximum characters */
export const headerValue = (max: number) => z.string().min(1).max(max).regex(HEADER_VALUE, `must be ${HEADER_VALUE_FORM}`);
export const timestamp = z.iso.datetime().meta({ example: "2026-05-04T12:00:00.000Z" });
export const credits = z.number().meta({ description: "Credits; 1 credit = 0.01 USD" });
/** The choice for a node that names a task, in quotes and executions. */
export const routeMembers = {
  chosen: z.string().optional().meta({ description: "For a node that names a task: the model that was chosen" }),
  considered: z
    .array(
      z
        .object({
          model: z.string(),
          price: z.number().nullable().meta({ description: "The most that one call can cost, in credits; null if it wasn't computed" }),
          p50Ms: z.number().nullable().meta({
            description: "Median duration of its calls of the last day, of all users, in milliseconds; null if there are too few",
          }),
          errorRate: z
            .number()
            .nullable()
            .meta({ description: "Share of these calls that failed, from 0 to 1; null if there are too few" }),
          reason: z.string().meta({ description: "Why it was chosen, comes later, or can't run", example: "costs more" }),
        })
        .meta({ id: "ConsideredModel" }),
    )
    .optional()
    .meta({ description: "For a node that names a task: at most 20 models that it could have, the chosen one first" }),
};
export const MIN_CREDITS = 0.001;
export const MAX_CREDITS = 1_000_000_000;
export const anyObject = z.looseObject({});

const resultFile = z
  .looseObject({
    url: z.string().meta({ description: "Address of the file. It expires: `GET /api/media/{id}` returns a fresh one" }),
    id: z.string().optional().meta({ description: "Id of the file in media. Absent for a file that isn't stored" }),
  })
  .meta({ id: "ResultFile" });
const resultFiles = z.array(resultFile).optional();
/** What a response-output node or a model gives, by name. Other names hold any value. */
export const runOutputs = z
  .looseObject({
    ...{ images: resultFiles, videos: resultFiles, audios: resultFiles, models3d: resultFiles },
    text: z.string().optional(),
  })
  .meta({
    id: "RunOutputs",
    description: "What the workflow's output, or the model, gives, by name. Other names hold texts, numbers, lists or objects",
    example: {
      images: [{ url: "https://…/media/9bd7d31f9a475fb2085687d4d964027b.png?e=…&s=…", id: "4d0e191d-f084-42e6-b76e-1dacc53d2452-1-0-0" }],
    },
  });
export const baseTier = z.enum(TIERS);
const MAX_TIER_CHARS = 64;
/** A built-in or custom tier. */
export const tierId = slug.max(MAX_TIER_CHARS).meta({ example: "pro" });

export const workflowParams: ParamsSpec<{ slug: string }> = { schema: z.object({ slug }), invalid: workflowNotFound };
export const modelParams: ParamsSpec<{ internalName: string }> = {
  schema: z.object({ internalName: slug.meta({ example: "sandbox-image" }) }),
  invalid: invalidSlug,
};
const UUID_PARAMETER = { override: { pattern: null, format: "uuid" }, example: "1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11" };
export const executionParams: ParamsSpec<{ id: string }> = {
  schema: z.object({ id: z.string().overwrite(lowerUuid).regex(UUID).meta(UUID_PARAMETER) }),
  invalid: executionNotFound,
};
/** A warning about a node that still runs. */
const nodeWarning = z.object({ nodeId: z.string(), message: z.string() });
export const nodeWarnings = z.array(nodeWarning);
export type NodeWarning = z.infer<typeof nodeWarning>;

/** Parameters that name a resource by an opaque id. */
export const idParams = (what: string): ParamsSpec<{ id: string }> => ({
  schema: z.object({ id: identifier }),
  invalid: () => notFound(what),
});

const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, `must be a whole number from ${minimum} to ${maximum}`)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be between ${minimum} and ${maximum}`);

export const queryInteger = (minimum: number, maximum: number, fallback: number): z.ZodType<number, string | undefined> =>
  wholeNumber(minimum, maximum)
    .default(fallback)
    .meta({ override: { type: "integer", pattern: null, minimum, maximum, default: fallback } });

export const queryFlag = z.enum(["true", "false"]).transform((value) => value === "true");
export const limit = queryInteger(1, PAGE_MAX, PAGE_DEFAULT);
/** Limit of a list that is paged only on request. */
export const optionalLimit = wholeNumber(1, PAGE_MAX)
  .optional()
  .meta({
    description: "Rows per page. Without it, one response has all rows",
    override: { type: "integer", pattern: null, minimum: 1, maximum: PAGE_MAX },
  });
export const offset = queryInteger(0, MAX_OFFSET, 0);
/** An opaque text: `nextCursor` of the previous page. */
export const cursor = z.string().min(1).max(1_000);

const NO_VERSION = "must be a version's number, or draft";
const MAX_VERSION = 999_999_999;
const versionText = z.string().regex(VERSION, NO_VERSION);
/** A workflow version in a body, which can be a number. */
export const versionMember = z.union([z.number().int().min(1).max(MAX_VERSION), versionText], { error: NO_VERSION }).optional();
export const versionQuery = versionText.optional().meta({
  description: "A version's number, or `draft`. Without it and without `alias`: `production`, or the draft while no version is published",
});
/** The name of a workflow's alias. */
export const aliasName = z.string().regex(ALIAS, "must be at most 32 lowercase letters, digits and hyphens, and begin with a letter");
export const aliasQuery = aliasName
  .optional()
  .meta({ description: "An alias of the workflow, such as `staging`. Send either `alias` or `version`", example: "staging" });
/** Query parameters that select a version of a workflow; `selectedGraph` reads them. */
export const selection = { version: versionQuery, alias: aliasQuery };

/** For pages of executions, whose results can be long. */
export const PAGES_END_EARLY = "If results are long, a page has fewer rows than `limit`: continue as long as there is a `nextCursor`.";

/** A page of a list with cursors; `nextCursor` is null at the end. */
export const cursorPage = <T extends z.ZodType>(row: T): z.ZodObject<{ rows: z.ZodArray<T>; nextCursor: z.ZodNullable<z.ZodString> }> =>
  z.object({ rows: z.array(row), nextCursor: z.string().nullable() });

export const iso = (date: Date | undefined): string | null => date?.toISOString() ?? null;
export const nextCursor = (value: string): string | null => value || null;

/** Parameters of a list. Unknown ones are rejected, unless the schema allows them. */
export const listQuery = <Q>(schema: z.ZodType<Q> = z.object({}) as unknown as z.ZodType<Q>): z.ZodType<Q> =>
  schema instanceof z.ZodObject && schema.def.catchall === undefined ? (schema.strict() as unknown as z.ZodType<Q>) : schema;
