/**
 * Links by which approvers decide without an account. Only approvers that a published graph names get one, by mail. A link works until the
 * decision, as long as the node waits and its address is an approver's.
 */
import { createHash, randomBytes } from "node:crypto";
import { DomainError, isRefusal, nodeName, shownName } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import type { EmailAddresses, Notifications } from "../clients";
import { approvalOf, decisionOf, isOpen, type Approvals } from "../lifecycle/approvals";
import type { DecisionLinkRecord } from "../record/runs/decision-links";
import type { Stores } from "../record/stores";
import { decidedMessages, waitingForMessages } from "./view";
import type { Approval, Decision } from "../run/approvals";
import type { ExecutionView } from "../run/record";
import { notWaiting } from "../accept/decide";

const TOKEN_BYTES = 32;

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

type ListApprovers = Pick<EmailAddresses, "listApprovers">;

/** Resolves the approvers of a node to addresses. The starter is left out if the node excludes the starter. */
const approversOf = (addresses: ListApprovers, { userId, personId }: ExecutionView, { approvers = [], notStarter }: Approval) =>
  addresses.listApprovers({ accountId: userId, approvers: [...approvers], excludedPersonId: notStarter ? (personId ?? userId) : "" });

export interface ApproverMailsOptions {
  addresses: ListApprovers;
  notifications: Pick<Notifications, "send">;
  logger: Logger;
}

/** Asks notifications to mail each approver of a waiting node. Repeating is safe, because a mail with a known id is sent once. */
export const createMailApprovers = ({ addresses, notifications, logger }: ApproverMailsOptions) => {
  /** @returns false if no mail can be sent to an approver */
  const unlessRefused = async (row: ExecutionView, work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Without a mail server, approvers decide in the console.
      if (error.reason !== "NOT_CONFIGURED") logger.warn({ err: error, executionId: row._id }, "an approver wasn't mailed");
      return error.reason !== "NOT_CONFIGURED";
    }
  };

  return async (row: ExecutionView, nodeId: string): Promise<void> => {
    const approval = approvalOf(row, nodeId);
    if (!approval || !isOpen(row, nodeId)) return;
    const { _id: executionId, userId: ownerId } = row;
    const id = `${executionId}.${createHash("sha256").update(nodeId).digest("base64url")}`;
    await unlessRefused(row, async () => {
      for (const approver of (await approversOf(addresses, row, approval)).approvers) {
        const value = { ownerId, executionId, nodeId, ...approver };
        if (!(await unlessRefused(row, () => notifications.send({ id, message: { $case: "decisionRequest", value } })))) return;
      }
    });
  };
};

export interface DecisionLinksOptions {
  stores: Pick<Stores, "rows" | "payloads" | "decisionLinks">;
  approvals: Pick<Approvals, "decide">;
  addresses: ListApprovers;
  now?: () => number;
}

interface LinkView {
  link: DecisionLinkRecord;
  /** Null if the run is no longer stored. */
  row: ExecutionView | null;
  approval: Approval | undefined;
  decision: Decision | undefined;
  state: "waiting" | "decided" | "expired" | "over";
  accountName: string;
}

const unknownLink = (): DomainError =>
  new DomainError("not_found", "NOT_FOUND", "this link is unknown, or its run was deleted. Copy the whole link from the email");

const notApprover = ({ nodeId }: DecisionLinkRecord): DomainError =>
  new DomainError("forbidden", "NOT_APPROVER", `node ${nodeName(shownName(nodeId), undefined)}: this address is no longer an approver's`);

export type DecisionLinks = ReturnType<typeof createDecisionLinks>;

export const createDecisionLinks = ({ stores, approvals, addresses, now = Date.now }: DecisionLinksOptions) => {
  const stateOf = (row: ExecutionView | null, approval: Approval | undefined, decision: Decision | undefined): LinkView["state"] => {
    if (decision) return decision.by === "timeout" ? "expired" : "decided";
    if (!row || !approval || row.status !== "processing" || row.ending || !isOpen(row, approval.nodeId)) return "over";
    return approval.until.getTime() > now() ? "waiting" : "expired";
  };

  /** @throws NOT_FOUND, NOT_APPROVER */
  const find = async (token: string): Promise<LinkView> => {
    const link = await stores.decisionLinks.find(hashOf(token));
    if (!link) throw unknownLink();
    const { executionId, ownerId, nodeId } = link;
    const row = await stores.rows.findOwned(executionId, ownerId);
    const [approval, decision] = row ? [approvalOf(row, nodeId), decisionOf(row, nodeId)] : [];
    const state = stateOf(row, approval, decision);
    if (!row || !approval || state !== "waiting") return { link, row, approval, decision, state, accountName: "" };
    const { approvers, accountName } = await approversOf(addresses, row, approval);
    // A member who was removed and is named by address is no longer a member in the list.
    const isNamed = approvers.some(({ address, personId }) => address === link.address && (link.personId || personId) === personId);
    if (!isNamed) throw notApprover(link);
    return { link, row, approval, decision, state, accountName };
  };

  const waitingMessage = async (row: ExecutionView, { nodeId, value }: Approval): Promise<executions.WaitingFor | undefined> => {
    const long = value && "hash" in value ? await stores.payloads.getText(value) : null;
    const values = new Map(long === null ? [] : [[nodeId, long]]);
    return waitingForMessages(row, values).find((waiting) => waiting.nodeId === nodeId);
  };

  return {
    /** Stores only the hash of the token. @returns undefined if the node no longer waits, or the address isn't an approver's */
    create: async (request: executions.CreateDecisionLinkRequest): Promise<executions.DecisionLink | undefined> => {
      const { executionId, ownerId, nodeId, address, personId } = request;
      const row = await stores.rows.findOwned(executionId, ownerId);
      const approval = row && approvalOf(row, nodeId);
      if (!approval || !row.mailsApprovers || stateOf(row, approval, decisionOf(row, nodeId)) !== "waiting") return undefined;
      const { approvers, accountName } = await approversOf(addresses, row, approval);
      if (!approvers.some((approver) => approver.address === address && approver.personId === personId)) return undefined;
      const token = randomBytes(TOKEN_BYTES).toString("base64url");
      await stores.decisionLinks.insert({
        ...{ _id: hashOf(token), executionId, nodeId, ownerId, address, personId },
        createdAt: new Date(now()),
      });
      const { title, until, onTimeout } = approval;
      return { token, title, until, onTimeout, workflowSlug: row.workflowSlug ?? "", accountName };
    },

    /** @throws NOT_FOUND, NOT_APPROVER */
    get: async (token: string): Promise<executions.GetDecisionLinkResponse> => {
      const { link, row, approval, decision, state, accountName } = await find(token);
      const { executionId, ownerId, nodeId, address } = link;
      return executions.GetDecisionLinkResponse.fromPartial({
        ...{ executionId, ownerId, nodeId, address, state, accountName },
        title: approval?.title ?? "",
        workflowSlug: row?.workflowSlug ?? "",
        waiting: row && approval && state === "waiting" ? await waitingMessage(row, approval) : undefined,
        decision: row && decision ? decidedMessages(row).find((decided) => decided.nodeId === nodeId) : undefined,
      });
    },

    /** Decides, once. The first decision wins. @throws NOT_FOUND, NOT_APPROVER, NOT_WAITING */
    decide: async ({ token, isApproved, comment }: executions.DecideByLinkRequest): Promise<executions.DecideExecutionResponse> => {
      const { link, row, state } = await find(token);
      const { nodeId, address, ownerId, executionId } = link;
      if (!row) throw unknownLink();
      if (state !== "waiting") throw notWaiting(row, nodeId);
      const decision: Decision = {
        ...{ nodeId, isApproved, by: "owner", at: new Date(now()), address },
        ...(comment === "" ? {} : { comment }),
      };
      const decided = await approvals.decide(row, decision, { userId: ownerId });
      if (!decided) throw notWaiting((await stores.rows.findOwned(executionId, ownerId)) ?? row, nodeId);
      return executions.DecideExecutionResponse.fromPartial({ nodeId, isApproved, decidedAt: decision.at, address, comment });
    },
  };
};
