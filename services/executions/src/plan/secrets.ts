/** All secrets that a plan names must exist for the runner before the run starts. */
import { DomainError, finding, member, nodeName, type GraphIssue, type RunPlan } from "@nodeloom/kernel";
import { createSharedReads } from "@nodeloom/platform";
import type { identity as identityProto } from "@nodeloom/proto";
import type { Identity } from "../clients";

export type RequireSecrets = (plan: Pick<RunPlan, "steps" | "labels">, userId: string) => Promise<void>;

const invalid = (issues: GraphIssue[], labels: RunPlan["labels"] = {}): DomainError => {
  const text = issues.map(({ nodeId, message }) => `${nodeName(nodeId ?? "", member(labels, nodeId ?? ""))}: ${message}`).join("; ");
  return new DomainError("precondition", "WORKFLOW_INVALID", `the workflow can't run: ${text}`, { issues });
};

/**
 * Checks a plan's secrets with identity; a plan without secrets needs no call.
 * @throws DomainError WORKFLOW_INVALID for a missing secret, SERVICE_UNAVAILABLE
 */
export const createRequireSecrets = (identity: Pick<Identity, "listSecrets">): RequireSecrets => {
  const shared = createSharedReads<identityProto.ListSecretsResponse>();
  return async ({ steps, labels }, userId) => {
    const named = steps.filter(({ secrets }) => secrets !== undefined);
    if (named.length === 0) return;
    const { secrets, configured } = await shared(userId, () => identity.listSecrets({ owner: userId }));
    const known = new Set(secrets.map(({ name }) => name));
    const why = configured ? "set it first" : "this installation keeps none (SECRETS_KEYS)";
    const issues = named.flatMap(({ id, secrets: names = [] }) =>
      names.filter((name) => !known.has(name)).map((name) => ({ nodeId: id, ...finding("SECRET_UNKNOWN", { name, advice: why }) })),
    );
    if (issues.length > 0) throw invalid(issues, labels);
  };
};
