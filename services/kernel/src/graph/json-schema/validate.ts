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
 * Why a value does not fit a schema; empty when it does.
 * @param schema one whose keywords have the shapes that they must have
 * @throws BoundPassed when that takes more work than the budget has
 */
export const violations = (schema: JsonSchema, value: unknown, budget: RunBudget, options: Options): Issue[] => {
  const issues: Issue[] = [];
  enter({ ...options, root: schema, keywords: KEYWORDS, references: new Map(), budget, issues, depth: 0 }, value, schema, "");
  return issues;
};

const ANSWERS: Options = { mostIssues: 10, refused: "is not allowed", formats: ANSWER_FORMATS, patternOf };

/** The same for a schema of a user, which has no `schemaProblems`. */
export const schemaViolations = (schema: JsonSchema, value: unknown, budget: RunBudget): Issue[] =>
  violations(schema, value, budget, ANSWERS);
