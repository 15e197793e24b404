import { edge, node } from "../../../test-support/graphs";
import { answers, pick } from "./check";
import { eventually, type Actor, type Caller } from "./context";

export { clip, edge, greeting, node, studio } from "../../../test-support/graphs";

export interface Graph {
  name: string;
  nodes: unknown[];
  edges: unknown[];
}

export type FieldSpec = { name: string; type: string; label?: string } & Record<string, unknown>;

/**
 * Saves a workflow.
 * @returns its slug
 */
export const save = async (caller: Caller, workflow: object): Promise<string> =>
  pick(answers(await caller.post("/api/workflows", { name: "Conformance", ...workflow }), 201), "slug");

/** Declares one field and returns its value as `value`. */
export const echo = (field: FieldSpec): Graph => ({
  name: "Echo",
  nodes: [node("in", "request-input", { fields: [{ label: field.name, ...field }] }), node("out", "response-output")],
  edges: [edge(`in.${field.name}`, "out.value")],
});

/** A single generator. `sandbox-image-fast` has no trial runs and is quick. */
export const picture = (inputs: Record<string, unknown> = {}, model = "sandbox-image-fast"): Graph => ({
  name: "Picture",
  nodes: [node("pic", "generate-image", { model, inputs: { prompt: "a loom", ...inputs } }), node("out", "response-output")],
  edges: [edge("pic.image", "out.images")],
});

/** One http-request node. The result has its body and status. */
export const request = (data: Record<string, unknown>): Graph => ({
  name: "Request",
  nodes: [node("get", "http-request", { method: "GET", ...data }), node("out", "response-output")],
  edges: [edge("get.body", "out.body"), edge("get.status", "out.status")],
});

/**
 * Runs a graph once.
 * @returns the response of the run endpoint
 */
export const runGraph = async (actor: Caller, graph: object, inputs: Record<string, unknown> = {}) =>
  actor.post(`/api/workflows/${await save(actor, graph)}/run`, { inputs });

/**
 * Submits a graph asynchronously.
 * @returns the execution's ID
 */
export const submitGraph = async (actor: Caller, graph: object, inputs: Record<string, unknown> = {}): Promise<string> =>
  pick(answers(await actor.post(`/api/workflows/${await save(actor, graph)}/run?async=true`, { inputs }), 202), "executionId");

export const runModel = (actor: Caller, model: string, inputs: Record<string, unknown> = {}, query = "") =>
  actor.post(`/api/models/${model}/run${query}`, { inputs: { prompt: "a loom", ...inputs } });

/**
 * A submission that the provider rejects at once. On a busy machine the rejection can arrive after the submission's wait; then the
 * submission is repeated.
 */
export const refusedSubmit = (actor: Caller, model: string, status: number) =>
  eventually(
    () => runModel(actor, model, { sandbox: { fail: "submit", status } }, "?async=true"),
    (answer) => answer.status !== 202,
  );

/** Credits that some work costs a user without other runs. */
export const creditsSpent = async (actor: Actor, work: () => Promise<unknown>): Promise<number> => {
  const before = await actor.credits();
  await work();
  const after = await actor.credits();
  return before.plan + before.topUp - after.plan - after.topUp;
};
