import { LIMITS, MEDIA_FAMILIES, DEFAULT_SIMILARITY, SIMILARITIES, TEST_BOUNDS } from "@nodeloom/kernel";
import { z } from "zod";
import { appSettings } from "../apps/settings";
import { anyObject, credits, identifier, line, name, nodeWarnings, slug, timestamp } from "../../http/schemas";
import { days } from "../executions/retention";

const description = z.string().max(LIMITS.descriptionChars);
const tags = z.array(line(LIMITS.tagChars).normalize()).max(LIMITS.tags);
const cover = anyObject
  .nullable()
  .meta({ description: "`{ image, video? }`, media-storage URLs", example: { image: "https://example.com/media/cover.png" } });
const thumbnail = z.string().nullable();
export const folderId = identifier.nullable();
const nodes = z.array(z.unknown()).max(LIMITS.nodes).meta({ description: "Each with `id`, `type`, `position`, `data`" });
const edges = z
  .array(z.unknown())
  .max(LIMITS.edges)
  .meta({ description: "Each with `id`, `source`, `target`, `sourceHandle`, `targetHandle`" });
const viewport = anyObject.meta({ description: "`{ x, y, zoom }`" });

const flags = {
  isTemplate: z.boolean(),
  hidden: z.boolean(),
  archived: z.boolean(),
  publicPlayground: z.boolean(),
  mcp: z
    .boolean()
    .optional()
    .meta({ description: "True if the owner's agents get it as a tool at `/mcp`. Only a signed-in person can change it" }),
};

const retentionDays = days.nullable().optional().meta({
  description: "Days for which its executions are kept after their end; null for as long as the installation keeps them",
});
const app = appSettings.nullable().meta({ description: "Its public app, or null. Only a signed-in person can change it" });

const range = z.union([z.number(), z.object({ min: z.number().optional(), max: z.number().optional() })]);
const expectation = z
  .object({
    path: z.string().meta({ description: "JMESPath to a value of the result; without it, the only member of the result" }),
    equals: z.unknown(),
    matches: z.string().meta({ description: "A regular expression (RE2)" }),
    contains: z.string(),
    schema: anyObject.meta({ description: "JSON Schema; text that is JSON counts as its value" }),
    jmespath: z.string().meta({ description: "An expression over the value that is true" }),
    file: z
      .object({
        kind: z.enum(MEDIA_FAMILIES),
        contentType: z.string(),
        ...{ bytes: range, width: range, height: range, durationMs: range },
        loudness: range.meta({ description: "Integrated loudness of its sound in LUFS (EBU R 128)" }),
        similarTo: z
          .object({
            file: z.string().meta({ description: "URL or id of the golden file: one of your pictures or videos" }),
            by: z.enum(SIMILARITIES).optional().meta({ description: "Structural similarity (the default), or a perceptual hash" }),
            atLeast: z
              .number()
              .optional()
              .meta({ description: `The lowest similarity, 0 to 1; ${DEFAULT_SIMILARITY} by default` }),
          })
          .meta({ description: "Similarity to a golden file, which is kept as long as the tests name it" }),
        text: z
          .object({ contains: z.string(), matches: z.string() })
          .partial()
          .meta({ description: "Text in a picture, recognized by the model `local-ocr`. `contains` ignores case and line breaks" }),
      })
      .partial()
      .meta({ description: "Properties of a file; of a list, every file has them" }),
    judge: z
      .object({
        model: z.string().meta({
          description: "A language model. To judge pictures or videos, it must take pictures; to judge sounds, it must take sounds",
        }),
        rubric: z.string().optional().meta({ description: "What it grades from 1 to 5. Send either `rubric` or `against`" }),
        against: z
          .object({ version: z.number().int(), alias: z.string() })
          .partial()
          .optional()
          .meta({ description: "The version whose result it compares with, in both orders. All judges of a workflow name the same" }),
        atLeast: z.number().meta({ description: "The lowest score: 1 to 5, or with `against` a share of votes from 0 to 1" }),
        votes: z
          .number()
          .int()
          .optional()
          .meta({ description: `Calls of the model, 1 to ${TEST_BOUNDS.votes}; with \`against\` in each order` }),
      })
      .meta({ description: "A language model judges the value. Its calls are charged, and cost at most `maxCredits`" }),
  })
  .partial()
  .meta({ id: "TestExpectation", description: "Exactly one member besides `path`" });
const workflowTest = z
  .object({
    name: z.string().max(TEST_BOUNDS.nameChars),
    inputs: anyObject,
    expect: z.array(expectation).max(TEST_BOUNDS.expectations),
    maxCredits: z.number().optional().meta({ description: "The most that the run can be priced at, with calls that it reuses" }),
    maxMs: z.number().int().optional().meta({ description: "The most that the run can take" }),
  })
  .meta({ id: "WorkflowTest" });
/** The workflows service checks these and reports the path of each error. */
const sentTests = z.array(z.unknown()).meta({
  description: `At most ${TEST_BOUNDS.tests} tests: runs with given inputs, and what you expect of their results. An empty list removes them`,
});

export const pendingChange = z.boolean().meta({
  description:
    'True if a caller who can\'t run the workflow has changed its graph. Its app, hooks and schedules run the last approved graph until a caller who can run it publishes or confirms the change. A change of the draft counts even if a version is published, because `workflow` nodes with `version: "draft"` run the draft; until then they run the approved one',
});
const published = {
  publishedVersion: z
    .number()
    .nullable()
    .meta({ description: "The latest published version, or null. Runs use it unless `production` is set" }),
  productionVersion: z
    .number()
    .optional()
    .meta({ description: "The version that runs use, if you set the alias `production`; otherwise absent" }),
  changedSincePublished: z.boolean().meta({ description: "True if the draft's graph differs from this version" }),
  pendingChange: pendingChange.optional(),
};
const takedown = z.object({ reason: z.string(), at: timestamp.nullable() });

export const workflowSchema = z
  .object({
    slug,
    name: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    ...flags,
    app: appSettings.optional().meta({ description: "Set if it has a public page" }),
    retentionDays: days.optional().meta({ description: "Days for which its executions are kept, if the workflow sets them" }),
    tests: z.array(workflowTest).optional().meta({ description: "Its tests, if it has any. Only its owner sees them" }),
    folderId,
    thumbnail,
    cover,
    createdBy: z.string(),
    organizationId: z.string().optional().meta({ description: "Set if an organization owns it. `createdBy` is then the person" }),
    nodes: z.array(z.unknown()),
    edges: z.array(z.unknown()),
    viewport,
    createdAt: timestamp,
    updatedAt: timestamp,
    ...published,
    warnings: nodeWarnings
      .optional()
      .meta({ description: "Misspelled settings. Only in the answer to saving the graph; absent if there are none" }),
    takedown: takedown.optional().meta({ description: "Reason for an administrator's takedown of the template. Only its owner sees it" }),
  })
  .meta({ id: "Workflow" });

export const workflowWithQuoteError = workflowSchema
  .extend({
    quoteError: z
      .object({ runs: z.number(), p50: z.number(), p90: z.number() })
      .optional()
      .meta({
        description:
          "How far the bills of your last 100 completed runs were from their estimates: `p50` and `p90` of (bill − estimate) ÷ bill, over the `runs` among them that cost something. Above 0, runs cost more than estimated. Absent without such runs, and in others' workflows",
        example: { runs: 100, p50: -0.12, p90: 0.04 },
      }),
  })
  .meta({ id: "WorkflowWithQuoteError" });

const estimatedCreditCost = credits.nullable().meta({ description: "Credits per run at the caller's tier; null without generators" });

export const workflowSummary = workflowSchema
  .omit({
    publicPlayground: true,
    mcp: true,
    app: true,
    retentionDays: true,
    tests: true,
    nodes: true,
    edges: true,
    viewport: true,
    createdAt: true,
  })
  .omit({
    publishedVersion: true,
    productionVersion: true,
    changedSincePublished: true,
    pendingChange: true,
    takedown: true,
    warnings: true,
  })
  .extend({
    estimatedCreditCost,
    featured: z.literal(true).optional().meta({ description: "True for a template that administrators feature" }),
    unavailable: z
      .object({
        reason: z.string(),
        requiredTier: z.string().optional().meta({ description: "The tier that would be enough" }),
      })
      .optional()
      .meta({
        description:
          "Why the caller can't run it now: a model that it names isn't ready here, or not at the caller's tier. A fallback model may still take its place",
      }),
  })
  .meta({ id: "WorkflowSummary" });

const fieldSchema = z
  .object({
    name: z.string(),
    type: z.string(),
    label: z.string(),
    default: z.unknown().optional(),
    options: z.array(z.string()).optional(),
    required: z.boolean().optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    multiple: z.boolean().optional().meta({ description: "The input takes a list of files" }),
    maxItems: z.number().optional().meta({ description: "The most files of the list" }),
  })
  .meta({ id: "SchemaField" });

export const publicSchema = z
  .object({ fields: z.array(fieldSchema), values: anyObject, name: z.string(), description: z.string() })
  .meta({ id: "PublicSchema" });
export const inputSchema = publicSchema.extend({ estimatedCreditCost }).meta({ id: "InputSchema" });

/** Changeable members. Other members of a full workflow are accepted and ignored. */
export const changes = z
  .object({ name, description, tags, ...flags, app, retentionDays, tests: sentTests, folderId, thumbnail, cover, nodes, edges, viewport })
  .partial()
  .meta({ id: "WorkflowChanges" });
export const creation = changes.required({ name: true }).meta({ id: "NewWorkflow" });
export type Changes = z.infer<typeof changes>;
