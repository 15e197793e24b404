/** Runs and prices the tests of a workflow, or the inputs of its last runs, as a batch: one item for each. */
import { DomainError, judgedVersion, type WorkflowTest } from "@nodeloom/kernel";
import { derivedId } from "@nodeloom/platform";
import { batches as proto } from "@nodeloom/proto";
import type { Workflows } from "../../clients";
import { withKeyMetadata } from "../../accept/run-input";
import type { Stores } from "../../record/stores";
import { FINAL_BATCHES, type ItemInput } from "../../run/batch";
import { metadataKeys } from "../../run/record";
import type { Runner } from "../../run/runner";
import { itemExecutionId } from "../item";
import type { Orders } from "../orders";
import type { Order, TestOrder } from "../placing";

/** Maximum number of earlier batches whose calls can be reused. */
const EARLIER_BATCHES = 10;
/** Maximum number of executions whose calls one item can reuse. */
const MOST_SOURCES = 10;

export interface TestRunsOptions {
  stores: Pick<Stores, "batches" | "payloads" | "rows">;
  orders: Pick<Orders, "placeTests" | "quoteTests">;
  workflows: Pick<Workflows, "getTests">;
}

/** Test runs send no webhooks. */
const quiet = (runner: Runner): Runner => ({
  ...runner,
  ...{ source: "test", webhookUrl: "", webhookEvents: [], webhookOwn: false, endpointEvents: [] },
});

const noTests = (): DomainError =>
  new DomainError("precondition", "PRECONDITION_FAILED", "the workflow has no tests: save some in its member tests");

const noRuns = (): DomainError =>
  new DomainError("precondition", "PRECONDITION_FAILED", "the workflow has no completed runs whose inputs are kept: run it first");

interface Tests {
  tests: WorkflowTest[];
  /** Equal tests have equal digests; empty if a version that passes them didn't pass the workflow's tests. */
  digest: string;
  /** Executions whose calls a test can reuse, by its name. */
  sources: ReadonlyMap<string, readonly string[]>;
}

/** Id of the batch that runs the same tests on the version to compare with. */
export const comparedId = (batchId: string): string => derivedId("test-against", batchId);

/** The version that judges compare with, if the request names none. */
const selectedBy = (tests: readonly WorkflowTest[]): { version: string; alias: string } | undefined => {
  const judged = judgedVersion(tests);
  return judged && { version: String(judged.version ?? ""), alias: judged.alias ?? "" };
};

export type TestRunning = ReturnType<typeof createTestRunning>;

export const createTestRunning = ({ stores: { batches, payloads, rows }, orders, workflows }: TestRunsOptions) => {
  /** Returns completed executions of earlier test runs by test name, newest first. */
  const earlierRuns = async (userId: string, slug: string): Promise<Map<string, string[]>> => {
    const byName = new Map<string, string[]>();
    for (const batch of await batches.tested(userId, slug, EARLIER_BATCHES)) {
      if (!FINAL_BATCHES.includes(batch.status)) continue;
      const json = batch.test && (await payloads.getText(batch.test.tests));
      const names = json ? (JSON.parse(json) as WorkflowTest[]).map(({ name }) => name) : [];
      for (const { index, status, isErased } of await batches.rowsFrom(batch._id, 0, batch.total)) {
        const name = names[index];
        if (name === undefined || status !== "completed" || isErased) continue;
        byName.set(name, [...(byName.get(name) ?? []), itemExecutionId(batch._id, index)]);
      }
    }
    return byName;
  };

  /** Returns the inputs of the last completed runs as tests without expectations. Each has its run's id as its name. */
  const recentRuns = async (userId: string, slug: string, count: number): Promise<WorkflowTest[]> => {
    const tests = new Map<string, WorkflowTest>();
    for await (const { _id, inputs, until } of rows.recentInputs(userId, slug)) {
      const json = inputs ? await payloads.getText(inputs) : "{}";
      if (json === null || (until ?? "") !== "" || tests.has(json)) continue;
      tests.set(json, { name: _id, inputs: JSON.parse(json) as Record<string, unknown>, expect: [] });
      if (tests.size === count) break;
    }
    if (tests.size === 0) throw noRuns();
    return [...tests.values()];
  };

  const readTests = async (userId: string, { slug, recentRuns: count, settingsJson }: proto.RunTestsRequest): Promise<Tests> => {
    const { testsJson, digest } = await workflows.getTests({ slug, ownerId: userId });
    const earlier = await earlierRuns(userId, slug);
    if (count > 0) {
      const tests = await recentRuns(userId, slug, count);
      return { tests, digest: "", sources: new Map(tests.map(({ name }) => [name, [name, ...(earlier.get(name) ?? [])]])) };
    }
    const tests = JSON.parse(testsJson || "[]") as WorkflowTest[];
    if (tests.length === 0) throw noTests();
    return { tests, digest: settingsJson === "" ? digest : "", sources: earlier };
  };

  /** @param compared batch that ends first; its calls are preferred for reuse */
  const itemsOf = ({ tests, sources }: Tests, settingsJson: string, compared?: string): ItemInput[] =>
    tests.map(({ name, inputs }, index) => {
      const nearest = compared === undefined ? [] : [itemExecutionId(compared, index)];
      const ids = [...nearest, ...(sources.get(name) ?? [])].slice(0, MOST_SOURCES);
      return { inputsJson: JSON.stringify(inputs), settingsJson, ...(ids.length > 0 ? { sources: ids } : {}) };
    });

  const runnerOf = ({ runner }: proto.RunTestsRequest): Runner => {
    if (!runner) throw new DomainError("invalid", "INVALID_REQUEST", "tests need a runner");
    return quiet(runner);
  };

  const orderOf = async (request: proto.RunTestsRequest, runner: Runner): Promise<TestOrder> => {
    const { batchId, slug, version, alias, settingsJson, recentRuns: count } = request;
    const tests = await readTests(runner.userId, request);
    const against = request.against ?? selectedBy(tests.tests);
    const compared = against ? comparedId(batchId) : undefined;
    const sideOf = (selected: { version: string; alias?: string | undefined }, items: ItemInput[]): Order => ({
      ...{ target: { $case: "workflowSlug", value: slug }, version: selected.version, alias: selected.alias, until: "" },
      ...{ runner, items, maxMillicredits: undefined, concurrency: 0, stopsOnError: false, itemWebhooks: false },
      ...{ metadata: metadataKeys(withKeyMetadata({}, runner)), retentionDays: undefined, isTest: true },
    });
    return {
      test: {
        ...{ slug, digest: tests.digest, testsJson: JSON.stringify(tests.tests) },
        ...(settingsJson === "" ? {} : { settingsJson }),
        ...(count > 0 ? { isRecentRuns: true as const } : {}),
      },
      order: sideOf({ version, alias }, itemsOf(tests, settingsJson, compared)),
      ...(against && compared !== undefined ? { compared: { id: compared, order: sideOf(against, itemsOf(tests, "")) } } : {}),
    };
  };

  return {
    /**
     * Runs the tests once for each id, compared with the requested version or with the one that judges name. @throws DomainError
     * WORKFLOW_NOT_FOUND; PRECONDITION_FAILED if there are no tests or no earlier runs; the errors of batches
     */
    run: async (request: proto.RunTestsRequest) => {
      const { batchId, fingerprint } = request;
      const runner = runnerOf(request);
      return orders.placeTests({ batchId, fingerprint, userId: runner.userId }, () => orderOf(request, runner));
    },

    /** Returns the price of both sides, without calls that earlier runs made, and without judges. @throws the errors of `run` */
    quote: async ({ tests }: proto.QuoteTestsRequest): Promise<proto.QuoteTestsResponse> => {
      const request = proto.RunTestsRequest.fromPartial(tests ?? {});
      const runner = runnerOf(request);
      return { quote: await orders.quoteTests(runner.userId, () => orderOf(request, runner)) };
    },
  };
};
