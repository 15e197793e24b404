import type { z } from "zod";
import { defineRoute, type CallContext, type Reply, type Route, type RouteDefinition } from "../../edge/route";
import { jsonBody, type Body } from "../../http/body/kinds";

/** Operations for agents only: with the checks, the schema and the rate limit of a route, but without an address. */

interface Operation<B> extends Pick<RouteDefinition<"any">, "role" | "capability"> {
  /** Name of its tool. */
  name: string;
  summary: string;
  body: z.ZodType<B>;
  lossless?: Body["lossless"];
  reply: z.ZodType;
  handler(context: CallContext<"any", unknown, unknown, B>): Promise<Reply>;
}

export const operationRoute = <B>({ name, body, lossless, reply, ...rest }: Operation<B>): Route =>
  defineRoute<"any", unknown, unknown, B>({
    ...rest,
    method: "POST",
    path: `/mcp/${name}`,
    operationId: name,
    tag: "Agents",
    auth: "any",
    limit: "user",
    body: jsonBody(body, lossless ? { lossless } : {}),
    responses: { 200: reply },
  });
