import { LIMITS } from "../../limits";
import { textBytes } from "../bounds";
import { BoundPassed, charactersOfWork, createBudget } from "../budget";
import { parseJsonText } from "../values/json-text";
import type { JsonSchema } from "../prices/price";
import { schemaViolations } from "./validate";

/** Steps that checking one answer may take: at most about 50 ms. */
export const ANSWER_WORK = 30_000;

/** An answer between the marks of a code block, as models write them. */
const FENCED = /^```[a-z]*\s*\n([\s\S]*?)\n?```$/i;

/** What a model's answer says as JSON, or why that is not what was asked for. */
export type ReadAnswer = { value: unknown } | { problems: string[] };

/** Reads a model's answer as JSON that fits a schema. */
export const readAnswer = (text: string, schema: JsonSchema): ReadAnswer => {
  if (textBytes(text) > LIMITS.textValueBytes) return { problems: [`it is longer than ${LIMITS.textValueBytes} bytes`] };
  const trimmed = text.trim();
  const parsed = parseJsonText(FENCED.exec(trimmed)?.[1] ?? trimmed);
  if (!parsed) return { problems: ["it is no JSON"] };
  const budget = createBudget({}, { valueBytes: Infinity, calls: Infinity, work: ANSWER_WORK });
  try {
    budget.work(charactersOfWork(text.length));
    const issues = schemaViolations(schema, parsed.value, budget);
    if (issues.length === 0) return parsed;
    return { problems: issues.map(({ path, message }) => (path === "" ? `it ${message}` : `${path} ${message}`)) };
  } catch (error) {
    if (!(error instanceof BoundPassed)) throw error;
    return { problems: ["it takes too much work to check by its schema"] };
  }
};
