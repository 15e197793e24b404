import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Client } from "@temporalio/client";
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { activities } from "./activities";
import type { oneCall, threeSteps } from "./workflow";
import { answerParent } from "../child";
import { loadFor } from "../load";
import type { Sample } from "../rounds";

/** The first question has Temporal's address. Later ones are rounds: of three steps, or of one call if an address is given. */
export type TemporalQuestion = { address: string } | { parallel: number; durationMs: number; url?: string };
export type TemporalAnswer = Sample;

const STEPS: keyof { threeSteps: typeof threeSteps } = "threeSteps";
const CALL: keyof { oneCall: typeof oneCall } = "oneCall";
const INPUT = "Hello, world!";
/** Limits as in the executions service. */
const LIMITS = {
  maxCachedWorkflows: 1_000,
  maxConcurrentLocalActivityExecutions: 200,
  maxConcurrentWorkflowTaskExecutions: 100,
};

interface Bare {
  /** Runs one workflow until its result is recorded. Returns true if it was started eagerly. */
  run(url?: string): Promise<boolean>;
  stop(): Promise<void>;
}

/** Connects a client and a worker through one native connection, so that a workflow's first task runs in the process that started it. */
const connect = async (address: string): Promise<Bare> => {
  Runtime.install({ logger: new DefaultLogger("WARN"), shutdownSignals: [] });
  const taskQueue = `nodeloom-bench-${randomUUID()}`;
  const [connection, workflowBundle] = await Promise.all([
    NativeConnection.connect({ address }),
    bundleWorkflowCode({ workflowsPath: join(__dirname, "workflow.js"), logger: new DefaultLogger("WARN") }),
  ]);
  const worker = await Worker.create({ connection, taskQueue, workflowBundle, activities, ...LIMITS });
  const running = worker.run();
  const client = new Client({ connection });
  return {
    run: async (url) => {
      const handle = await client.workflow.start(url === undefined ? STEPS : CALL, {
        workflowId: randomUUID(),
        taskQueue,
        args: [url ?? INPUT],
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
  const { run } = bare;
  return loadFor(question.durationMs, question.parallel, () => run(question.url));
};

answerParent(answer, async () => bare?.stop());
