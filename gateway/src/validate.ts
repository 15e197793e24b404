import { invalidRequest, type Issue } from "@nodeloom/kernel";
import { type z } from "zod";

const MAX_ISSUES = 20;

const NAMES: Readonly<Record<string, string>> = {
  object: "an object",
  record: "an object",
  array: "a list",
  string: "text",
  boolean: "true or false",
  int: "a whole number",
};

/** Zod's words for a wrong type are about schemas; clients want to know what is missing. */
const readable = (issue: z.core.$ZodIssue): string => {
  if (issue.code !== "invalid_type") return issue.message;
  const what = NAMES[issue.expected] ?? `a ${issue.expected}`;
  return issue.message.endsWith("received undefined") ? `is required, and must be ${what}` : `must be ${what}`;
};

/** What zod found, as clients see it. */
export const toIssues = (error: z.ZodError): Issue[] =>
  error.issues.slice(0, MAX_ISSUES).flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code !== "unrecognized_keys") return [{ path: path.join("."), message: readable(issue) }];
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
