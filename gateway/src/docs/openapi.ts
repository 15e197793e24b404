import { PRODUCT_VERSION } from "@nodeloom/platform";
import { z } from "zod";
import { HOST_PREFIX, SESSION_COOKIE } from "../auth/session";
import { TAGS, type Route, type Tag } from "../edge/route";
import type { Operation, Schema } from "./api/document";
import { createComponents, type Json } from "./components";
import { INTRODUCTION } from "./introduction";
import { operation } from "./operation";
import { withExamples } from "./sample";
import { DOCS_PATH } from "./site/layout";
import { webhooks } from "./webhooks";

/** OpenAPI 3.1 document, generated from the table that also routes and validates. */

const TAG_DESCRIPTIONS: Readonly<Record<Tag, string>> = {
  Workflows: "Create, change, publish and share workflows",
  Runs: "Run a workflow or a model, or get the price first",
  "Schedules and hooks": "Start runs at set times, or from other services",
  Batches: "Run a workflow or model with many inputs and one budget",
  Models: "Models that you can run, with their inputs and prices",
  Executions: "Poll, follow, cancel, rerun and delete runs",
  Usage: "Runs and their cost, by key, workflow or customer",
  Budgets: "Limit what runs of a key, a workflow or a customer can cost; for signed-in users",
  Billing: "Buy credits, if the installation sells them; for signed-in users",
  Identity: "Your account, registration and sign-in",
  Organizations: "Share workflows, keys and credits; for signed-in users",
  Keys: "API keys and their webhooks; for signed-in users",
  "Webhook endpoints": "Addresses that get messages about all runs of an account",
  Secrets: "Values that HTTP nodes send and that are never shown; for signed-in users",
  Folders: "Folders for workflows",
  Media: "Upload, list, keep and verify files",
  OpenAI: "OpenAI's API for Nodeloom's models and workflows: set the base URL in OpenAI's libraries",
  fal: "fal's API for Nodeloom's models and workflows",
  Replicate: "Replicate's API for Nodeloom's models and workflows",
  Agents: "The Model Context Protocol: workflows as tools for agents",
  Apps: "Pages of workflows for people without an account, and their tokens",
  Admin: "Accounts, credits, models and tiers; for administrators",
  Health: "Health checks for load balancers and monitors",
};

const errorSchema = z
  .looseObject({
    error: z.string(),
    code: z.string().optional().meta({ description: "For programs; absent if a workflow was not found" }),
    doc: z.string().optional().meta({ description: "Path of the code's page in the documentation" }),
    issues: z.array(z.looseObject({ message: z.string() })).optional(),
    required: z.string().optional().meta({ description: "On CAPABILITY_DENIED: the capability that would have passed" }),
    requiredRole: z.string().optional().meta({ description: "On CAPABILITY_DENIED: the role in the organization that would have passed" }),
    requiredTier: z
      .string()
      .optional()
      .meta({ description: "For CAPABILITY_DENIED and MODEL_TIER_REQUIRED: the lowest tier that has access" }),
    tier: z.string().optional(),
    limit: z.number().optional(),
    retryAfter: z.number().optional().meta({ description: "Seconds" }),
    executionId: z.string().optional(),
    providerStatus: z.number().optional(),
    providerBody: z.string().optional(),
  })
  .meta({ id: "Error" });

const openAiErrorSchema = z
  .object({
    error: z.looseObject({
      message: z.string(),
      type: z.string().meta({ example: "invalid_request_error" }),
      param: z.string().nullable(),
      code: z.string().nullable().meta({ description: "Error code of this API" }),
      executionId: z.string().optional(),
    }),
  })
  .meta({ id: "OpenAiError" });

const falErrorSchema = z
  .looseObject({
    detail: z.union([z.string(), z.array(z.object({ loc: z.array(z.string()), msg: z.string(), type: z.string() }))]),
    error_type: z.string().optional().meta({ description: "Error code of this API, or `client_cancelled`" }),
    code: z.string().optional().meta({ description: "Error code of this API" }),
    executionId: z.string().optional(),
  })
  .meta({ id: "FalError" });

const replicateErrorSchema = z
  .looseObject({
    title: z.string(),
    detail: z.string(),
    status: z.number().int(),
    invalid_fields: z.array(z.object({ type: z.string(), field: z.string(), description: z.string() })).optional(),
    code: z.string().optional().meta({ description: "Error code of this API" }),
    executionId: z.string().optional(),
  })
  .meta({ id: "ReplicateError" });

const mcpErrorSchema = z
  .object({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.number(), z.null()]).optional(),
    error: z.object({
      code: z.number().int(),
      message: z.string(),
      data: z.unknown().optional().meta({ description: "`code` is one of this API's error codes" }),
    }),
  })
  .meta({ id: "McpError" });

const SESSION_DESCRIPTION = `The cookie of a signed-in browser; over TLS its name is \`${HOST_PREFIX}${SESSION_COOKIE}\``;

export const openApiDocument = (routes: readonly Route[], publicBaseUrl: string): Json => {
  const components = createComponents();
  components.describe(errorSchema, "output");
  components.describe(openAiErrorSchema, "output");
  components.describe(falErrorSchema, "output");
  components.describe(replicateErrorSchema, "output");
  components.describe(mcpErrorSchema, "output");
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/[:*](\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) };
  }
  const schemas = components.schemas as Readonly<Record<string, Schema>>;
  const described = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, each]) => [method, withExamples(each as Operation, schemas)])),
  ]);
  return {
    openapi: "3.1.0",
    info: {
      title: "Nodeloom API",
      version: PRODUCT_VERSION,
      summary: "Build AI media pipelines as node graphs and call them over HTTP.",
      description: INTRODUCTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: publicBaseUrl }],
    externalDocs: { description: "Documentation", url: `${publicBaseUrl}${DOCS_PATH}` },
    tags: TAGS.map((name) => ({ name, description: TAG_DESCRIPTIONS[name] })),
    paths: Object.fromEntries(described) as Json,
    webhooks: webhooks((schema) => components.describe(schema, "output")),
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "The API key as a bearer token, for OpenAI and Replicate libraries and agents",
        },
        key: { type: "apiKey", in: "header", name: "Authorization", description: "The API key as `Key nl_…`, for fal's libraries" },
        apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "An API key: `nl_…`" },
        visitor: { type: "http", scheme: "bearer", description: "A token of an app's visitor: `nla_…`" },
        session: { type: "apiKey", in: "cookie", name: SESSION_COOKIE, description: SESSION_DESCRIPTION },
      },
      schemas: components.schemas,
    },
  };
};
