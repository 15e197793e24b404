import { didYouMean, invalidRequest, type Issue } from "@nodeloom/kernel";
import { z } from "zod";

const MAX_ISSUES = 20;

type RawIssue = z.core.$ZodRawIssue;

const NAMES: Readonly<Record<string, string>> = {
  object: "an object",
  record: "an object",
  array: "a list",
  string: "text",
  boolean: "true or false",
  int: "a whole number",
};

const UNITS: Readonly<Record<string, string>> = { string: " characters", array: " items" };

const wrongType = ({ input, expected }: RawIssue): string => {
  if (expected === "nonoptional") return "is required";
  const name = String(expected);
  const what = NAMES[name] ?? `a ${name}`;
  return input === undefined ? `is required, and must be ${what}` : `must be ${what}`;
};

const bound = (comparison: string, limit: unknown, origin: unknown): string => {
  const unit = UNITS[String(origin)];
  return unit === undefined ? `must be ${comparison} ${String(limit)}` : `must have ${comparison} ${String(limit)}${unit}`;
};

const FORMATS: Readonly<Record<string, string>> = {
  url: "must be an http or https URL",
  email: "must be an e-mail address",
  date: "must be a date, such as 2026-05-04",
  datetime: "must be a time in ISO 8601 with a time zone, such as 2026-05-04T12:00:00Z",
};

const oneOf = (values: readonly unknown[]): string => {
  const names = values.map((value) => (typeof value === "string" ? JSON.stringify(value) : String(value)));
  return `must be ${names.length > 1 ? "one of " : ""}${names.join(", ")}`;
};

/** Replaces zod's messages about schemas by sentences about missing or allowed values. A schema's own messages take precedence. */
const inWords = (issue: RawIssue): string | undefined => {
  switch (issue.code) {
    case "invalid_type":
      return wrongType(issue);
    case "invalid_value":
      return `${oneOf(issue.values)}${typeof issue.input === "string" ? didYouMean(issue.input, issue.values.map(String)) : ""}`;
    case "invalid_union":
      // The discriminator and its allowed values.
      return Array.isArray(issue.options) ? oneOf(issue.options) : undefined;
    case "invalid_key":
      // The key's schema has its own messages.
      return `its name ${issue.issues.map(({ message }) => message).join(", and ")}`;
    case "too_small":
      if (issue.minimum === 1 && UNITS[issue.origin] !== undefined) return "must not be empty";
      return bound("at least", issue.minimum, issue.origin);
    case "too_big":
      return bound("at most", issue.maximum, issue.origin);
    case "invalid_format":
      return FORMATS[issue.format];
    default:
      return undefined;
  }
};

const stepInto = (schema: unknown, step: string): unknown => {
  if (schema instanceof z.ZodObject) return (schema.shape as Record<string, unknown>)[step];
  return schema instanceof z.ZodArray ? schema.element : undefined;
};

const unwrapped = (schema: unknown): unknown =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault
    ? unwrapped(schema.unwrap())
    : schema;

/** Members of the object schema at a path; empty for other schemas. */
const namesAt = (schema: z.ZodType, path: readonly string[]): string[] => {
  const at = path.reduce<unknown>((outer, step) => unwrapped(stepInto(outer, step)), unwrapped(schema));
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
};

/** Converts zod's issues for clients. `queryNames` are the route's query parameters, which callers sometimes send in the body. */
const toIssues = (error: z.ZodError, schema: z.ZodType, queryNames: readonly string[]): Issue[] =>
  error.issues.slice(0, MAX_ISSUES).flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === "unrecognized_keys") {
      const names = namesAt(schema, path);
      const isQuery = (key: string): boolean => path.length === 0 && queryNames.includes(key);
      return issue.keys.slice(0, MAX_ISSUES).map((key) => ({
        path: [...path, key].join("."),
        message: isQuery(key) ? `belongs in the URL: add ?${key}=…` : `is not known${didYouMean(key, names)}`,
      }));
    }
    // Only a body can be wrong as a whole.
    const message = path.length === 0 && issue.code === "invalid_type" ? `the body ${issue.message}` : issue.message;
    return [{ path: path.join("."), message }];
  });

/** Checks a value against a schema. @throws the error that `invalid` creates; INVALID_REQUEST by default */
export const check = <T>(
  schema: z.ZodType<T>,
  value: unknown,
  invalid: (issues: Issue[]) => Error = invalidRequest,
  query?: z.ZodType,
): T => {
  const parsed = schema.safeParse(value, { error: inWords });
  if (parsed.success) return parsed.data;
  throw invalid(toIssues(parsed.error, schema, query ? namesAt(query, []) : []));
};

/** Checks query parameters. Repeated parameters are rejected. */
export const checkQuery = <T>(schema: z.ZodType<T>, query: Readonly<Record<string, unknown>>): T =>
  check(schema, query, (issues) =>
    invalidRequest(issues.map((issue) => (Array.isArray(query[issue.path]) ? { ...issue, message: "must be given once" } : issue))),
  );
