import {
  DomainError,
  executionNotFound,
  nodeName,
  shownName,
  waitsForDecision,
  isRole,
  roleReaches,
  invalidRequest,
  isMedia,
  isMediaId,
  isOfFiles,
  isRecord,
  LIMITS,
  replacementIssues,
  valueBytes,
  type MediaValue,
  type ValueType,
} from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import { decisionOf, approvalOf, type Approvals } from "../lifecycle/approvals";
import type { ExecutionView } from "../run/record";
import type { Decision, Approval } from "../run/approvals";
import type { Stores } from "../record/stores";
import { parseExact } from "@nodeloom/kernel/json-text";
import type { Media } from "../clients";
import { files, mediaValue } from "../plan/files";

export interface ChangedValueOptions {
  media: Pick<Media, "getObjects" | "getObjectsByKey">;
  /** Address prefix of the platform's own storage. */
  own: string;
}

const problem = (message: string): Error => invalidRequest([{ path: "value", message }]);

const referenceOf = (value: unknown): string => {
  const reference = isRecord(value) ? value.url : value;
  if (typeof reference === "string") return reference;
  throw problem("must name a file: by its media id, or as {url} by its address in the storage");
};

export const createChangedValue = ({ media, own }: ChangedValueOptions) => {
  /** Looks up the named files in storage. Fails if one is missing. */
  const stored = async (references: readonly string[], userId: string): Promise<MediaValue[]> => {
    const keys = references.filter((reference) => reference.startsWith(own)).map((reference) => reference.slice(own.length));
    const byId = await files(media, references.filter(isMediaId), userId);
    const objects = keys.length === 0 ? [] : (await media.getObjectsByKey({ keys })).objects;
    const byAddress = new Map(objects.map((object) => [object.url, mediaValue(object)]));
    return references.map((reference) => {
      const file = byId.get(reference) ?? byAddress.get(reference);
      if (!file) throw problem(`you have no media file ${shownName(reference)}: upload it first`);
      return file;
    });
  };

  /**
   * Reads a replacement of the given type. References to files become the stored files.
   * @throws INVALID_REQUEST if the value has another type or is too large
   */
  return async (shownType: ValueType, valueJson: string, userId: string): Promise<unknown> => {
    const newValue = parseExact(valueJson);
    const items = Array.isArray(newValue) ? (newValue as unknown[]) : [newValue];
    const most = Math.max(shownType.bytes, LIMITS.changedValueBytes);
    if (valueBytes(newValue, most) > most) throw problem(`must have at most ${most} bytes as JSON`);
    const isFile = (item: unknown): boolean => isOfFiles(shownType) || isMedia(item);
    const references = items.filter(isFile).map(referenceOf);
    const filesByReference = new Map((await stored(references, userId)).map((file, index) => [references[index]!, file]));
    const replaced = items.map((item) => (isFile(item) ? filesByReference.get(referenceOf(item)) : item));
    const value = Array.isArray(newValue) ? replaced : replaced[0];
    const issues = replacementIssues(shownType, value);
    if (issues.length > 0) throw invalidRequest(issues);
    return value;
  };
};

/** True if an entry of the approvers matches the decider. A role matches only people; a service account must be named by its id. */
const isApprover = (approver: string, { personId, role, address, isService }: executions.Decider): boolean =>
  isRole(approver)
    ? !isService && isRole(role) && roleReaches(role, approver)
    : approver === personId || (address !== "" && approver === address.toLowerCase());

const denied = (nodeId: string, message: string): DomainError =>
  new DomainError("forbidden", "NOT_APPROVER", `node ${nodeName(shownName(nodeId), undefined)}: ${message}`);

/**
 * Checks the decider of an approval that names its approvers or excludes the person who started the run.
 * @throws NOT_APPROVER
 */
export const checkDecider = (
  row: ExecutionView,
  { nodeId, approvers = [], notStarter }: Approval,
  decider: executions.Decider | undefined,
): void => {
  if (approvers.length > 0 && !(decider && approvers.some((approver) => isApprover(approver, decider))))
    throw denied(nodeId, "only its approvers can decide. They are in `waitingFor` of the execution");
  const starter = row.personId ?? row.userId;
  if (notStarter && (!decider || decider.isService || decider.personId === starter))
    throw denied(nodeId, "a person who didn't start the run must decide");
};

export interface DecideOptions extends ChangedValueOptions {
  stores: Pick<Stores, "rows" | "log" | "payloads">;
  approvals: Pick<Approvals, "decide">;
}

const verbOf = ({ isApproved }: Decision): "approve" | "reject" => (isApproved ? "approve" : "reject");

/** Says that a node doesn't wait, and how it was decided. */
export const notWaiting = (row: ExecutionView, nodeId: string): DomainError => {
  const name = nodeName(shownName(nodeId), undefined);
  const earlier = decisionOf(row, nodeId);
  if (!earlier) return new DomainError("conflict", "NOT_WAITING", `the execution isn't waiting for a decision on node ${name}`);
  const who = earlier.by === "timeout" ? "when its time was over" : "before";
  return new DomainError("conflict", "NOT_WAITING", `node ${name} was decided ${who}: ${verbOf(earlier)}`, {
    decision: verbOf(earlier),
    decidedBy: earlier.by,
    decidedAt: earlier.at.toISOString(),
  });
};

export type Decide = ReturnType<typeof createDecide>;

/**
 * Decides an approval. The first decision wins, whether a person or the timeout made it.
 * @throws EXECUTION_NOT_FOUND; NOT_FOUND if the node isn't an approval of the run; NOT_WAITING; NOT_APPROVER; INVALID_REQUEST
 */
export const createDecide = ({ stores, approvals, ...files }: DecideOptions) => {
  const changedValue = createChangedValue(files);
  return async (request: executions.DecideExecutionRequest): Promise<executions.DecideExecutionResponse> => {
    const { executionId, userId, nodeId, isApproved, valueJson, personId, keyId, comment = "" } = request;
    const row = await stores.rows.findOwned(executionId, userId);
    if (!row) throw executionNotFound();
    const approval = approvalOf(row, nodeId);
    if (!approval) {
      const { nodes } = await stores.log.whole(row);
      if (nodes.some(({ id, type }) => id === nodeId && waitsForDecision(type))) throw notWaiting(row, nodeId);
      throw new DomainError("not_found", "NOT_FOUND", `the execution has no approval ${shownName(nodeId)}`);
    }
    if (row.waitingFor?.includes(nodeId) !== true) throw notWaiting(row, nodeId);
    checkDecider(row, approval, request.decider);
    const changed = valueJson === undefined ? undefined : JSON.stringify(await changedValue(approval.type, valueJson, userId));
    const decision: Decision = {
      ...{ nodeId, isApproved, by: "owner", at: new Date() },
      ...(keyId === undefined ? (personId === undefined ? {} : { userId: personId }) : { keyId }),
      ...(comment === "" ? {} : { comment }),
      ...(changed === undefined ? {} : { value: await stores.payloads.putText(changed, executionId) }),
    };
    const decided = await approvals.decide(row, decision, { userId });
    if (!decided) throw notWaiting((await stores.rows.findOwned(executionId, userId)) ?? row, nodeId);
    return executions.DecideExecutionResponse.fromPartial({
      ...{ nodeId, isApproved, decidedAt: decision.at, userId: decision.userId, keyId: decision.keyId, comment },
    });
  };
};
