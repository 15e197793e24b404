import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import type { Gateway } from "../../edge/gateway";
import { raw } from "../../http/json";
import { uuid } from "../../http/schemas";
import { isFinal } from "../executions/view";
import { runFailure } from "../runs/run";

/** Shows executions as requests of fal's queue (fal.ai/docs/model-apis/model-endpoints/queue). */

const MS = 1_000;
const CANCELLED = "client_cancelled";

const urls = { response_url: z.string(), status_url: z.string(), cancel_url: z.string() };
const log = z.object({ message: z.string(), level: z.string(), source: z.string(), timestamp: z.string() });

export const submitted = z
  .object({
    status: z.literal("IN_QUEUE"),
    request_id: uuid.meta({ description: "The execution's id" }),
    gateway_request_id: uuid,
    queue_position: z.number().int(),
    ...urls,
  })
  .meta({ id: "FalSubmitted" });

export const status = z
  .object({
    status: z.enum(["IN_QUEUE", "IN_PROGRESS", "COMPLETED"]).meta({ description: "`COMPLETED` also after a failure, with `error`" }),
    request_id: uuid,
    queue_position: z.number().int().optional().meta({ description: "Position in the queue, from 0, if the status is `IN_QUEUE`" }),
    logs: z.array(log).meta({ description: "With `logs=1`: start and end of each node" }),
    metrics: z.object({ inference_time: z.number().meta({ description: "Seconds" }) }).optional(),
    error: z.string().optional(),
    error_type: z.string().optional().meta({ description: "Error code of this API, or `client_cancelled`" }),
    ...urls,
  })
  .meta({ id: "FalStatus" });

/** Addresses of a request. fal uses the first two parts of an endpoint's name in them. */
const urlsOf = ({ publicBaseUrl }: Pick<Gateway, "publicBaseUrl">, endpoint: string, id: string) => {
  const app = endpoint.split("/").slice(0, 2).map(encodeURIComponent).join("/");
  const response = `${publicBaseUrl}/fal/${app}/requests/${id}`;
  return { response_url: response, status_url: `${response}/status`, cancel_url: `${response}/cancel` };
};

const queuePosition = ({ position = 1 }: executions.Execution): number => position - 1;

const logsOf = ({ nodes }: executions.Execution): z.infer<typeof log>[] =>
  nodes.flatMap(({ id, label, status, startedAt, durationMs, error }) => {
    if (!startedAt) return [];
    const line = (message: string, at: number) => ({
      ...{ message: `${label || id} ${message}`, source: "NODELOOM", timestamp: new Date(at).toISOString() },
      level: error ? "ERROR" : "INFO",
    });
    const started = line("started", startedAt.getTime());
    if (durationMs === undefined) return [started];
    return [started, line(error ? `${status}: ${error.message}` : status, startedAt.getTime() + durationMs)];
  });

export const submittedView = (gateway: Gateway, endpoint: string, run: executions.Execution): z.infer<typeof submitted> => ({
  status: "IN_QUEUE",
  ...{ request_id: run.executionId, gateway_request_id: run.executionId, queue_position: run.queued ? queuePosition(run) : 0 },
  ...urlsOf(gateway, endpoint, run.executionId),
});

const endOf = (run: executions.Execution): Pick<z.infer<typeof status>, "error" | "error_type"> => {
  if (run.status === "completed") return {};
  const { reason, message } = runFailure(run);
  return { error: message, error_type: reason === "EXECUTION_CANCELLED" ? CANCELLED : reason };
};

/** @param withLogs adds `logs` */
export const statusView = (gateway: Gateway, endpoint: string, run: executions.Execution, withLogs: boolean): z.infer<typeof status> => {
  const shared = { request_id: run.executionId, logs: withLogs ? logsOf(run) : [], ...urlsOf(gateway, endpoint, run.executionId) };
  if (isFinal(run)) return { status: "COMPLETED", ...shared, metrics: { inference_time: run.durationMs / MS }, ...endOf(run) };
  return run.queued ? { status: "IN_QUEUE", queue_position: queuePosition(run), ...shared } : { status: "IN_PROGRESS", ...shared };
};

/** The result of an ended run. @throws DomainError if the run failed */
export const resultView = (run: executions.Execution): unknown => {
  if (run.status !== "completed") throw runFailure(run);
  return raw(run.resultJson, "{}");
};
