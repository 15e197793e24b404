import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LIMITS, type Reason } from "@nodeloom/kernel";
import { z } from "zod";
import { ERRORS, WITHOUT_CODE } from "../http/error-table";
import { HTTP_STATUS_BY_REASON } from "../http/errors";
import { IDEMPOTENCY_KEY } from "../http/idempotency";
import { INTRODUCTION } from "./introduction";
import { webhooks } from "./webhooks";
import type { Route } from "../http/route";
import { TAGS, type Tag } from "../http/route";
import { HOST_PREFIX, SESSION_COOKIE } from "../auth/session";

/** The OpenAPI 3.1 document, made from the table that also routes and validates. */

type Json = Record<string, unknown>;
type Direction = "input" | "output";

const { version: VERSION } = JSON.parse(readFileSync(join(__dirname, "..", "..", "package.json"), "utf8")) as { version: string };
const DEFINITIONS = "#/$defs/";
const COMPONENTS = "#/components/schemas/";

const STATUS_TEXT: Readonly<Record<number, string>> = {
  200: "Success",
  201: "Created",
  202: "Accepted; it goes on",
  204: "Success, without a body",
};

const TAG_DESCRIPTIONS: Readonly<Record<Tag, string>> = {
  Workflows: "Graphs that are saved, and the schemas of their inputs",
  Runs: "Run a workflow or a single model, or ask what a run would cost",
  Models: "What can be run, with inputs and prices",
  Executions: "Runs under way and past: poll, follow, cancel",
  Usage: "What was run by key, and what it cost",
  Identity: "Who is calling; registration and sign-in",
  Keys: "API keys and their webhooks; for signed-in users",
  Folders: "Where workflows are kept",
  Media: "Files as inputs",
  Admin: "Accounts, credits, models, tiers; for administrators",
  Health: "For load balancers and monitors",
};

const header = (description: string, type = "string"): Json => ({ description, schema: { type } });
const REQUEST_ID = { "X-Request-Id": header("Names this request in logs") };
const EXECUTION_ID = { "X-Execution-Id": header("The run's execution id") };
const RATE_LIMIT = {
  "X-RateLimit-Limit": header("Requests per window; absent for unlimited callers", "integer"),
  "X-RateLimit-Remaining": header("Requests left in the window", "integer"),
  "X-RateLimit-Reset": header("Unix epoch second when the window resets", "integer"),
};
const RETRY_AFTER = { "Retry-After": header("Seconds to wait", "integer") };

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** What a schema says of itself beyond zod: `override` members replace generated ones, null removes them. */
const overridden = ({ override, ...generated }: Json): Json => {
  const members = isObject(override) ? { ...generated, ...override } : generated;
  return Object.fromEntries(
    Object.entries(members).filter(([name, member]) => member !== null || !(isObject(override) && name in override)),
  );
};

const DROPPED: ReadonlySet<string> = new Set(["$defs", "$schema"]);

/** Points every reference at the components, and applies what schemas override. */
const rewrite = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(rewrite);
  if (!isObject(value)) return value;
  const members = Object.entries(overridden(value)).filter(([name]) => !DROPPED.has(name));
  return Object.fromEntries(
    members.map(([name, member]) => {
      const isReference = name === "$ref" && typeof member === "string";
      return [name, isReference ? member.replace(DEFINITIONS, COMPONENTS) : rewrite(member)];
    }),
  );
};

/** Schemas by name, collected while the operations are described. */
const createComponents = (): { schemas: Json; describe(schema: z.ZodType, io: Direction): Json } => {
  const schemas: Json = {};
  const describe = (schema: z.ZodType, io: Direction): Json => {
    const generated = z.toJSONSchema(schema, { io, unrepresentable: "any", target: "draft-2020-12" }) as Json;
    const definitions = isObject(generated.$defs) ? generated.$defs : {};
    for (const [name, definition] of Object.entries(definitions)) schemas[name] = without(rewrite(definition) as Json, "id");
    const described = rewrite(generated) as Json;
    if (typeof described.id !== "string") return described;
    schemas[described.id] = without(described, "id");
    return { $ref: `${COMPONENTS}${described.id}` };
  };
  return { schemas, describe };
};

const without = (value: Json, name: string): Json => Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));

type Components = ReturnType<typeof createComponents>;

/** The codes that a route's checks imply, and those it names. */
export const reasonsOf = (route: Route): Reason[] => {
  const reasons: Reason[] = ["INVALID_REQUEST", "INTERNAL", "SERVICE_UNAVAILABLE"];
  if (route.auth !== "none")
    reasons.push("UNAUTHENTICATED", "LEGACY_KEY_RETIRED", "API_KEY_ACCESS_DENIED", "ACCOUNT_SUSPENDED", "RATE_LIMIT_EXCEEDED");
  if (route.auth === "session") reasons.push("SESSION_REQUIRED");
  if (route.auth === "admin") reasons.push("CAPABILITY_DENIED");
  if (route.auth !== "none" && route.method !== "GET") reasons.push("CROSS_ORIGIN_DENIED");
  if (route.capability !== undefined) reasons.push("CAPABILITY_DENIED");
  if (route.limit !== "none") reasons.push("RATE_LIMIT_EXCEEDED");
  if (route.body) reasons.push("REQUEST_TIMEOUT", "PAYLOAD_TOO_LARGE", "CONCURRENCY_LIMIT_EXCEEDED");
  if (route.body || route.method !== "GET") reasons.push("UNSUPPORTED_MEDIA_TYPE");
  if (route.approval) reasons.push("ACCOUNT_NOT_APPROVED");
  if (route.idempotent) reasons.push("IDEMPOTENCY_KEY_REUSED");
  if (route.idempotent === "replay" || route.idempotent === "rebuild") reasons.push("IDEMPOTENCY_IN_PROGRESS");
  return [...new Set([...reasons, ...(route.errors ?? [])])];
};

/** One line of an error's description: its code, where it has one, when it comes, and what else its body has. */
const errorLine = (reason: Reason): string => {
  const { when, members = {} } = ERRORS[reason];
  const code = WITHOUT_CODE.has(reason) ? "no code" : `\`${reason}\``;
  const names = Object.keys(members).map((name) => `\`${name}\``);
  return `- ${code}: ${when}${names.length === 0 ? "" : ` (${names.join(", ")})`}`;
};

const errorResponses = (route: Route): Json => {
  const byStatus = new Map<number, Reason[]>();
  for (const reason of reasonsOf(route)) {
    const status = HTTP_STATUS_BY_REASON[reason];
    byStatus.set(status, [...(byStatus.get(status) ?? []), reason]);
  }
  const responses: Json = {};
  for (const [status, reasons] of [...byStatus].sort(([a], [b]) => a - b)) {
    const exhausted = status === HTTP_STATUS_BY_REASON.RATE_LIMIT_EXCEEDED;
    const waits = exhausted || status === HTTP_STATUS_BY_REASON.SERVICE_UNAVAILABLE || reasons.includes("IDEMPOTENCY_IN_PROGRESS");
    const examples = reasons.map((code) => [
      code,
      {
        summary: ERRORS[code].when,
        value: WITHOUT_CODE.has(code) ? { error: "workflow not found" } : { error: "what went wrong", code },
      },
    ]);
    responses[status] = {
      description: reasons.map(errorLine).join("\n"),
      headers: { ...REQUEST_ID, ...(route.startsRun ? EXECUTION_ID : {}), ...(exhausted ? RATE_LIMIT : {}), ...(waits ? RETRY_AFTER : {}) },
      content: { "application/json": { schema: { $ref: `${COMPONENTS}Error` }, examples: Object.fromEntries(examples) as Json } },
    };
  }
  return responses;
};

const successResponses = (route: Route, components: Components): Json =>
  Object.fromEntries(
    Object.entries(route.responses).map(([status, schema]) => [
      status,
      {
        description: STATUS_TEXT[Number(status)] ?? "Success",
        headers: { ...REQUEST_ID, ...(route.startsRun ? EXECUTION_ID : {}), ...(route.limit === "none" ? {} : RATE_LIMIT) },
        ...(schema ? { content: { [route.contentType ?? "application/json"]: { schema: components.describe(schema, "output") } } } : {}),
      },
    ]),
  );

/** The members of an object schema as parameters. */
const parametersOf = (schema: z.ZodType | undefined, place: "path" | "query", components: Components): Json[] => {
  if (!schema) return [];
  const { properties = {}, required = [] } = components.describe(schema, "input") as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property;
    return {
      name,
      in: place,
      required: place === "path" || required.includes(name),
      ...(description ? { description } : {}),
      schema: rest,
    };
  });
};

const IDEMPOTENCY = {
  replay: "The same key and body give the stored answer again, for 24 hours",
  rebuild: "What is sent again under the same key is made once, and answered again as it is then, with `Idempotency-Replayed: true`",
  once: "What is sent again under the same key happens once",
} as const;

const headerParameters = (route: Route): Json[] => {
  const parameter = (name: string, description: string, schema: Json = { type: "string" }): Json => ({
    name,
    in: "header",
    required: false,
    description,
    schema,
  });
  const parameters: Json[] = [];
  if (route.idempotent) {
    const schema = { type: "string", minLength: 1, maxLength: LIMITS.idempotencyKeyChars, pattern: IDEMPOTENCY_KEY.source };
    parameters.push(parameter("Idempotency-Key", IDEMPOTENCY[route.idempotent], schema));
  }
  if (route.startsRun)
    parameters.push(
      parameter(
        "Prefer",
        "`wait=n`: wait at most n seconds for the result. `respond-async`: answer 202 at once, whatever the models are. `no-queue`: refuse the run (429) instead of letting it wait in line",
      ),
    );
  if (route.operationId === "updateWorkflow") parameters.push(parameter("If-Match", "Change only this revision (an ETag)"));
  if (route.operationId === "watchExecution") parameters.push(parameter("Last-Event-ID", "Send only what came after this event"));
  return parameters;
};

const requestBody = (route: Route, components: Components): Json | undefined => {
  if (route.binaryBody) {
    const file = { type: "string", format: "binary", minLength: 1 };
    const form = { type: "object", required: ["file"], properties: { file } };
    return { required: true, content: { "application/octet-stream": { schema: file }, "multipart/form-data": { schema: form } } };
  }
  if (!route.body) return undefined;
  const schema = components.describe(route.body, "input");
  return {
    required: !route.body.safeParse(undefined).success,
    content: { "application/json": { schema, ...(route.example === undefined ? {} : { example: route.example }) } },
  };
};

const security = (route: Route): Json[] => {
  if (route.auth === "none") return [];
  return route.auth === "session" ? [{ session: [] }] : [{ apiKey: [] }, { session: [] }];
};

const capabilityNote = (route: Route): string[] => {
  if (typeof route.capability === "string") return [`Needs the capability \`${route.capability}\`.`];
  const parameters = Object.fromEntries([...route.path.matchAll(/:(\w+)/g)].map(([, name]) => [name!, `<${name!}>`]));
  if (typeof route.capability !== "function") return [];
  const resource = route.capability(parameters).split(":")[0]!;
  return [`Needs the capability \`${resource}:run\` or \`${resource}:<id>:run\`.`];
};

const operation = (route: Route, components: Components): Json => {
  const body = requestBody(route, components);
  const description = [...(route.description ? [route.description] : []), ...capabilityNote(route)].join("\n\n");
  const parameters = [
    ...parametersOf(route.params?.schema, "path", components),
    ...parametersOf(route.query, "query", components),
    ...headerParameters(route),
  ];
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(description ? { description } : {}),
    tags: [route.tag],
    security: security(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: { ...successResponses(route, components), ...errorResponses(route) },
  };
};

const errorSchema = z
  .looseObject({
    error: z.string(),
    code: z.string().optional().meta({ description: "Absent only where a workflow was not found" }),
    issues: z.array(z.looseObject({ message: z.string() })).optional(),
    required: z.string().optional().meta({ description: "On CAPABILITY_DENIED: the capability that would have passed" }),
    tier: z.string().optional(),
    limit: z.number().optional(),
    retryAfter: z.number().optional().meta({ description: "Seconds" }),
    executionId: z.string().optional(),
    providerStatus: z.number().optional(),
    providerBody: z.string().optional(),
  })
  .meta({ id: "Error" });

const SESSION_DESCRIPTION = `The cookie of a signed-in browser; over TLS its name is \`${HOST_PREFIX}${SESSION_COOKIE}\``;

/** Describes a table of routes. */
export const openApiDocument = (routes: readonly Route[], publicBaseUrl: string): Json => {
  const components = createComponents();
  components.describe(errorSchema, "output");
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Nodeloom API",
      version: VERSION,
      summary: "Build AI media pipelines as node graphs and call them over HTTP.",
      description: INTRODUCTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: publicBaseUrl }],
    tags: TAGS.map((name) => ({ name, description: TAG_DESCRIPTIONS[name] })),
    paths,
    webhooks: webhooks((schema) => components.describe(schema, "output")),
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "An API key: `nl_…`" },
        session: { type: "apiKey", in: "cookie", name: SESSION_COOKIE, description: SESSION_DESCRIPTION },
      },
      schemas: components.schemas,
    },
  };
};
