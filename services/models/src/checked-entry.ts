import { strictSchemaProblems, type Issue } from "@nodeloom/kernel";
import { entrySchema, type Entry } from "./entry";
import { pricingProblem } from "./pricing";

/** Checks that apply to entries of every origin. */

const MAX_ISSUES = 20;

const issueOf = ({ path, message }: { path: PropertyKey[]; message: string }): Issue => ({ path: path.map(String).join("."), message });

export const checkEntry = (json: unknown): { entry: Entry } | { issues: Issue[] } => {
  const parsed = entrySchema.safeParse(json);
  if (!parsed.success) return { issues: parsed.error.issues.slice(0, MAX_ISSUES).map(issueOf) };
  const { inputSchema, price } = parsed.data;
  const issues = strictSchemaProblems(inputSchema)
    .slice(0, MAX_ISSUES)
    .map((message): Issue => ({ path: "inputSchema", message }));
  // A price depends on inputs, so it is checked only if they are valid.
  const problem = issues.length > 0 || price === null ? undefined : pricingProblem(price, inputSchema);
  if (problem !== undefined) issues.push({ path: "price", message: problem });
  return issues.length > 0 ? { issues } : { entry: parsed.data };
};
