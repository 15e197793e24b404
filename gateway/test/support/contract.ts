import { createInputCheck, type Reason } from "@nodeloom/kernel";
import { ERRORS } from "../../src/http/error-table";
import { openApiDocument } from "../../src/docs/openapi";
import { routes } from "../../src/endpoints";
import type { Route } from "../../src/edge/route";
import type { Answer } from "./http";

type Json = Record<string, unknown>;
interface Operation {
  responses: Record<string, { content?: Record<string, { schema: Json }> }>;
}
/** The members that tests read. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: Json;
}

/** The OpenAPI document of some routes. */
export const describeRoutes = (some: readonly Route[]): Document => openApiDocument(some, "http://127.0.0.1:8080") as unknown as Document;

const described = new Map<Route, Document>();
/** The OpenAPI document of one route. Describing all routes takes a third of a second, and most suites need few. */
const documentOf = (route: Route): Document => {
  const document = described.get(route) ?? describeRoutes([route]);
  described.set(route, document);
  return document;
};

const routeOf = (method: string, path: string): Route | undefined =>
  routes.find((candidate) => {
    const form = new RegExp(`^${candidate.path.replaceAll(/:\w+/g, "[^/]+").replaceAll(/\*\w+/g, ".+")}$`);
    return candidate.method === (method === "HEAD" ? "GET" : method) && form.test(path.split("?")[0]!);
  });

const compiled = new Map<object, ReturnType<typeof createInputCheck>>();
const validator = (schema: Json, components: Json): ReturnType<typeof createInputCheck> => {
  const check = compiled.get(schema) ?? createInputCheck({ ...schema, components });
  compiled.set(schema, check);
  return check;
};

const ALWAYS: ReadonlySet<string> = new Set(["error", "code", "doc"]);

/** Members of an error that the error table doesn't list. */
const undocumentedMembers = ({ code, ...body }: Json): string[] => {
  const members = ERRORS[(code ?? "WORKFLOW_NOT_FOUND") as Reason]?.members ?? {};
  return Object.keys(body).filter((member) => !ALWAYS.has(member) && !(member in members));
};

/** Fails unless the OpenAPI document describes the response. Unknown routes pass. */
export const expectDocumented = (method: string, path: string, answer: Answer): void => {
  const route = routeOf(method, path);
  if (!route) return;
  const { paths, components } = documentOf(route);
  const operation = paths[route.path.replaceAll(/[:*](\w+)/g, "{$1}")]![route.method.toLowerCase()]!;
  const response = operation.responses[String(answer.status)];
  if (!response) throw new Error(`${method} ${path} answered ${answer.status}, which is not documented: ${answer.text}`);
  const type = String(answer.headers["content-type"] ?? "application/json").split(";")[0]!;
  const documented = [type, type.replace(/\/.*/, "/*")].some((each) => response.content?.[each]);
  if (response.content && !documented && method !== "HEAD")
    throw new Error(`${method} ${path} ${answer.status} is ${type}, which is not documented`);
  const schema = type === "application/json" ? response.content?.[type]?.schema : undefined;
  if (!schema || method === "HEAD") return;
  // JSON-RPC errors contain an error of the table. Errors of fal and Replicate have other members.
  const isForeign = route.protocol === "fal" || route.protocol === "replicate";
  const isOwnError = answer.status >= 400 && answer.body.jsonrpc === undefined && !isForeign;
  const extra = isOwnError ? undocumentedMembers(answer.body) : [];
  if (extra.length > 0) throw new Error(`${method} ${path} ${answer.status} has undocumented members ${extra.join(", ")}: ${answer.text}`);
  const issues = validator(schema, components)(answer.body);
  if (issues.length > 0)
    throw new Error(`${method} ${path} ${answer.status} differs from its schema: ${JSON.stringify(issues)}\n${answer.text}`);
};
