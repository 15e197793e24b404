/** Builds a message's body at each attempt. */
import { unlessNotFound } from "@nodeloom/kernel";
import { auditRowJson } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import type { Executions, Identity } from "../clients";
import type { About, DeliveryRecord } from "../delivery";
import type { Message } from "./send";

const aboutOf = (about: Extract<About, { kind: "run" | "batch" }>, forEndpoint: boolean): executions.GetWebhookMessageRequest =>
  about.kind === "batch"
    ? { about: { $case: "batchId", value: about.batchId }, nodeId: "", forEndpoint }
    : { about: { $case: "executionId", value: about.executionId }, nodeId: about.nodeId ?? "", forEndpoint };

/**
 * @returns undefined if there is nothing left to announce
 * @throws SERVICE_UNAVAILABLE while a run isn't final
 */
export const createReadMessage =
  (services: { executions: Pick<Executions, "getWebhookMessage">; identity: Pick<Identity, "getAuditRow" | "listKeys"> }) =>
  async ({
    about,
    event,
    endpointId,
    ownerId,
  }: Pick<DeliveryRecord, "about" | "event" | "endpointId" | "ownerId">): Promise<Message | undefined> => {
    if (about.kind === "body")
      return { id: about.messageId, type: event, timestamp: about.at, data: JSON.parse(about.dataJson) as unknown };
    if (about.kind === "auditRow") {
      const { row } = (await unlessNotFound(services.identity.getAuditRow({ ownerId, id: about.rowId }))) ?? {};
      if (!row) return undefined;
      const { keyId } = row;
      const keyRequest = { userId: ownerId, selection: { keyIds: [keyId] }, withDeleted: true };
      const { keys } = keyId === "" ? { keys: [] } : await services.identity.listKeys(keyRequest);
      const keyName = keys[0]?.name ?? null;
      return { id: `msg_audit_${about.rowId}`, type: event, timestamp: row.at ?? new Date(0), data: { ...auditRowJson(row), keyName } };
    }
    const { message } = await services.executions.getWebhookMessage(aboutOf(about, endpointId !== undefined));
    if (!message) return undefined;
    const { id, type, timestamp, dataJson, bare } = message;
    return { id, type, timestamp: timestamp!, data: JSON.parse(dataJson) as unknown, isBare: bare };
  };
