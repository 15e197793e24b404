import { randomUUID } from "node:crypto";
import { createGrpcClient, createLogger, type RunningService } from "@nodeloom/platform";
import { billing as billingProto, usage as usageProto } from "@nodeloom/proto";
import { service as billingService } from "@nodeloom/billing";
import { service as usageService } from "@nodeloom/usage";
import { holdItems, type RunPlan } from "@nodeloom/kernel";
import { createAdmission } from "../../src/lifecycle/admission";
import { createExecution, type Execution } from "../../src/lifecycle/execution";
import { createInstantRuns } from "../../src/lifecycle/instant";
import type { Billing, Usage } from "../../src/clients";
import type { RunInput } from "../../src/contract/run-types";
import { createSettlement } from "../../src/lifecycle/settlement";
import type { ExecutionStore } from "../../src/record/store";
import { openStore } from "./index";

export const logger = createLogger("executions-test", "silent");

/** The real billing and usage services, a real store, and what executions does with them. */
export interface Money {
  billing: Billing;
  usage: Usage;
  store: ExecutionStore;
  execution: Execution;
  admission: ReturnType<typeof createAdmission>;
  settlement: ReturnType<typeof createSettlement>;
  runInstant: ReturnType<typeof createInstantRuns>;
  /** Database prefix of billing and usage. */
  prefix: string;
  stop(): Promise<void>;
}

export const startMoney = async (): Promise<Money> => {
  const prefix = `test_${randomUUID().slice(0, 8)}_`;
  const env = { MONGODB_URI: process.env.MONGODB_URI!, MONGODB_DATABASE_PREFIX: prefix, LOG_LEVEL: "error" };
  const services: RunningService[] = [
    await billingService.start({ ...env, BILLING_LISTEN: "127.0.0.1:0" }),
    await usageService.start({ ...env, USAGE_LISTEN: "127.0.0.1:0" }),
  ];
  const [billingPort, usagePort] = [services[0]!.ports!.BILLING_LISTEN!, services[1]!.ports!.USAGE_LISTEN!];
  const billing = createGrpcClient<billingProto.BillingServiceServer>(billingProto.BillingServiceService, {
    address: `127.0.0.1:${billingPort}`,
  });
  const usage = createGrpcClient<usageProto.UsageServiceServer>(usageProto.UsageServiceService, { address: `127.0.0.1:${usagePort}` });
  const { store, stop } = await openStore();
  const execution = createExecution({ store, channel: { publish: () => undefined, subscribe: () => () => undefined } });
  return {
    billing,
    usage,
    store,
    execution,
    admission: createAdmission({ billing, usage, execution, logger }),
    settlement: createSettlement({ billing, usage, execution }),
    runInstant: createInstantRuns({ billing, usage, execution }),
    prefix,
    stop: async () => {
      billing.close();
      usage.close();
      await Promise.all(services.map((service) => service.stop()));
      await stop();
    },
  };
};

export interface PlannedNode {
  id: string;
  model: string;
  calls: number;
  maxMillicredits: number;
}

/** A run of some generator nodes, as planning would have made it. */
export const runOf = (userId: string, nodes: readonly PlannedNode[], part: Partial<RunInput> = {}, markupPermille = 1_500): RunInput => {
  const plan: RunPlan = {
    steps: nodes.map(({ id, model, calls, maxMillicredits }) => ({
      id,
      type: "generate-image",
      model,
      literals: {},
      sources: {},
      listPorts: [],
      textPorts: [],
      inputNames: [],
      maxItems: calls,
      maxMillicredits,
    })),
    evaluated: [],
    warnings: {},
    models: {},
    output: {},
    outputNodes: [],
    markupPermille,
  };
  const executionId = randomUUID();
  return {
    executionId,
    userId,
    mode: "sync",
    workflowSlug: null,
    source: "api-slim",
    keyId: null,
    webhook: null,
    concurrency: 0,
    plan,
    modelIds: [...new Set(nodes.map(({ model }) => model))],
    holds: holdItems(plan),
    holdId: executionId,
    receivedAt: Date.now(),
    ...part,
  };
};
