import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInputCheck } from "@nodeloom/kernel";
import { routes } from "../../src/endpoints";
import { document } from "../support/document";

interface Callback {
  parameters: { name: string }[];
  requestBody: { content: { "application/json": { schema: object; example: unknown } } };
}

const references = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(references);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => (name === "$ref" ? [String(member)] : references(member)));
};

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method} ${path}`,
    operation: operation as unknown as Record<string, never>,
  })),
);

describe("the OpenAPI document", () => {
  it("describes every route once, with a unique operation id", () => {
    expect(operations).toHaveLength(routes.length);
    expect(new Set(routes.map(({ operationId }) => operationId)).size).toBe(routes.length);
  });

  it("has alternatives in place of lists of types, which generators of clients don't know", () => {
    const lists = (value: unknown): unknown[] => {
      if (typeof value !== "object" || value === null) return [];
      const { type } = value as { type?: unknown };
      const own = Array.isArray(type) && type.filter((one) => one !== "null").length > 1 ? [type] : [];
      return [...own, ...Object.values(value).flatMap(lists)];
    };
    expect(lists(document)).toEqual([]);
  });

  it("resolves every reference", () => {
    const { schemas } = document.components as { schemas: Record<string, unknown> };
    const names = references(document).map((reference) => reference.replace("#/components/schemas/", ""));
    expect(names.filter((name) => !(name in schemas))).toEqual([]);
  });

  it("has schemas that a validator accepts", () => {
    const { schemas } = document.components as { schemas: Record<string, unknown> };
    for (const name of Object.keys(schemas)) {
      expect(() => createInputCheck({ $ref: `#/components/schemas/${name}`, components: document.components })).not.toThrow();
    }
  });

  it("has an example for every successful JSON response that matches its schema", () => {
    const wrong = operations.flatMap(({ name, operation }) =>
      Object.entries(operation.responses as unknown as Record<string, { content?: Record<string, { schema: object; example?: unknown }> }>)
        .filter(([status]) => status.startsWith("2"))
        .flatMap(([status, { content }]) => {
          const json = content?.["application/json"];
          if (json === undefined) return [];
          return createInputCheck({ ...json.schema, components: document.components })(json.example).map((issue) => ({
            name,
            status,
            issue,
          }));
        }),
    );
    expect(wrong).toEqual([]);
  });

  it.each(operations)("$name documents its errors, its tag and its path parameters", ({ name, operation }) => {
    const {
      responses,
      tags,
      parameters = [],
    } = operation as unknown as {
      responses: Record<string, unknown>;
      tags: string[];
      parameters?: { in: string; name: string; schema: object }[];
    };
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["500"]));
    expect(tags).toHaveLength(1);
    const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    expect(parameters.filter((parameter) => parameter.in === "path").map((parameter) => parameter.name)).toEqual(inPath);
  });

  it("lists the responses of runs that an Idempotency-Key replays: completed ones, failures and 402", () => {
    const { responses } = document.paths["/api/workflows/{slug}/run"]!.post as unknown as {
      responses: Record<string, { headers: object }>;
    };
    const repeated = Object.keys(responses).filter((status) => "Idempotency-Replayed" in responses[status]!.headers);
    expect(repeated).toEqual(["200", "202", "402", "500"]);
  });

  it("has an introduction with the product's version, and explains every listed code", () => {
    const { info, paths } = document as unknown as { info: { version: string; description: string }; paths: object };
    expect(info.version).toBe(
      (JSON.parse(readFileSync(join(__dirname, "..", "..", "..", "package.json"), "utf8")) as { version: string }).version,
    );
    for (const word of ["x-api-key", "X-RateLimit-Remaining", "Retry-After", "Idempotency-Key", "X-Request-Id", "Webhooks"]) {
      expect(info.description).toContain(word);
    }
    expect(JSON.stringify(paths)).not.toMatch(/- `[A-Z_]+`: (undefined|\\n|")/);
  });

  it("describes webhook messages, with matching examples", () => {
    const { webhooks } = document as unknown as { webhooks: Record<string, { post: Callback }> };
    expect(Object.keys(webhooks)).toEqual([
      "execution.completed",
      "execution.failed",
      "execution.cancelled",
      "execution.sync.completed",
      "budget.alert",
      "model.retiring",
      "canary.ended",
      "audit.row",
      "batch.completed",
      "execution.waiting",
      "webhook.test",
    ]);
    for (const { post } of Object.values(webhooks)) {
      expect(post.parameters.map(({ name }) => name)).toEqual(["webhook-id", "webhook-timestamp", "webhook-signature"]);
      const { schema, example } = post.requestBody.content["application/json"];
      expect(createInputCheck({ ...schema, components: document.components })(example)).toEqual([]);
    }
  });

  it("gives integer query parameters their limits", () => {
    const list = document.paths["/api/usage"]!.get as unknown as { parameters: { name: string; schema: unknown }[] };
    expect(list.parameters.find(({ name }) => name === "limit")?.schema).toEqual({
      type: "integer",
      minimum: 1,
      maximum: 500,
      default: 50,
    });
  });
});
