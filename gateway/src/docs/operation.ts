import { LIMITS } from "@nodeloom/kernel";
import type { z } from "zod";
import { IDEMPOTENCY_KEY } from "../edge/idempotency";
import { roleOf } from "../edge/roles";
import type { Route } from "../edge/route";
import type { Components, Json } from "./components";
import { errorResponses, successResponses } from "./responses";

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
  replay: "The same key and body give the same answer again, as long as the execution is kept",
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
  if (route.startsRun && !route.openAi)
    parameters.push(
      parameter(
        "Prefer",
        "`wait=n`: wait at most n seconds for the result. `respond-async`: answer 202 at once, whatever the models are. `no-queue`: refuse the run (429) instead of letting it wait in line. A value that can't be read is refused",
      ),
    );
  if (route.method === "GET" && route.contentType === undefined)
    parameters.push(parameter("If-None-Match", "Answer 304 without a body where this ETag still holds"));
  if (route.ifMatch) parameters.push(parameter("If-Match", "Change only this revision (an ETag)"));
  if (roleOf(route) !== "self")
    parameters.push(
      parameter(
        "X-Organization",
        "The organization that the request is for: by session one that the caller is a member of; a key has its own",
        {
          type: "string",
          format: "uuid",
        },
      ),
    );
  if (route.operationId === "watchExecution") parameters.push(parameter("Last-Event-ID", "Send only what came after this event"));
  return parameters;
};

const requestBody = (route: Route, components: Components): Json | undefined => {
  if (route.form) return { required: true, content: { "multipart/form-data": { schema: components.describe(route.form, "input") } } };
  if (route.binaryBody) {
    const file = { type: "string", format: "binary", minLength: 1 };
    const form = { type: "object", required: ["file"], properties: { file } };
    return { required: true, content: { "application/octet-stream": { schema: file }, "multipart/form-data": { schema: form } } };
  }
  if (route.signedBody) return { required: false, content: { "application/json": { schema: {} } } };
  if (!route.body) return undefined;
  const schema = components.describe(route.body, "input");
  return {
    required: !route.body.safeParse(undefined).success,
    content: { "application/json": { schema, ...(route.example === undefined ? {} : { example: route.example }) } },
  };
};

const security = (route: Route): Json[] => {
  if (route.auth === "none" || route.auth === "hook") return [];
  if (route.openAi || route.mcp) return [{ bearer: [] }, { apiKey: [] }, { session: [] }];
  if (route.app === "visitors") return [{ apiKey: [] }, { session: [] }, { visitor: [] }];
  return route.auth === "session" || route.auth === "admin-session" ? [{ session: [] }] : [{ apiKey: [] }, { session: [] }];
};

const capabilityNote = (route: Route): string[] => {
  if (route.runCapability)
    return [`Needs the capabilities \`${String(route.capability)}\` and \`workflow:run\` or \`workflow:<slug>:run\`.`];
  if (typeof route.capability === "string") return [`Needs the capability \`${route.capability}\`.`];
  const parameters = Object.fromEntries([...route.path.matchAll(/:(\w+)/g)].map(([, name]) => [name!, `<${name!}>`]));
  if (typeof route.capability !== "function") return [];
  const resource = route.capability(parameters).split(":")[0]!;
  return [`Needs the capability \`${resource}:run\` or \`${resource}:<id>:run\`.`];
};

const roleNote = (route: Route): string[] => {
  const role = roleOf(route);
  return role === "self" ? [] : [`In an organization it needs the role \`${role}\`.`];
};

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
