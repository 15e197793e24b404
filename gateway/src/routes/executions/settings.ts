import { executionParams } from "../../http/schemas";

/** Settings that the routes of one execution share. */
export const shared = { tag: "Executions", auth: "any", params: executionParams, errors: ["EXECUTION_NOT_FOUND"] } as const;

/** Settings of its reading routes. */
export const reading = {
  ...shared,
  method: "GET",
  capability: "execution:read",
  role: "viewer",
  limit: "user+id",
  app: "visitors",
} as const;
