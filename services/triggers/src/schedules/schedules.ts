/** Creates, reads, changes and deletes schedules. */
import { randomUUID } from "node:crypto";
import { CONFLICT_ATTEMPTS, DomainError, invalidRequest, TRIGGER_BOUNDS, unavailable, USUAL_CAPS, type Issue } from "@nodeloom/kernel";
import { isRecord, parseJsonText } from "@nodeloom/kernel/graph";
import { retryOnConflict, type Logger } from "@nodeloom/platform";
import { executions as messages, type triggers } from "@nodeloom/proto";
import { approvedTarget, type Approve } from "../approved";
import type { Arrivals } from "../arrivals-store";
import type { Executions } from "../clients";
import { ownerOf, type Owner, type Owners } from "../owners";
import { takePlace } from "../places";
import { TIMING } from "../timing";
import type { TemporalSchedules } from "./temporal-schedules";
import { timeIssues } from "./cron";
import { isActive, type ScheduleChange, type ScheduleRecord, type ScheduleStore } from "./schedule-store";

export interface SchedulesOptions {
  store: ScheduleStore;
  arrivals: Arrivals;
  owners: Owners;
  executions: Pick<Executions, "quote">;
  approve: Approve;
  temporalSchedules: Pick<TemporalSchedules, "begin" | "end" | "idOf">;
  logger: Logger;
}

const noSuchSchedule = (): DomainError => new DomainError("not_found", "NOT_FOUND", "schedule not found");

const inputIssues = (inputsJson: string): Issue[] => {
  if (Buffer.byteLength(inputsJson) > TRIGGER_BOUNDS.inputsBytes)
    return [{ path: "inputs", message: `can have at most ${TRIGGER_BOUNDS.inputsBytes} bytes: upload files and send their ids` }];
  return isRecord(parseJsonText(inputsJson)?.value) ? [] : [{ path: "inputs", message: "must be an object" }];
};

const requireValid = (issues: Issue[]): void => {
  if (issues.length > 0) throw invalidRequest(issues);
};

export type Schedules = ReturnType<typeof createSchedules>;

const takenOver = ({ keyId, personId }: Owner): ScheduleChange => ({
  keyId,
  ...(personId === undefined ? {} : { personId }),
  grantedAt: new Date(),
});

export const createSchedules = ({ store, arrivals, owners, executions, approve, temporalSchedules, logger }: SchedulesOptions) => {
  /** Checks that the owner can run the workflow with these inputs now. Stores and sends nothing. @throws the errors of a run */
  const requireRunnable = async (owner: Owner, target: messages.Target, inputsJson: string): Promise<void> => {
    const runner = await owners.runner(owner, target.target?.value ?? "");
    await executions.quote(messages.QuoteRequest.fromPartial({ target, runner, inputsJson }), { deadlineMs: TIMING.quote });
  };

  /** The row is authoritative. The next reconciliation repairs Temporal. */
  const startLater = (error: unknown): void => logger.warn({ err: error }, "a schedule is not carried yet");
  const startSchedule = async (row: ScheduleRecord, before?: ScheduleRecord): Promise<void> => {
    if (isActive(row)) await temporalSchedules.begin(row).catch(startLater);
    if (before && before.revision !== row.revision) await temporalSchedules.end(temporalSchedules.idOf(before)).catch(startLater);
  };

  const changeOf = (row: ScheduleRecord, request: triggers.UpdateScheduleRequest): ScheduleChange => {
    const { cron = row.cron, timezone = row.timezone, paused = row.paused, alias, inputsJson, limit, webhook } = request;
    const resumes = request.paused === false && row.stopped !== null;
    // A person who changes the target or the limit becomes the owner of later runs. Pausing doesn't change the owner.
    const isTakenOver =
      request.paused === false || [request.cron, request.timezone, alias, inputsJson, limit, webhook].some((one) => one !== undefined);
    const isTimed = cron !== row.cron || timezone !== row.timezone || paused !== row.paused || resumes;
    return {
      ...(inputsJson === undefined ? {} : { inputsJson }),
      ...(alias === undefined ? {} : { alias }),
      ...(webhook === undefined ? {} : { webhook: webhook.url === "" ? null : webhook }),
      ...(limit === undefined ? {} : { maxMillicredits: limit.millicredits ?? null }),
      ...(isTimed ? { cron, timezone, paused, timedAt: new Date() } : {}),
      ...(resumes ? { stopped: null, unpaid: 0 } : {}),
      ...(isTakenOver ? takenOver(ownerOf(request.owner)) : {}),
    };
  };

  return {
    /** @throws INVALID_REQUEST; PRECONDITION_FAILED at the account's limit; the error of a run that can't start */
    create: async (request: triggers.CreateScheduleRequest): Promise<ScheduleRecord> => {
      const { workflowSlug, alias, cron, timezone, inputsJson, maxMillicredits = null, paused, webhook } = request;
      const owner = ownerOf(request.owner);
      requireValid([...timeIssues({ cron, timezone }), ...inputIssues(inputsJson)]);
      await arrivals.ofOwner(owner.userId);
      await requireRunnable(owner, { ...approvedTarget(request), version: "" }, inputsJson);
      await approve(workflowSlug, owner.userId);
      const now = new Date();
      const record: Omit<ScheduleRecord, "slot"> = {
        ...{ _id: randomUUID(), ...owner, workflowSlug, cron: cron.trim(), timezone, inputsJson, maxMillicredits, paused },
        ...(alias ? { alias } : {}),
        ...(webhook?.url ? { webhook } : {}),
        ...{ stopped: null, revision: 1, timedAt: now, unpaid: 0, lastExecutionId: null, history: [], createdAt: now, updatedAt: now },
      };
      const slot = await takePlace({
        what: "schedules",
        limit: request.maxSchedules ?? USUAL_CAPS.schedules,
        usedPlaces: () => store.usedPlaces(owner.userId),
        insert: (free) => store.insert({ ...record, slot: free }),
      });
      const row = { ...record, slot };
      await startSchedule(row);
      return row;
    },

    list: async (userId: string, workflowSlug?: string): Promise<ScheduleRecord[]> => {
      await arrivals.ofOwner(userId);
      return store.list(userId, workflowSlug);
    },

    /** @throws NOT_FOUND */
    get: async (userId: string, workflowSlug: string, id: string): Promise<ScheduleRecord> => {
      const row = await arrivals.find({ id }, () => store.findOwned(userId, workflowSlug, id));
      if (!row) throw noSuchSchedule();
      return row;
    },

    /** @throws NOT_FOUND; INVALID_REQUEST; the error of a run that can't start */
    update: async (request: triggers.UpdateScheduleRequest): Promise<ScheduleRecord> => {
      const owner = ownerOf(request.owner);
      const changed = await retryOnConflict(CONFLICT_ATTEMPTS.trigger, async () => {
        const { workflowSlug, id } = request;
        const before = await arrivals.find({ id }, () => store.findOwned(owner.userId, workflowSlug, id));
        if (!before) throw noSuchSchedule();
        const change = changeOf(before, request);
        const schedule = { ...before, ...change };
        requireValid([...timeIssues(schedule), ...inputIssues(schedule.inputsJson)]);
        // Pausing is always possible.
        if (!schedule.paused) await requireRunnable(owner, approvedTarget(schedule), schedule.inputsJson);
        const after = await store.change(before, change);
        return after ? { before, after } : undefined;
      });
      if (!changed) throw unavailable("the schedule changes too often");
      await startSchedule(changed.after, changed.before);
      return changed.after;
    },

    /** @throws NOT_FOUND */
    remove: async (userId: string, workflowSlug: string, id: string): Promise<void> => {
      const removed = await arrivals.find({ id }, () => store.remove(userId, workflowSlug, id));
      if (!removed) throw noSuchSchedule();
      await temporalSchedules.end(temporalSchedules.idOf(removed)).catch(startLater);
    },
  };
};
