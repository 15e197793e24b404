/** Checks before a run starts that all secrets in its plan exist for the runner, and that its nodes can send them. */
import { DomainError, finding, isSecretOf, member, nodeName, secretForAlias, type GraphIssue, type RunPlan } from "@nodeloom/kernel";
import { createSharedReads } from "@nodeloom/platform";
import type { identity as identityProto } from "@nodeloom/proto";
import type { Identity } from "../clients";

export interface SecretsRequest {
  userId: string;
  /** Alias of the run; empty for a run of a draft, or of a version selected by number. */
  alias: string;
  /** The run's workflow; null for a model. */
  workflowSlug: string | null;
}

export type RequireSecrets = (plan: Pick<RunPlan, "steps" | "labels">, request: SecretsRequest) => Promise<void>;

const invalid = (issues: GraphIssue[], labels: RunPlan["labels"] = {}): DomainError => {
  const text = issues.map(({ nodeId, message }) => `${nodeName(nodeId ?? "", member(labels, nodeId ?? ""))}: ${message}`).join("; ");
  return new DomainError("precondition", "WORKFLOW_INVALID", `the workflow can't run: ${text}`, { issues });
};

const SHOWN_SLUGS = 5;
const shownSlugs = (slugs: readonly string[]): string =>
  `${slugs.slice(0, SHOWN_SLUGS).join(", ")}${slugs.length > SHOWN_SLUGS ? ", …" : ""}`;

/**
 * Checks a plan's secrets with identity. A plan without secrets needs no call.
 * @throws DomainError WORKFLOW_INVALID for a missing secret, or one that is limited to other workflows; SERVICE_UNAVAILABLE
 */
export const createRequireSecrets = (identity: Pick<Identity, "listSecrets">): RequireSecrets => {
  const shared = createSharedReads<identityProto.ListSecretsResponse>();
  return async ({ steps, labels }, { userId, alias, workflowSlug }) => {
    const withSecrets = steps.filter(({ secrets }) => secrets !== undefined);
    if (withSecrets.length === 0) return;
    const { secrets, configured } = await shared(userId, () => identity.listSecrets({ owner: userId }));
    const missing = (name: string): { name: string; advice: string } => {
      if (!configured) return { name, advice: "this installation keeps none (SECRETS_KEYS)" };
      if (!secrets.some((one) => one.name === name)) return { name, advice: "set it first" };
      if (alias === "") return { name: `${name} for runs without an alias`, advice: "run an alias that it has a value for" };
      return { name: `${name} for the alias ${alias}`, advice: "set its value for this alias" };
    };
    const issues = withSecrets.flatMap(({ id, secrets: names = [], innerWorkflow }) =>
      names.flatMap((name): GraphIssue[] => {
        const secret = secretForAlias(secrets, name, alias);
        if (!secret) return [{ nodeId: id, ...finding("SECRET_UNKNOWN", missing(name)) }];
        const { workflows } = secret;
        const slug = innerWorkflow ?? workflowSlug ?? "";
        if (isSecretOf(workflows, slug)) return [];
        const limited = { name, slug: slug || "this workflow", workflows: shownSlugs(workflows) };
        return [{ nodeId: id, ...finding("SECRET_LIMITED", limited) }];
      }),
    );
    if (issues.length > 0) throw invalid(issues, labels);
  };
};
