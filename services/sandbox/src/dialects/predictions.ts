import { Router, type Request, type Response } from "express";
import { GENERATORS, isGeneratorName, type GeneratorName } from "../generators";
import { predictionSchema } from "../inputs";
import type { Job, Jobs, JobState } from "../jobs";
import { notFound, parseBody, ProviderError } from "../provider-error";
import { baseUrlOf, fileUrl, idempotencyKeyOf } from "../requests";

const STATUSES = {
  queued: "starting",
  running: "processing",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "canceled",
} as const satisfies Record<JobState["status"], string>;

const generatorOf = (name: string | undefined): GeneratorName => {
  if (name === undefined) throw new ProviderError(400, "invalid_request", "version: is required, or model", "version");
  if (!isGeneratorName(name)) throw new ProviderError(422, "invalid_version", `no such model: ${name.slice(0, 100)}`, "version");
  return name;
};

/** Images are returned as a list, a single file of another kind as a URL. */
const outputOf = (request: Request, job: Job, state: JobState): string | string[] | null => {
  if (state.status !== "succeeded" || state.files.length === 0) return null;
  const urls = state.files.map((name) => fileUrl(request, name));
  return GENERATORS[job.generator].outputs === "images" ? urls : (urls[0] ?? null);
};

const view = (request: Request, job: Job, state: JobState): Record<string, unknown> => {
  const url = `${baseUrlOf(request)}/v1/predictions/${job.id}`;
  return {
    id: job.id,
    model: job.generator,
    status: STATUSES[state.status],
    output: outputOf(request, job, state),
    error: state.status === "failed" ? state.error.message : null,
    created_at: new Date(job.createdAt).toISOString(),
    urls: { get: url, cancel: `${url}/cancel` },
  };
};

/** The predictions API of an inference platform, with one URL for all models. */
export const predictionsDialect = (jobs: Jobs): Router => {
  const router = Router();

  const submit = (request: Request, response: Response, name?: string): void => {
    const { version, model, input } = parseBody(predictionSchema, request.body);
    const generator = generatorOf(name ?? version ?? model);
    const job = jobs.submit({ dialect: "predictions", generator, input, idempotencyKey: idempotencyKeyOf(request) });
    response.status(201).json(view(request, job, { status: "queued", progress: 0 }));
  };

  router.post("/v1/predictions", (request, response) => submit(request, response));
  router.post("/v1/models/:owner/:name/predictions", (request, response) => submit(request, response, request.params.name));

  router.get("/v1/predictions/:id", (request, response) => {
    const polled = jobs.poll("predictions", request.params.id);
    if (!polled) throw notFound("prediction");
    response.json(view(request, polled.job, polled.state));
  });

  router.post("/v1/predictions/:id/cancel", (request, response) => {
    const cancelled = jobs.cancel("predictions", request.params.id);
    if (!cancelled) throw notFound("prediction");
    response.json(view(request, cancelled.job, cancelled.state));
  });

  return router;
};
