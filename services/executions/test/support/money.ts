import { randomUUID } from "node:crypto";
import type { Connection } from "mongoose";
import { createGrpcClient, createLogger, type RunningService } from "@nodeloom/platform";
import { billing as billingProto, usage as usageProto } from "@nodeloom/proto";
import { service as billingService } from "@nodeloom/billing";
import { service as usageService } from "@nodeloom/usage";
import { holdItems } from "@nodeloom/kernel";
import { createOutbox, type Outbox } from "../../src/lifecycle/outbox";
import { createExecution, type Execution } from "../../src/lifecycle/execution";
import { newRecord } from "../../src/run/record";
import { createHolds, type Holds } from "../../src/lifecycle/holds";
import { createQueue, type Queue } from "../../src/lifecycle/queue";
import { initialNodes } from "../../src/run/nodes";
import { createHandOver } from "../../src/webhooks/hand-over";
import type { Billing, Usage } from "../../src/clients";
import type { UsageReports } from "../../src/lifecycle/usage-reports";
import type { RunEnd, RunInput } from "../../src/run/types";
import { createEnd, type End } from "../../src/lifecycle/end";
import type { Stores } from "../../src/record/stores";
import { openStore } from "./index";
import { noCanaries } from "./no-canaries";
import { startMigrated } from "../../../../test-support/start-migrated";
import { patient } from "../../../../test-support/patient";
import { inputWith, planWith } from "./run-inputs";

export const logger = createLogger("executions-test", "silent");

/** Real billing, usage and store, with the parts of executions that use them. */
export interface Money {
  billing: Billing;
  usage: Usage;
  stores: Stores;
  connection: Connection;
  execution: Execution;
  holds: Holds;
  queue: Queue;
  outbox: Outbox;
  end: End["end"];
  endQueued: End["endQueued"];
  /** Ends a run as its workflow would. @returns its status and charge */
  settle(input: RunInput, runEnd: RunEnd): Promise<{ status: string; millicredits: number }>;
  /** Started workflows, cancellations and webhook deliveries, in order. */
  started: RunInput[];
  cancelled: string[];
  delivered: string[];
  /** Prepares a run up to the start of its graph. @throws the reason if it can't be held */
  begin(input: RunInput): Promise<RunInput>;
  /** Usage rows of a user's runs, newest first. */
  usageRows(userId: string): Promise<usageProto.UsageRow[]>;
  /** Database prefix of billing and usage. */
  prefix: string;
  stop(): Promise<void>;
  /** Call it at the end of a suite: stops the services, and fails unless all runs were paid exactly once. */
  stopBalanced(): Promise<void>;
}

export const startMoney = async (): Promise<Money> => {
  const prefix = `test_${randomUUID().slice(0, 8)}_`;
  const env = { MONGODB_URI: process.env.MONGODB_URI!, MONGODB_DATABASE_PREFIX: prefix, LOG_LEVEL: "error" };
  const services: RunningService[] = [
    await startMigrated(billingService, { ...env, BILLING_LISTEN: "127.0.0.1:0" }),
    await startMigrated(usageService, { ...env, USAGE_LISTEN: "127.0.0.1:0" }),
  ];
  const [billingPort, usagePort] = [services[0]!.ports!.BILLING_LISTEN!, services[1]!.ports!.USAGE_LISTEN!];
  const billing = patient(
    createGrpcClient<billingProto.BillingServiceServer>(billingProto.BillingServiceService, {
      address: `127.0.0.1:${billingPort}`,
    }),
  );
  const usage = patient(
    createGrpcClient<usageProto.UsageServiceServer>(usageProto.UsageServiceService, { address: `127.0.0.1:${usagePort}` }),
  );
  const { stores, connection, stop } = await openStore();
  const execution = createExecution({ stores, channel: { publish: () => undefined } });
  const started: RunInput[] = [];
  const cancelled: string[] = [];
  const delivered: string[] = [];
  const starter = {
    start: async (input: RunInput): Promise<"started"> => {
      started.push(input);
      return "started";
    },
    cancel: async (id: string): Promise<void> => void cancelled.push(id),
    decided: async (): Promise<void> => undefined,
    placed: async (): Promise<void> => undefined,
  };
  const send = async ({ id }: { id: string }): Promise<object> => {
    delivered.push(id);
    return {};
  };
  const webhooks = createHandOver({ notifications: { send, getDeliveries: send, redeliver: send } as never, stores });
  const holds = createHolds({ billing });
  const queue = createQueue({ stores, starter, logger });
  const outbox = createOutbox({
    stores,
    holds,
    queue,
    reports: reportEach(usage),
    webhooks,
    canaries: noCanaries,
    mailApprovers: () => Promise.resolve(),
    erase: () => Promise.resolve(),
    starter,
    logger,
  });
  const { end, endQueued } = createEnd({ billing, execution, stores, outbox });
  const begin = async (input: RunInput): Promise<RunInput> => {
    await stores.rows.insert(newRecord(input, initialNodes(input.plan)));
    const run = { ...input, held: await holds.hold(input) };
    if (!(await execution.claim(input.executionId, input.attempt, "workflow"))) throw new Error("the run was not claimed");
    return run;
  };
  const stopAll = async (): Promise<void> => {
    billing.close();
    usage.close();
    await Promise.all(services.map((service) => service.stop()));
    await stop();
  };
  return {
    billing,
    usage,
    stores,
    connection,
    execution,
    holds,
    queue,
    outbox,
    end,
    endQueued,
    settle: settling(end),
    started,
    cancelled,
    delivered,
    begin,
    usageRows: async (userId) => (await usage.listRows(usageProto.ListRowsRequest.fromPartial({ userId, limit: 10 }))).rows,
    prefix,
    stop: stopAll,
    stopBalanced: async () => {
      const checked = await billing.checkLedger({ cursor: "" }).finally(stopAll);
      expect(checked).toMatchObject({ ok: true, mismatches: [], staleHolds: [] });
    },
  };
};

export interface PlannedNode {
  id: string;
  model: string;
  calls: number;
  maxMillicredits: number;
}

export const settling =
  (end: End["end"]) =>
  async (input: RunInput, runEnd: RunEnd): Promise<{ status: string; millicredits: number }> => {
    const row = await end({ from: "workflow", input }, runEnd);
    return { status: row?.status ?? runEnd.status, millicredits: row?.millicredits ?? 0 };
  };

/** Reports each run separately. */
export const reportEach = (usage: Pick<Usage, "startRun" | "finishRun">): UsageReports => ({
  started: async (run) => void (await usage.startRun({ run })),
  finished: async (request) => void (await usage.finishRun(request)),
});

/** A run of generator nodes as planned. */
export const runOf = (userId: string, nodes: readonly PlannedNode[], part: Partial<RunInput> = {}, markupPermille = 1_500): RunInput => {
  const steps = nodes.map(({ id, model, calls, maxMillicredits }) => ({
    ...{ id, type: "generate-image" as const, model, literals: {}, sources: {}, listPorts: [], textPorts: [], inputNames: [] },
    ...{ maxItems: calls, maxMillicredits },
  }));
  const plan = planWith(steps, { markupPermille });
  const modelIds = [...new Set(nodes.map(({ model }) => model))];
  return inputWith(randomUUID(), plan, { userId, mode: "sync", modelIds, holds: holdItems(plan), ...part });
};
