import {
  findingInWords,
  stepAddresses,
  uploadFamily,
  type GraphIssue,
  type InputField,
  type Issue,
  type ModelTerms,
  type RunPlan,
} from "@nodeloom/kernel";
import type { AddressRules } from "@nodeloom/platform";

/** Judges addresses that users name by the rules of the guarded client, as far as they are known before a run. */

type Rules = Pick<AddressRules, "problem">;

const HTTP_URL = /^https?:/i;

/** Problems of the addresses given for upload fields. */
export const uploadIssues = (fields: readonly InputField[], values: ReadonlyMap<string, unknown>, rules: Rules): Issue[] =>
  fields.flatMap((field) => {
    const value = values.get(field.name);
    if (uploadFamily(field) === undefined || typeof value !== "string" || !HTTP_URL.test(value)) return [];
    const message = rules.problem(value);
    return message === undefined ? [] : [{ path: `inputs.${field.name}`, message, code: "ADDRESS_REFUSED" }];
  });

/** Problems of the addresses that a plan's calls will name to providers; one per input. */
export const addressIssues = (plan: RunPlan, models: ReadonlyMap<string, ModelTerms>, rules: Rules): GraphIssue[] =>
  plan.steps.flatMap((step) => {
    const terms = step.model === undefined ? undefined : models.get(step.model);
    const problems = new Map<string, GraphIssue>();
    for (const { name, url } of terms ? stepAddresses(step, terms.inputSchema) : []) {
      const message = problems.has(name) ? undefined : rules.problem(url);
      if (message !== undefined) problems.set(name, { nodeId: step.id, ...findingInWords("ADDRESS_REFUSED", `${name}: ${message}`, name) });
    }
    return [...problems.values()];
  });
