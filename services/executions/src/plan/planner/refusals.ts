import { DomainError, invalidInputs, isRecord, labelOf, nodeName, type Graph, type GraphIssue, type Issue } from "@nodeloom/kernel";
import { parseExact } from "@nodeloom/kernel/json-text";

/** The errors by which a graph that can't run is refused. */

/** Issues that the error's text names, each by what its author calls the node; all of them are in its list. */
const NAMED_ISSUES = 10;

/** A graph that can't run, and why. */
export const invalidWorkflow = (issues: GraphIssue[], { nodes }: Graph): DomainError => {
  const nameOf = (nodeId: string): string => {
    const node = nodes.find(({ id }) => id === nodeId);
    return nodeName(nodeId, node && labelOf(node));
  };
  const named = issues.slice(0, NAMED_ISSUES).map(({ nodeId, message }) => (nodeId === null ? message : `${nameOf(nodeId)}: ${message}`));
  const rest = issues.length - named.length;
  const text = `${named.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
  return new DomainError("precondition", "WORKFLOW_INVALID", `the workflow can't run: ${text}`, { issues });
};

/** @throws DomainError INVALID_INPUTS, where something is wrong with them */
export const checkInputs = (issues: Issue[]): void => {
  if (issues.length > 0) throw invalidInputs(issues);
};

/** @throws DomainError INVALID_INPUTS, where they are no JSON object */
export const parseInputs = (json: string): Record<string, unknown> => {
  try {
    const inputs = parseExact(json);
    if (isRecord(inputs)) return inputs;
  } catch {
    // What is no JSON is no object.
  }
  throw invalidInputs([{ path: "inputs", message: "must be an object" }]);
};
