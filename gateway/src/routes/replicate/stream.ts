import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import { toJson } from "../../http/json";
import { executionParams } from "../../http/schemas";
import { content, defineRoute } from "../../edge/route";
import { ownExecution } from "../executions/own";
import { textPieces } from "../executions/text-pieces";
import { followRun, type Tell } from "../facades/follow";
import { reading, type RunContext } from "../facades/runs";
import { predictionView } from "./view";

/** Streams the output of a prediction as server-sent events: `output` for each piece, `error`, and `done`. */

const tellOf = (context: RunContext): Tell =>
  async function* (events: AsyncIterable<executions.WatchExecutionResponse>, { executionId, workflowSlug }) {
    let writtenText = "";
    for await (const piece of textPieces(events)) {
      if (workflowSlug !== undefined) continue;
      writtenText += piece;
      yield { type: "output", data: piece };
    }
    const { status, output, error } = predictionView(context.gateway, await ownExecution(context, executionId));
    const whole = typeof output === "string" ? output : toJson(output);
    if (status === "succeeded" && whole.startsWith(writtenText)) {
      if (whole.length > writtenText.length) yield { type: "output", data: whole.slice(writtenText.length) };
      return yield { type: "done", data: "{}" };
    }
    if (status === "canceled") return yield { type: "done", data: '{"reason":"canceled"}' };
    const message = error ?? "the answer broke off, and another attempt gave another answer: read the prediction";
    yield { type: "error", data: toJson({ detail: message }) };
    yield { type: "done", data: '{"reason":"error"}' };
  };

export const replicateStreamRoute = defineRoute({
  ...reading,
  tag: "Replicate",
  protocol: "replicate",
  path: "/replicate/v1/predictions/:id/stream",
  operationId: "replicateStreamPrediction",
  summary: "Follow the output of a prediction as server-sent events",
  description: "Texts arrive in pieces while the model writes them; everything else arrives at the end.",
  params: executionParams,
  responses: {
    200: content({
      "text/event-stream": z
        .object({ id: z.string(), event: z.enum(["output", "error", "done"]), data: z.string() })
        .meta({ id: "ReplicateEvent" }),
    }),
  },
  errors: ["EXECUTION_NOT_FOUND", "CONCURRENCY_LIMIT_EXCEEDED"],
  handler: (context) => followRun(context as RunContext, context.params.id, "replicate", tellOf(context as RunContext)),
});
