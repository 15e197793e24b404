import { createInputCheck, type Reason } from "@nodeloom/kernel";
import { ERRORS } from "../../src/http/error-table";
import { openApiDocument } from "../../src/docs/openapi";
import { routes } from "../../src/routes";
import type { Answer } from "./http";

type Json = Record<string, unknown>;
interface Operation {
  responses: Record<string, { content?: Record<string, { schema: Json }> }>;
}

export const document = openApiDocument(routes, "http://127.0.0.1:8080") as {
  paths: Record<string, Record<string, Operation>>;
  components: Json;
};

const operationOf = (method: string, path: string): Operation | undefined => {
  const route = routes.find((candidate) => {
    const form = new RegExp(`^${candidate.path.replaceAll(/:\w+/g, "[^/]+")}$`);
    return candidate.method === (method === "HEAD" ? "GET" : method) && form.test(path.split("?")[0]!);
  });
  if (!route) return undefined;
  return document.paths[route.path.replaceAll(/:(\w+)/g, "{$1}")]![route.method.toLowerCase()];
};

const compiled = new Map<object, ReturnType<typeof createInputCheck>>();
const validator = (schema: Json): ReturnType<typeof createInputCheck> => {
  const known = compiled.get(schema);
  if (known) return known;
  const made = createInputCheck({ ...schema, components: document.components });
  compiled.set(schema, made);
  return made;
};

const ALWAYS: ReadonlySet<string> = new Set(["error", "code"]);

/** Members of an error that the table of errors does not know. */
const undocumentedMembers = ({ code, ...body }: Json): string[] => {
  const known = ERRORS[(code ?? "WORKFLOW_NOT_FOUND") as Reason]?.members ?? {};
  return Object.keys(body).filter((member) => !ALWAYS.has(member) && !(member in known));
};

/** Fails unless an answer is one that the OpenAPI document promises. Unknown routes are none of its business. */
export const expectDocumented = (method: string, path: string, answer: Answer): void => {
  const operation = operationOf(method, path);
  if (!operation) return;
  const response = operation.responses[String(answer.status)];
  if (!response) throw new Error(`${method} ${path} answered ${answer.status}, which is not documented: ${answer.text}`);
  const type = String(answer.headers["content-type"] ?? "application/json").split(";")[0]!;
  const documented = [type, type.replace(/\/.*/, "/*")].some((each) => response.content?.[each]);
  if (response.content && !documented && method !== "HEAD")
    throw new Error(`${method} ${path} ${answer.status} is ${type}, which is not documented`);
  const schema = type === "application/json" ? response.content?.[type]?.schema : undefined;
  if (!schema || method === "HEAD") return;
  // JSON-RPC's errors hold those of the table.
  const isOwnError = answer.status >= 400 && answer.body.jsonrpc === undefined;
  const extra = isOwnError ? undocumentedMembers(answer.body) : [];
  if (extra.length > 0) throw new Error(`${method} ${path} ${answer.status} has undocumented members ${extra.join(", ")}: ${answer.text}`);
  const issues = validator(schema)(answer.body);
  if (issues.length > 0)
    throw new Error(`${method} ${path} ${answer.status} differs from its schema: ${JSON.stringify(issues)}\n${answer.text}`);
};
