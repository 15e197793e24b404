import { unavailable } from "@nodeloom/kernel";
import { serverStream, unary } from "@nodeloom/platform";
import { executions, notifications } from "@nodeloom/proto";
import { startFakeService, type FakeService } from "../../../test-support/fake-service";
import { executionOf, type Cast } from "./cast";

const ABOUT_PEOPLE: ReadonlySet<string | undefined> = new Set(["verification", "approval"]);

/** Executions and notifications for tests of organizations: runs with owners, and requests for emails about organizations. */
export const createRunsAndMails = () => {
  const state = {
    /** Owners by execution. */
    runs: new Map<string, string>(),
    cancelled: [] as string[],
    tested: [] as notifications.TestWebhookRequest[],
    mailed: [] as notifications.SendRequest[],
    /** Number of emails that notifications fails to accept, as in a crash. */
    untaken: 0,
  };
  let currentCast: Cast | undefined;

  const owned = ({ executionId, userId }: { executionId: string; userId: string }) =>
    state.runs.get(executionId) === userId
      ? executions.Execution.fromPartial({ executionId, userId, status: "processing", createdAt: new Date(0) })
      : undefined;

  const handlers = {
    getExecution: unary<executions.GetExecutionRequest, executions.GetExecutionResponse>((request) =>
      Promise.resolve({ execution: owned(request) }),
    ),
    listExecutions: unary<executions.ListExecutionsRequest, executions.ListExecutionsResponse>(({ userId }) =>
      Promise.resolve({ executions: currentCast && userId === currentCast.id ? [executionOf(currentCast)] : [], nextCursor: "" }),
    ),
    cancelExecution: unary<executions.CancelExecutionRequest, executions.CancelExecutionResponse>(({ executionId }) => {
      state.cancelled.push(executionId);
      return Promise.resolve({ status: "cancel_requested" });
    }),
    // Starts and continues while a client listens. The table's requests end at once.
    watchExecution: serverStream<executions.WatchExecutionRequest, executions.WatchExecutionResponse>(async function* (
      { executionId },
      signal,
    ) {
      yield executions.WatchExecutionResponse.fromPartial({ sequence: 1, type: "started", at: new Date(0), dataJson: "{}" });
      if (executionId === currentCast?.owned.executionId) return;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    }),
  };

  const sending = {
    testWebhook: unary<notifications.TestWebhookRequest, notifications.TestWebhookResponse>((request) => {
      state.tested.push(request);
      return Promise.resolve(notifications.TestWebhookResponse.fromPartial({ delivered: true, status: 204 }));
    }),
    send: unary<notifications.SendRequest, notifications.SendResponse>((request) => {
      if (ABOUT_PEOPLE.has(request.message?.$case)) return Promise.resolve({});
      state.untaken -= 1;
      if (state.untaken >= 0) throw unavailable("notifications is away");
      state.mailed.push(request);
      return Promise.resolve({});
    }),
  };

  return Object.assign(state, {
    start: (): Promise<FakeService> =>
      startFakeService(executions.ExecutionsServiceService, handlers, {
        definition: notifications.NotificationsServiceService,
        handlers: sending,
      }),
    /** Adds the run that the tenancy table requests. */
    show: (cast: Cast): void => {
      currentCast = cast;
      state.runs.set(cast.owned.executionId, cast.id);
    },
    /** Emails about one subject, by the prefix of their ids. */
    mailsOf: (about: string): notifications.SendRequest[] => state.mailed.filter(({ id }) => id.startsWith(about)),
    forget: (): void => void Object.assign(state, { cancelled: [], tested: [], mailed: [], untaken: 0 }),
  });
};
