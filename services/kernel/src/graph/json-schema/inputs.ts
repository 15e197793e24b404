import type { Issue } from "../../errors";
import { BoundPassed, createBudget } from "../budget";
import type { JsonSchema } from "../prices/price";
import { INPUT_FORMATS } from "./formats";
import { scriptPatternOf } from "./pattern";
import { inputSchemaProblems } from "./read";
import { violations } from "./validate";

const OPTIONS = { mostIssues: 20, rejection: "is not an input of this model", formats: INPUT_FORMATS, patternOf: scriptPatternOf };
/** No bounds are needed, because the work is linear in the size of the inputs, which is bounded elsewhere. */
const UNBOUNDED = { valueBytes: Infinity, calls: Infinity, work: Infinity };

/**
 * Creates a check against an operator's schema (JSON Schema 2020-12). The check returns up to twenty problems of a value.
 * @throws Error if the schema itself is invalid
 */
export const createInputCheck = (schema: JsonSchema): ((value: unknown) => Issue[]) => {
  const problems = inputSchemaProblems(schema);
  if (problems.length > 0) throw new Error(problems.join("; "));
  return (value) => {
    try {
      return violations(schema, value, createBudget({}, UNBOUNDED), OPTIONS);
    } catch (error) {
      if (!(error instanceof BoundPassed)) throw error;
      return [{ path: "", message: error.message }];
    }
  };
};
