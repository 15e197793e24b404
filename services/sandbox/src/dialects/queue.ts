import { Router, type Request } from "express";
import { contentTypeOf } from "../files";
import { GENERATORS, type GeneratorName } from "../generators";
import { generatorSchema } from "../inputs";
import type { Job, Jobs } from "../jobs";
import { notFound, parseBody, ProviderError } from "../provider-error";
import { baseUrlOf, fileUrl, idempotencyKeyOf } from "../requests";

const APPS: Readonly<Record<string, GeneratorName>> = {
  "sandbox-image-fast": "sandbox-image-fast",
  "sandbox-speech": "sandbox-speech",
  "sandbox-vector": "sandbox-vector",
};

const CANCELLED = "the request was cancelled";

const generatorOf = (app: string): GeneratorName => {
  const generator = Object.hasOwn(APPS, app) ? APPS[app] : undefined;
  if (!generator) throw notFound("app");
  return generator;
};

const links = (request: Request, app: string, job: Job): Record<string, string> => {
  const url = `${baseUrlOf(request)}/queue/${app}/requests/${job.id}`;
  return { request_id: job.id, response_url: url, status_url: `${url}/status`, cancel_url: `${url}/cancel` };
};

const result = (request: Request, job: Job, files: readonly string[]): Record<string, unknown> => {
  const described = files.map((name) => ({ url: fileUrl(request, name), content_type: contentTypeOf(name) }));
  if (described.length === 0) return {};
  return GENERATORS[job.generator].outputs === "images" ? { images: described } : { audio: described[0] };
};

/** The queue API of an inference platform, with one queue per app. A failed request is COMPLETED with an error as its result. */
export const queueDialect = (jobs: Jobs): Router => {
  const router = Router();

  const look = (how: "poll" | "peek", app: string, id: string): NonNullable<ReturnType<Jobs["poll"]>> => {
    const generator = generatorOf(app);
    const job = jobs[how]("queue", id);
    if (job?.job.generator !== generator) throw notFound("request");
    return job;
  };

  router.post("/queue/:app", (request, response) => {
    const { app } = request.params;
    const generator = generatorOf(app);
    const input = parseBody(generatorSchema, request.body);
    const job = jobs.submit({ dialect: "queue", generator, input, idempotencyKey: idempotencyKeyOf(request) });
    response.json({ status: "IN_QUEUE", ...links(request, app, job) });
  });

  router.get("/queue/:app/requests/:id/status", (request, response) => {
    const { app, id } = request.params;
    const { job, state } = look("poll", app, id);
    const waiting = {
      queued: "IN_QUEUE",
      running: "IN_PROGRESS",
      succeeded: "COMPLETED",
      failed: "COMPLETED",
      cancelled: "COMPLETED",
    } as const;
    response.json({
      status: waiting[state.status],
      ...links(request, app, job),
      ...(state.status === "failed" ? { error: state.error.message, error_type: state.error.code } : {}),
      ...(state.status === "cancelled" ? { error: CANCELLED, error_type: "cancelled" } : {}),
    });
  });

  router.get("/queue/:app/requests/:id", (request, response) => {
    const { app, id } = request.params;
    const { job, state } = look("peek", app, id);
    if (state.status === "failed") throw new ProviderError(422, state.error.code, state.error.message);
    if (state.status === "cancelled") throw new ProviderError(422, "cancelled", CANCELLED);
    if (state.status !== "succeeded") throw new ProviderError(400, "in_progress", "the request is still in progress");
    response.json(result(request, job, state.files));
  });

  router.put("/queue/:app/requests/:id/cancel", (request, response) => {
    const { app, id } = request.params;
    generatorOf(app);
    const cancelled = jobs.cancel("queue", id);
    if (!cancelled) throw notFound("request");
    const isLate = cancelled.before.status === cancelled.state.status;
    response.status(isLate ? 400 : 202).json({ status: isLate ? "ALREADY_COMPLETED" : "CANCELLATION_REQUESTED" });
  });

  return router;
};
