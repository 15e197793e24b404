/** The methods of the service that are about schedules and hooks. */
import { unary } from "@nodeloom/platform";
import { triggers, type executions } from "@nodeloom/proto";
import { isActive, type ScheduleRecord } from "../../store/triggers/schedule-store";
import type { HookRecord } from "../../store/triggers/hook-store";
import { nextTimes } from "./cron";
import type { Triggers } from "./triggers";

const scheduleMessage = ({ _id: id, keyId, maxMillicredits, stopped, history, ...row }: ScheduleRecord): triggers.Schedule =>
  triggers.Schedule.fromPartial({
    ...{
      id,
      workflowSlug: row.workflowSlug,
      keyId: keyId ?? "",
      cron: row.cron,
      timezone: row.timezone,
      inputsJson: row.inputsJson,
      madeBy: row.personId ?? "",
    },
    ...{ maxMillicredits: maxMillicredits ?? undefined, paused: row.paused, createdAt: row.createdAt, updatedAt: row.updatedAt },
    ...(stopped ? { stoppedCode: stopped.code, stoppedMessage: stopped.message, stoppedAt: stopped.at } : {}),
    nextTimes: isActive({ ...row, stopped }) ? nextTimes(row) : [],
    history: history
      .map(({ at, outcome, executionId, code, message }) => ({
        ...{ at, outcome, executionId: executionId ?? "", code: code ?? "", message: message ?? "" },
      }))
      .reverse(),
  });

const hookMessage = ({ _id: id, keyId, signatureHeader, deliveryIdHeader, ...row }: HookRecord): triggers.Hook =>
  triggers.Hook.fromPartial({
    ...{ id, workflowSlug: row.workflowSlug, keyId: keyId ?? "", start: row.start, expression: row.expression, madeBy: row.personId ?? "" },
    ...{ maxMillicredits: row.maxMillicredits, createdAt: row.createdAt },
    ...{ signatureHeader: signatureHeader ?? "", deliveryIdHeader: deliveryIdHeader ?? "" },
  });

type ScheduleMethods = "createSchedule" | "listSchedules" | "getSchedule" | "updateSchedule" | "deleteSchedule";
type HookMethods = "createHook" | "listHooks" | "deleteHook" | "findHook" | "readDelivery";

export const triggerHandlers = ({
  schedules,
  hooks,
  readDelivery,
}: Triggers): Pick<executions.ExecutionsServiceServer, ScheduleMethods | HookMethods> => ({
  createSchedule: unary(async (request) => ({ schedule: scheduleMessage(await schedules.create(request)) })),
  listSchedules: unary(async ({ userId, workflowSlug }) => ({
    schedules: (await schedules.list(userId, workflowSlug)).map(scheduleMessage),
  })),
  getSchedule: unary(async ({ userId, workflowSlug, id }) => ({
    schedule: scheduleMessage(await schedules.get(userId, workflowSlug, id)),
  })),
  updateSchedule: unary(async (request) => ({ schedule: scheduleMessage(await schedules.update(request)) })),
  deleteSchedule: unary(async ({ userId, workflowSlug, id }) => {
    await schedules.remove(userId, workflowSlug, id);
    return {};
  }),
  createHook: unary(async (request) => ({ hook: hookMessage(await hooks.create(request)) })),
  listHooks: unary(async ({ userId, workflowSlug }) => ({ hooks: (await hooks.list(userId, workflowSlug)).map(hookMessage) })),
  deleteHook: unary(async ({ userId, workflowSlug, id }) => {
    await hooks.remove(userId, workflowSlug, id);
    return {};
  }),
  findHook: unary(async ({ secretHash }) => {
    const { hook } = await hooks.find(secretHash);
    return { hook: hookMessage(hook), userId: hook.userId };
  }),
  readDelivery: unary(async (request) => ({ run: await readDelivery(request) })),
});
