import { LIMITS } from "@nodeloom/kernel";
import type { z } from "zod";
import { IDEMPOTENCY_KEY } from "../edge/idempotency";
import type { Capability, Route, RouteHeader } from "../edge/route";
import { PROTOCOLS } from "../http/protocols";
import type { Components, Json } from "./components";
import { errorResponses, isRevalidated, successResponses } from "./responses";

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
  replay: "The same key and body return the same response for as long as the execution is kept",
  rebuild: "A repeated request with the same key creates nothing. It returns the current state, with `Idempotency-Replayed: true`",
  once: "A repeated request with the same key has no further effect",
} as const;

/** Request headers that some routes read. */
const READ: Partial<Record<RouteHeader, string>> = {
  "If-Match": "Changes only this revision (an ETag)",
  "Last-Event-ID": "Sends only the events after this one",
};

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
  if (route.startsRun && PROTOCOLS[route.protocol ?? "plain"].readsPrefer)
    parameters.push(
      parameter(
        "Prefer",
        "`wait=n`: wait at most n seconds for the result. `respond-async`: return 202 at once, for all models. `no-queue`: reject the run (429) instead of queueing it. Invalid values are rejected",
      ),
    );
  if (isRevalidated(route)) parameters.push(parameter("If-None-Match", "Returns 304 without a body if this is still the current ETag"));
  for (const name of route.headers ?? []) if (READ[name]) parameters.push(parameter(name, READ[name]));
  if (route.role !== "self")
    parameters.push(
      parameter(
        "X-Organization",
        "Organization that the request acts for. A session can name one of the caller's organizations; a key always acts for its own",
        {
          type: "string",
          format: "uuid",
        },
      ),
    );
  return parameters;
};

const FILE = { type: "string", format: "binary", minLength: 1 };
const FILE_FORM = { type: "object", required: ["file"], properties: { file: FILE } };

const requestBody = ({ body, example }: Route, components: Components): Json | undefined => {
  switch (body?.kind) {
    case "form":
      return { required: true, content: { "multipart/form-data": { schema: components.describe(body.schema, "input") } } };
    case "bytes":
      return { required: true, content: { "application/octet-stream": { schema: FILE }, "multipart/form-data": { schema: FILE_FORM } } };
    case "signed":
      return { required: false, content: { "application/json": { schema: {} } } };
    case "json": {
      const schema = components.describe(body.schema, "input");
      const required = !body.schema.safeParse(undefined).success;
      return { required, content: { "application/json": { schema, ...(example === undefined ? {} : { example }) } } };
    }
    case undefined:
      return undefined;
  }
};

const BEARER = [{ bearer: [] }, { apiKey: [] }, { session: [] }];
const KEY = [{ key: [] }, { apiKey: [] }, { session: [] }];
const security = ({ auth, app, protocol = "plain", keyCapability }: Route): Json[] => {
  if (auth === "none" || auth === "hook") return [];
  const { keySchemes } = PROTOCOLS[protocol];
  if (keySchemes.includes("Key")) return KEY;
  if (keySchemes.length > 0) return BEARER;
  if (app === "visitors") return [{ apiKey: [] }, { session: [] }, { visitor: [] }];
  const isForSessions = keyCapability === undefined && (auth === "session" || auth === "admin-session");
  return isForSessions ? [{ session: [] }] : [{ apiKey: [] }, { session: [] }];
};

/** Shows each path parameter as its name. */
const NAMES = new Proxy<Record<string, string>>({}, { get: (_, name) => `<${String(name)}>` });

const capabilityText = (capability: Capability): string => {
  if (typeof capability === "string") return `\`${capability}\``;
  if (typeof capability === "object") return capability.anyOf.map(capabilityText).join(" or ");
  const resource = capability(NAMES).split(":")[0]!;
  return `\`${resource}:run\` or \`${resource}:<id>:run\``;
};

const capabilityNote = ({ capability, keyCapability }: Route): string[] => {
  if (keyCapability !== undefined) return [`A key needs the capability \`${keyCapability}\`.`];
  if (capability === undefined) return [];
  const texts = [capability].flat().map(capabilityText);
  return [`Needs the ${texts.length > 1 ? "capabilities" : "capability"} ${texts.join(" and ")}.`];
};

const roleNote = ({ role }: Route): string[] => (role === "self" ? [] : [`In an organization it needs the role \`${role}\`.`]);

export const operation = (route: Route, components: Components): Json => {
  const body = requestBody(route, components);
  const description = [...(route.description ? [route.description] : []), ...capabilityNote(route), ...roleNote(route)].join("\n\n");
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
