import { invalidRequest, type Issue } from "@nodeloom/kernel";
import { type z } from "zod";

const MAX_ISSUES = 20;

/** What zod found, as clients see it. */
export const toIssues = (error: z.ZodError): Issue[] =>
  error.issues.slice(0, MAX_ISSUES).flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code !== "unrecognized_keys") return [{ path: path.join("."), message: issue.message }];
    return issue.keys.slice(0, MAX_ISSUES).map((key) => ({ path: [...path, key].join("."), message: "is not a known field" }));
  });

/**
 * Checks a value against a schema.
 * @throws what `invalid` makes of the issues; INVALID_REQUEST unless given.
 */
export const check = <T>(schema: z.ZodType<T>, value: unknown, invalid: (issues: Issue[]) => Error = invalidRequest): T => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(toIssues(parsed.error));
};
