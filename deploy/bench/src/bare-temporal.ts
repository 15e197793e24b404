import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Client } from "@temporalio/client";
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import type { threeSteps } from "./bare-workflow";
import { answerParent } from "./child";
import { loadFor } from "./load";
import type { Sample } from "./rounds";

/** First where Temporal is, then any number of rounds. */
export type TemporalQuestion = { address: string } | { parallel: number; durationMs: number };
export type TemporalAnswer = Sample;

/** Each returns at once. */
const activities = { step: async (input: string): Promise<string> => input };
export type BareActivities = typeof activities;

const WORKFLOW: keyof { threeSteps: typeof threeSteps } = "threeSteps";
const INPUT = "Hello, world!";
/** As the executions service sets them. */
const LIMITS = {
  maxCachedWorkflows: 1_000,
  maxConcurrentLocalActivityExecutions: 200,
  maxConcurrentWorkflowTaskExecutions: 100,
};

interface Bare {
  /** Runs one workflow to its recorded result. Answers whether it was started eagerly. */
  run(): Promise<boolean>;
  stop(): Promise<void>;
}

/** Client and worker on one native connection, so that the first task of a workflow runs where it was started. */
const connect = async (address: string): Promise<Bare> => {
  Runtime.install({ logger: new DefaultLogger("WARN"), shutdownSignals: [] });
  const taskQueue = `nodeloom-bench-${randomUUID()}`;
  const [connection, workflowBundle] = await Promise.all([
    NativeConnection.connect({ address }),
    bundleWorkflowCode({ workflowsPath: join(__dirname, "bare-workflow.js"), logger: new DefaultLogger("WARN") }),
  ]);
  const worker = await Worker.create({ connection, taskQueue, workflowBundle, activities, ...LIMITS });
  const running = worker.run();
  const client = new Client({ connection });
  return {
    run: async () => {
      const handle = await client.workflow.start(WORKFLOW, {
        workflowId: randomUUID(),
        taskQueue,
        args: [INPUT],
        requestEagerStart: true,
      });
      await handle.result();
      return handle.eagerlyStarted;
    },
    stop: async () => {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
};

let bare: Bare | undefined;

const answer = async (question: TemporalQuestion): Promise<TemporalAnswer> => {
  if ("address" in question) {
    bare = await connect(question.address);
    if (!(await bare.run())) throw new Error("Temporal does not start workflows eagerly: the comparison would not be fair");
    return { latenciesMs: [], seconds: 0 };
  }
  if (!bare) throw new Error("no address was given");
  return loadFor(question.durationMs, question.parallel, bare.run);
};

answerParent(answer, async () => bare?.stop());
