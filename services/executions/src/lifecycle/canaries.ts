/** Reports runs to the canary of their alias, and announces the end of a canary that a run has decided. */
import { CANARY_EVENT, toCredits, type Reason } from "@nodeloom/kernel";
import { identity as identityProto, notifications as notificationsProto, type workflows as workflowsProto } from "@nodeloom/proto";
import type { Identity, Notifications, Workflows } from "../clients";
import type { ExecutionView } from "../run/record";

/** Failures for which neither version is responsible. */
const OF_CALLER: ReadonlySet<Reason> = new Set<Reason>([
  "INSUFFICIENT_CREDITS",
  "grant_exhausted",
  "BUDGET_EXCEEDED",
  "CONTENT_REFUSED",
  "OUTGOING_LIMIT_EXCEEDED",
]);

export interface Canaries {
  /** Counts an ended run. Repeating is safe, because the canary counts a run once and messages have ids. */
  count(row: ExecutionView): Promise<void>;
  /** Returns the credits that a canary reserved for a run that didn't start. */
  release(row: ExecutionView, holdId: string): Promise<void>;
}

export interface CanariesOptions {
  workflows: Pick<Workflows, "countCanaryRun" | "releaseCanaryRun">;
  identity: Pick<Identity, "recordAudit">;
  notifications: Pick<Notifications, "send">;
}

const outcomeOf = ({ status, error, canary }: ExecutionView): string => {
  if (canary?.isUnplanned) return "failed";
  if (status === "completed") return status;
  return status === "failed" && !(error && OF_CALLER.has(error.code)) ? status : "uncounted";
};

const armJson = ({ runs, failed, millicredits, durationMs }: workflowsProto.CanaryArm): object => ({
  ...{ runs, failed },
  creditsCost: millicredits === undefined ? null : toCredits(Math.round(millicredits)),
  durationMs: durationMs === undefined ? null : Math.round(durationMs),
});

/** The end of a canary as its event and its audit row show it. */
const endedJson = ({ slug, alias, version, ended }: workflowsProto.CanaryDecision): Record<string, unknown> => {
  const { outcome, reason, confidence, base, canary, version: canaryVersion } = ended!;
  return {
    ...{ workflowSlug: slug, alias, version, outcome, reason: reason || null, confidence },
    base: armJson(base!),
    canary: { version: canaryVersion, ...armJson(canary!) },
  };
};

export const createCanaries = ({ workflows, identity, notifications }: CanariesOptions): Canaries => {
  const announce = async (decision: workflowsProto.CanaryDecision): Promise<void> => {
    const { canaryId, slug, ownerId, alias, versionBefore, version, startedBy, ended } = decision;
    const data = endedJson(decision);
    const row = identityProto.AuditRow.fromPartial({
      ...{ id: `canary-${canaryId}`, actorId: startedBy, ownerId, action: "workflow.canary-end", target: slug },
      ...{ changeJson: JSON.stringify({ name: alias, ...data }), outcome: identityProto.AuditOutcome.AUDIT_OUTCOME_DONE },
      ...{ beforeJson: JSON.stringify({ version: versionBefore }), afterJson: JSON.stringify({ version }) },
    });
    await identity.recordAudit({ row });
    const id = `msg_canary_${canaryId}`;
    const body = { messageId: id, timestamp: ended!.endedAt, dataJson: JSON.stringify(data) };
    const webhook = { ownerId, event: CANARY_EVENT, toEndpoints: true, about: { $case: "body" as const, value: body } };
    await notifications.send({ id, message: { $case: "webhook", value: notificationsProto.Webhook.fromPartial(webhook) } });
  };

  return {
    count: async (row) => {
      const { canary, _id: executionId, holdId, millicredits, durationMs } = row;
      if (!canary) return;
      const { decision } = await workflows.countCanaryRun({
        ...{ canaryId: canary.id, executionId, holdId, isCanary: canary.arm === "canary", outcome: outcomeOf(row) },
        // An unplanned run ran, and cost, like one of the alias's version.
        ...{ millicredits: canary.isUnplanned ? 0 : millicredits, durationMs: durationMs ?? 0 },
      });
      if (decision) await announce(decision);
    },
    release: async ({ canary }, holdId) => {
      if (canary?.isReserved) await workflows.releaseCanaryRun({ canaryId: canary.id, holdId });
    },
  };
};
