import type { Issue } from "../../errors";
import type { RunBudget } from "../budget";
import type { JsonSchema } from "../prices/price";
import { enter, type Options } from "./check";
import { CONTAINER_KEYWORDS } from "./container-keywords";
import { ANSWER_FORMATS } from "./formats";
import { patternOf } from "./pattern";
import { VALUE_KEYWORDS } from "./value-keywords";

const KEYWORDS = { ...VALUE_KEYWORDS, ...CONTAINER_KEYWORDS };

/**
 * Reasons why a value doesn't match a schema; empty if it matches.
 * @param schema a schema whose form is valid
 * @throws BoundPassed if the check exceeds the budget
 */
export const violations = (schema: JsonSchema, value: unknown, budget: RunBudget, options: Options): Issue[] => {
  const issues: Issue[] = [];
  enter({ ...options, root: schema, keywords: KEYWORDS, references: new Map(), budget, issues, depth: 0 }, value, schema, "");
  return issues;
};

const ANSWERS: Options = { mostIssues: 10, rejection: "is not allowed", formats: ANSWER_FORMATS, patternOf };

/** Runs `violations` for a user's schema, which must have passed `schemaProblems`. */
export const schemaViolations = (schema: JsonSchema, value: unknown, budget: RunBudget): Issue[] =>
  violations(schema, value, budget, ANSWERS);
