import type { Execution, TestRunWithResults } from "@nodeloom/client";
import { useQueries, useQuery } from "@tanstack/react-query";
import { executionQuery } from "../../api/queries";
import { SWAP } from "../../messages/editor/swap";
import { testRunQuery } from "../versions/queries";
import { originsOf, sideOf, type Pair, type TestResult } from "./evidence";

const ENDED: ReadonlySet<string> = new Set(["passed", "failed"]);
const LONGEST_NAME = 60;

/** Executions by id, as far as they are loaded. */
const useExecutions = (ids: readonly string[]): ReadonlyMap<string, Execution> => {
  const distinct = [...new Set(ids)];
  const queries = useQueries({ queries: distinct.map((id) => executionQuery(id)) });
  return new Map(queries.flatMap(({ data }) => (data ? [[data.executionId, data] as const] : [])));
};

/** Executions of both sides of a pair, if they have ended. Without a run of the current model, the earlier run with these inputs. */
const executionsOf = ({ status, executionId, name, against }: TestResult, usesRuns: boolean): string[] => [
  ...(ENDED.has(status) ? [executionId] : []),
  ...(against && ENDED.has(against.status) ? [against.executionId] : []),
  ...(usesRuns ? [name] : []),
];

/** Title of a pair: the inputs of the earlier run, shortened. */
const inputsText = (execution: Execution | undefined, index: number): string => {
  const texts = Object.values(execution?.inputs ?? {}).flatMap((value) =>
    typeof value === "string" || typeof value === "number" ? [String(value)] : [],
  );
  const text = texts.join(" · ");
  if (text === "") return SWAP.input(index + 1);
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text;
};

/** The earlier run of the same inputs as a side, for a current model that can't run any more. */
const earlierSide = (execution: Execution | undefined): Pick<TestResult, "status" | "failures" | "price" | "executionId"> | undefined =>
  execution && { status: "passed", failures: [], price: execution.creditsCost, executionId: execution.executionId };

/** Pairs of a comparison of models on a node, followed until it ends. */
export const usePairs = (slug: string, batchId: string, nodeId: string) => {
  const { data: run, error, refetch } = useQuery(testRunQuery(slug, batchId));
  const results: TestRunWithResults["results"] = run?.results ?? [];
  const usesRuns = run?.recentRuns === true;
  const executions = useExecutions(results.flatMap((result) => executionsOf(result, usesRuns)));
  const origins = useExecutions([...executions.values()].flatMap((execution) => originsOf(execution, nodeId)));
  const all = new Map([...executions, ...origins]);
  const pairs = results.map((result, index): Pair => {
    const earlier = usesRuns ? all.get(result.name) : undefined;
    const before = result.against ?? earlierSide(earlier);
    return {
      id: result.name,
      name: usesRuns ? inputsText(earlier, index) : result.name,
      now: sideOf(result, all.get(result.executionId), nodeId, all),
      before: before && sideOf(before, all.get(before.executionId), nodeId, all),
    };
  });
  return { run, error, refetch, pairs };
};
