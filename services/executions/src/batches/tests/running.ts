/** Runs the tests of a workflow as a batch: one item for each test. */
import { DomainError, judgedVersion, type WorkflowTest } from "@nodeloom/kernel";
import { derivedId } from "@nodeloom/platform";
import type { batches as proto } from "@nodeloom/proto";
import type { Workflows } from "../../clients";
import { withKeyMetadata } from "../../accept/key-metadata";
import type { Stores } from "../../record/stores";
import { FINAL_BATCHES, type ItemInput } from "../../run/batch";
import { metadataKeys } from "../../run/record";
import type { Runner } from "../../run/runner";
import { itemExecutionId } from "../item";
import type { Orders } from "../orders";
import type { Order } from "../placing";

/** Maximum number of earlier batches whose calls can be reused. */
const EARLIER_BATCHES = 10;
/** Maximum number of executions whose calls one item can reuse. */
const MOST_SOURCES = 10;

export interface TestRunsOptions {
  stores: Pick<Stores, "batches" | "payloads">;
  orders: Pick<Orders, "placeTests">;
  workflows: Pick<Workflows, "getTests">;
}

/** Test runs send no webhooks. */
const quiet = (runner: Runner): Runner => ({
  ...runner,
  ...{ source: "test", webhookUrl: "", webhookEvents: [], webhookOwn: false, endpointEvents: [] },
});

const noTests = (): DomainError =>
  new DomainError("precondition", "PRECONDITION_FAILED", "the workflow has no tests: save some in its member tests");

/** Id of the batch that runs the same tests on the version to compare with. */
export const comparedId = (batchId: string): string => derivedId("test-against", batchId);

/** The version that judges compare with, if the request names none. */
const selectedBy = (tests: readonly WorkflowTest[]): { version: string; alias: string } | undefined => {
  const judged = judgedVersion(tests);
  return judged && { version: String(judged.version ?? ""), alias: judged.alias ?? "" };
};

export type TestRunning = ReturnType<typeof createTestRunning>;

export const createTestRunning = ({ stores: { batches, payloads }, orders, workflows }: TestRunsOptions) => {
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

  /** @param compared batch that ends first; its calls are preferred for reuse */
  const itemsOf = (tests: readonly WorkflowTest[], earlier: ReadonlyMap<string, string[]>, compared?: string): ItemInput[] =>
    tests.map(({ name, inputs }, index) => {
      const nearest = compared === undefined ? [] : [itemExecutionId(compared, index)];
      const sources = [...nearest, ...(earlier.get(name) ?? [])].slice(0, MOST_SOURCES);
      return { inputsJson: JSON.stringify(inputs), settingsJson: "", ...(sources.length > 0 ? { sources } : {}) };
    });

  return {
    /**
     * Runs the tests once for each id, compared with the requested version or with the one that judges name. @throws DomainError WORKFLOW_NOT_FOUND; PRECONDITION_FAILED if there are no tests; the errors of
     * batches
     */
    run: async ({ batchId, slug, version, alias, against: requested, runner: caller, fingerprint }: proto.RunTestsRequest) => {
      if (!caller) throw new DomainError("invalid", "INVALID_REQUEST", "tests need a runner");
      const runner = quiet(caller);
      const { userId } = runner;
      return orders.placeTests({ batchId, fingerprint, userId }, async () => {
        const { testsJson, digest } = await workflows.getTests({ slug, ownerId: userId });
        const tests = JSON.parse(testsJson || "[]") as WorkflowTest[];
        if (tests.length === 0) throw noTests();
        const against = requested ?? selectedBy(tests);
        const compared = against ? comparedId(batchId) : undefined;
        const earlier = await earlierRuns(userId, slug);
        const orderOf = (selected: { version: string; alias?: string | undefined }, items: ItemInput[]): Order => ({
          ...{ target: { $case: "workflowSlug", value: slug }, version: selected.version, alias: selected.alias, until: "" },
          ...{ runner, items, maxMillicredits: undefined, concurrency: 0, stopsOnError: false, itemWebhooks: false },
          ...{ metadata: metadataKeys(withKeyMetadata({}, runner)), retentionDays: undefined, isTest: true },
        });
        return {
          test: { slug, testsJson, digest },
          order: orderOf({ version, alias }, itemsOf(tests, earlier, compared)),
          ...(against && compared !== undefined ? { compared: { id: compared, order: orderOf(against, itemsOf(tests, earlier)) } } : {}),
        };
      });
    },
  };
};
