import { didYouMean, invalidRequest } from "@nodeloom/kernel";
import { z } from "zod";
import { standalone } from "../../docs/components";
import { check } from "../../http/validate";
import type { Route } from "../../edge/route";
import type { RouteCall } from "../calls";
import type { ToolHead } from "./tool";

/** Presents a route's path, query and body as the arguments of one tool, described and checked by the route's own schemas. */

type Shape = Readonly<Record<string, z.ZodType>>;
type Parts = Pick<Route, "params" | "query" | "body">;

const shapeOf = (schema: z.ZodType | undefined): Shape => (schema instanceof z.ZodObject ? (schema.shape as Shape) : {});

/** JSON Schema of an object, for MCP. */
export const objectSchema = (schema: z.ZodType, io: "input" | "output" = "input"): ToolHead["inputSchema"] => ({
  ...standalone(schema, io),
  type: "object",
});

/** @param more additional arguments of the tool, or replacements for the route's schemas */
export const argumentsSchema = ({ params, query, body }: Parts, more: Shape = {}): ToolHead["inputSchema"] =>
  objectSchema(z.strictObject({ ...shapeOf(params?.schema), ...shapeOf(query), ...shapeOf(body?.schema), ...more }));

/** Converts a query value to the form used in addresses. */
const asQueryText = (text: string): unknown => {
  const value: unknown = JSON.parse(text);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
};

const jsonOf = (members: readonly (readonly [string, string])[]): string =>
  `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;

/** Splits arguments into the path, query and body of a request. @throws DomainError INVALID_REQUEST naming unknown arguments */
export const asRouteCall = ({ params, query, body }: Parts, args: ReadonlyMap<string, string>): RouteCall => {
  const [inPath, inQuery] = [shapeOf(params?.schema), shapeOf(query)];
  const entries = [...args];
  const rest = entries.filter(([name]) => !Object.hasOwn(inPath, name) && !Object.hasOwn(inQuery, name));
  const names = [...Object.keys(inPath), ...Object.keys(inQuery)];
  if (!body && rest.length > 0) throw invalidRequest(rest.map(([path]) => ({ path, message: `is not known${didYouMean(path, names)}` })));
  const pick = (shape: Shape, readText: (text: string) => unknown): Record<string, unknown> =>
    Object.fromEntries(entries.filter(([name]) => Object.hasOwn(shape, name)).map(([name, text]) => [name, readText(text)]));
  return {
    params: pick(inPath, (text) => JSON.parse(text) as unknown),
    query: pick(inQuery, asQueryText),
    ...(body ? { body: jsonOf(rest) } : {}),
  };
};

/**
 * Arguments of a tool that isn't one route.
 * @throws DomainError INVALID_REQUEST
 */
export const readArguments = <T>(schema: z.ZodType<T>, args: ReadonlyMap<string, string>): T =>
  check(schema, JSON.parse(jsonOf([...args])), invalidRequest);
