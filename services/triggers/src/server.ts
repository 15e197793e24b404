/** The gRPC service of triggers. */
import { unary } from "@nodeloom/platform";
import { triggers } from "@nodeloom/proto";
import type { HookRecord } from "./hooks/hook-store";
import { nextTimes } from "./schedules/cron";
import { isActive, type ScheduledTime, type ScheduleRecord } from "./schedules/schedule-store";
import type { Triggers } from "./triggers";

const timeMessage = ({ at, outcome, executionId, code, message }: ScheduledTime): triggers.ScheduledTime => ({
  ...{ at, outcome, executionId: executionId ?? "", code: code ?? "", message: message ?? "" },
});

const scheduleMessage = ({ _id: id, keyId, maxMillicredits, stopped, history, ...row }: ScheduleRecord): triggers.Schedule =>
  triggers.Schedule.fromPartial({
    ...{
      id,
      workflowSlug: row.workflowSlug,
      alias: row.alias,
      keyId: keyId ?? "",
      cron: row.cron,
      timezone: row.timezone,
      inputsJson: row.inputsJson,
      madeBy: row.personId ?? "",
    },
    ...{ maxMillicredits: maxMillicredits ?? undefined, paused: row.paused, createdAt: row.createdAt, updatedAt: row.updatedAt },
    ...(stopped ? { stoppedCode: stopped.code, stoppedMessage: stopped.message, stoppedAt: stopped.at } : {}),
    webhook: row.webhook ?? undefined,
    nextTimes: isActive({ ...row, stopped }) ? nextTimes(row) : [],
    history: history.map(timeMessage).reverse(),
  });

const hookMessage = ({ _id: id, keyId, signatureHeader, deliveryIdHeader, ...row }: HookRecord): triggers.Hook =>
  triggers.Hook.fromPartial({
    ...{ id, workflowSlug: row.workflowSlug, keyId: keyId ?? "", start: row.start, expression: row.expression, madeBy: row.personId ?? "" },
    ...{ alias: row.alias, maxMillicredits: row.maxMillicredits, createdAt: row.createdAt },
    ...{ signatureHeader: signatureHeader ?? "", deliveryIdHeader: deliveryIdHeader ?? "" },
  });

export const triggersHandlers = ({ schedules, hooks, readDelivery, fire }: Triggers): triggers.TriggersServiceServer => ({
  createSchedule: unary(async (request) => ({ schedule: scheduleMessage(await schedules.create(request)) })),
  listSchedules: unary(async ({ userId, workflowSlug }) => ({
    schedules: (await schedules.list(userId, workflowSlug || undefined)).map(scheduleMessage),
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
  listHooks: unary(async ({ userId, workflowSlug }) => ({ hooks: (await hooks.list(userId, workflowSlug || undefined)).map(hookMessage) })),
  deleteHook: unary(async ({ userId, workflowSlug, id }) => {
    await hooks.remove(userId, workflowSlug, id);
    return {};
  }),
  findHook: unary(async ({ secretHash }) => {
    const { hook } = await hooks.find(secretHash);
    return { hook: hookMessage(hook), userId: hook.userId };
  }),
  readDelivery: unary(async (request) => ({ run: await readDelivery(request) })),
  fireSchedule: unary(async ({ scheduleId, at }) => {
    const time = await fire(scheduleId, at ?? new Date());
    return { time: time ? timeMessage(time) : undefined };
  }),
  exportTriggers: unary(async ({ ownerId }) => ({
    schedules: (await schedules.list(ownerId)).map((row) => JSON.stringify(row)),
    hooks: (await hooks.list(ownerId)).map((row) => JSON.stringify({ ...row, secretHash: undefined })),
  })),
});
