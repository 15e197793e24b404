import { isDeepStrictEqual } from "node:util";
import { eventually } from "../../../test-support/eventually";
import { INNER, type Graph } from "./graph";
import { expectedOf, type Expectation } from "./reference";
import { UPLOADED, type RandomGraph, type Start } from "./shapes";
import { ADDRESS, Unsuitable } from "./values";

/** Runs random graphs as a user, and compares the ends of their runs with the reference. */

export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}
/** Calls the API as the graphs' owner. */
export type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

export interface Execution {
  status: string;
  result?: Record<string, unknown>;
  error?: { code: string; nodeId?: string; message?: string } | null;
  nodes: { id: string; status: string; creditsCost: number }[];
  waitingFor?: { nodeId: string }[];
}

/** Time limit of a run. Approvals are answered at once. */
export const END_MS = 30_000;
const FINAL = ["completed", "failed", "cancelled"];
/** The quote rejected the graph or its inputs. */
const REFUSED = [400, 422];

/** Resources used by unsaved graphs: an uploaded picture, and inner workflows. */
export interface Names {
  mediaId: string;
  slugs: Readonly<Record<string, string>>;
}

const withNames = <T>(value: T, { mediaId, slugs }: Names): T => {
  const names = new Map([[UPLOADED, mediaId], ...Object.entries(slugs)]);
  return JSON.parse(JSON.stringify(value), (key, member: unknown) =>
    (key === "slug" || member === UPLOADED) && typeof member === "string" ? (names.get(member) ?? member) : member,
  ) as T;
};

const must = (answer: Answer, status: number): Answer["body"] => {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body).slice(0, 500)}`);
  return answer.body;
};

/** Uses up the account's trial runs. Otherwise a run would use one that the quote of a parallel run includes. */
const endTrials = async (call: Call): Promise<void> => {
  const { grants } = must(await call("POST", "/api/models/sandbox-image/quote", { inputs: { prompt: "a kite" } }), 200) as {
    grants: { remaining: number }[];
  };
  // A quote counts its own run as one of the trials.
  for (let left = (grants[0]?.remaining ?? -1) + 1; left > 0; left -= 1)
    must(await call("POST", "/api/models/sandbox-image/run", { inputs: { prompt: "a kite" } }), 200);
};

/**
 * Saves the inner workflows.
 * @returns the names that graphs use
 */
export const prepare = async (call: Call, mediaId: string): Promise<Names> => {
  await endTrials(call);
  const slugs: Record<string, string> = {};
  for (const [name, graph] of Object.entries(INNER))
    slugs[name] = must(await call("POST", "/api/workflows", { name, ...withNames(graph, { mediaId, slugs }) }), 201).slug as string;
  return { mediaId, slugs };
};

const FILE_ADDRESS = /https?:\/\/[^\s"]+\/media\/[\w.-]+(?:\?e=\d+&s=[\w-]+)?/g;

/** Removes all values that differ between runs. */
const comparable = (value: unknown): unknown => {
  if (typeof value === "string") return value.replaceAll(FILE_ADDRESS, ADDRESS);
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  const { url, contentType } = value as { url?: unknown; contentType?: unknown };
  if (typeof url === "string" && typeof contentType === "string") return { file: contentType.split("/")[0] };
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, comparable(member)]));
};

/** `images` of a result have only addresses. */
const comparableResult = ({ images, ...rest }: Record<string, unknown>): unknown => ({
  ...(comparable(rest) as object),
  ...(images === undefined
    ? {}
    : { images: (images as { url: string }[]).map(({ url }) => (url.replace(FILE_ADDRESS, "") === "" ? { file: "image" } : url)) }),
});

const statusesOf = ({ nodes }: Execution): Record<string, string> => Object.fromEntries(nodes.map(({ id, status }) => [id, status]));

const differ = (what: string, actual: unknown, expected: unknown): string[] =>
  isDeepStrictEqual(actual, expected) ? [] : [`${what}: is ${JSON.stringify(actual)}, and should be ${JSON.stringify(expected)}`];

/** Differences between the end of a run and the reference. */
export const differences = (run: Execution, expected: Expectation): string[] => {
  if (expected.failing.size === 0) {
    if (run.status !== "completed") return [`status: is ${run.status} (${JSON.stringify(run.error)}), and should be completed`];
    return [
      ...differ("result", comparableResult(run.result ?? {}), expected.result),
      ...differ("nodes", statusesOf(run), expected.statuses),
    ];
  }
  const failing = [...expected.failing.keys()];
  if (run.status !== "failed") return [`status: is ${run.status}, and should be failed, by ${failing.join(" or ")}`];
  const { code, nodeId = "" } = run.error ?? { code: "" };
  const failure = expected.failing.get(nodeId);
  // The error behind a failure in an inner workflow isn't compared.
  if (failure === undefined)
    return failing.some((id) => id.includes("/")) ? [] : [`error: is of ${nodeId}, and should be of ${failing.join(" or ")}`];
  // A rejected submission of an asynchronous run has its own code.
  return differ("error.code", code === "PROVIDER_SUBMIT_FAILED" ? "EXECUTION_FAILED" : code, failure);
};

/**
 * Answers a run's approvals until it ends.
 * @throws Error at the time limit
 */
const followed = async (call: Call, id: string, decisions: RandomGraph["decisions"]): Promise<Execution> => {
  const decided = new Set<string>();
  const look = async (): Promise<Execution> => {
    const run = must(await call("GET", `/api/executions/${id}`), 200) as unknown as Execution;
    for (const { nodeId } of run.waitingFor ?? []) {
      if (decided.has(nodeId)) continue;
      decided.add(nodeId);
      const decision = decisions[nodeId] ? "approve" : "reject";
      const { status, body } = await call("POST", `/api/executions/${id}/decisions`, { nodeId, decision });
      // The run can have failed meanwhile.
      if (status !== 200 && body.code !== "NOT_WAITING") throw new Error(`a decision was answered ${status}: ${JSON.stringify(body)}`);
    }
    return run;
  };
  return eventually(look, ({ status }) => FINAL.includes(status), END_MS);
};

export interface Verdict {
  /** `refused`: the quote rejected the graph. */
  end: "refused" | "completed" | "failed";
  calls: number;
}

/** Rounding error of a sum of credits, which have three decimals. */
const ROUNDING = 0.0005;
/** If the provider's output is missing, the call is free. */
const isFree = ({ failing }: Expectation): boolean =>
  failing.size > 0 && [...failing.values()].every((code) => code === "PROVIDER_RESPONSE_INCOMPLETE");

const [FOUND, BUSY] = [200, 503];
const STARTED = [200, 202, 500];
const WAIT = { prefer: "wait=10" };

/**
 * Starts a run in the drawn way, or synchronously if a model doesn't support that way.
 * @returns its id
 */
const start = async (call: Call, path: string, inputs: unknown, way: Start): Promise<string> => {
  if (way === "batch") {
    const { batchId } = must(await call("POST", `${path}/batches`, { inputs: [inputs] }), 202) as { batchId: string };
    const first = async (): Promise<{ status: string; executionId?: string }> =>
      (must(await call("GET", `/api/batches/${batchId}`), 200).rows as { status: string; executionId?: string }[])[0]!;
    const { executionId } = await eventually(first, ({ status }) => status !== "waiting", END_MS);
    // A batch item has its id before its execution starts.
    await eventually(
      () => call("GET", `/api/executions/${executionId}`),
      ({ status }) => status === FOUND,
      END_MS,
    );
    return executionId!;
  }
  const answer = await call("POST", `${path}/run${way === "async" ? "?async=true" : ""}`, { inputs }, WAIT);
  if (answer.body.code === "ASYNC_NOT_SUPPORTED") return start(call, path, inputs, "sync");
  const id = answer.headers.get("x-execution-id");
  if (STARTED.includes(answer.status) && id) return id;
  throw new Error(`the run was answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 500)}`);
};

const costOf = ({ nodes }: Execution): number => nodes.reduce((sum, { creditsCost }) => sum + creditsCost, 0);

/** Problems of a run: a wrong end, or a cost above its quote. */
const problemsOf = (run: Execution, expected: Expectation, quote: Answer["body"]): string[] => {
  const { maxCreditCost } = quote as { maxCreditCost: number | null };
  const [cost, most] = [costOf(run), isFree(expected) ? 0 : (maxCreditCost ?? 0)];
  return [...differences(run, expected), ...(cost <= most + ROUNDING ? [] : [`cost: is ${cost}, and should be ${most} at most`])];
};

/** Reruns an execution, which must be free for reused calls and end in the same way. */
const rerun = async (call: Call, id: string, decisions: RandomGraph["decisions"], expected: Expectation): Promise<string[]> => {
  const path = `/api/executions/${id}/rerun`;
  const quote = must(await call("POST", `${path}/quote`, {}), 200);
  const answer = await call("POST", path, {}, WAIT);
  if (!STARTED.includes(answer.status)) return [`the rerun was answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 500)}`];
  const again = await followed(call, answer.headers.get("x-execution-id")!, decisions);
  return problemsOf(again, expected, quote).map((problem) => `rerun: ${problem}`);
};

/** Retries while the platform is too busy to accept a run. */
const patient =
  (call: Call): Call =>
  (...request) =>
    eventually(
      () => call(...request),
      ({ status }) => status !== BUSY,
    );

/**
 * Runs a graph if its quote allows it.
 * @returns undefined for a graph that is too large to compare
 * @throws Error with the problem
 */
export const judge = async (hasty: Call, names: Names, random: RandomGraph): Promise<Verdict | undefined> => {
  const call = patient(hasty);
  let expected: Expectation;
  try {
    expected = expectedOf(random);
  } catch (error) {
    if (error instanceof Unsuitable) return undefined;
    throw error;
  }
  const graph: Graph = withNames(random.graph, names);
  const inputs = withNames(random.inputs, names);
  const { slug } = must(await call("POST", "/api/workflows", { name: "random", ...graph }), 201) as { slug: string };
  const path = `/api/workflows/${slug}`;
  const quote = await call("POST", `${path}/quote`, { inputs });
  if (REFUSED.includes(quote.status)) {
    // Problems after a branch that only the run decides are also rejected.
    const isOpen = Object.values(expected.statuses).includes("skipped");
    if (expected.failing.size > 0 || isOpen) return { end: "refused", calls: 0 };
    throw new Error(`the quote refuses a graph that completes: ${JSON.stringify(quote.body).slice(0, 500)}`);
  }
  must(quote, 200);
  const id = await start(call, path, inputs, random.start);
  const run = await followed(call, id, random.decisions);
  const problems = problemsOf(run, expected, quote.body);
  if (problems.length === 0 && random.isRerun && run.status === "completed")
    problems.push(...(await rerun(call, id, random.decisions, expected)));
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return { end: expected.failing.size === 0 ? "completed" : "failed", calls: expected.calls };
};
