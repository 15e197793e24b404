import { Router, type Request } from "express";
import { GENERATORS, type GeneratorName } from "../generators";
import { jobSchema } from "../inputs";
import type { Job, Jobs, JobState } from "../jobs";
import { notFound, parseBody } from "../provider-error";
import { fileUrl, idempotencyKeyOf } from "../requests";

const RECENT_DEFAULT = 50;
const RECENT_MAX = 1_000;

const generatorOf = (kind: "image" | "video" | "music" | "3d", quality: "standard" | "pro"): GeneratorName =>
  kind === "video" && quality === "pro" ? "sandbox-video-pro" : `sandbox-${kind}`;

const view = (request: Request, job: Job, state: JobState): Record<string, unknown> => ({
  id: job.id,
  status: state.status,
  progress: state.progress,
  createdAt: new Date(job.createdAt).toISOString(),
  ...(state.status === "succeeded" && state.files.length > 0
    ? { output: { [GENERATORS[job.generator].outputs]: state.files.map((name) => ({ url: fileUrl(request, name) })) } }
    : {}),
  ...(state.status === "failed" ? { error: state.error } : {}),
});

/** A polling API with routes to submit, poll and cancel jobs. */
export const jobsDialect = (jobs: Jobs): Router => {
  const router = Router();

  router.post("/v1/jobs", (request, response) => {
    const { kind, quality, ...input } = parseBody(jobSchema, request.body);
    const job = jobs.submit({ dialect: "jobs", generator: generatorOf(kind, quality), input, idempotencyKey: idempotencyKeyOf(request) });
    response.status(202).json({ id: job.id, status: "queued" });
  });

  router.get("/v1/jobs", (request, response) => {
    const limit = Math.min(RECENT_MAX, Math.max(1, Number(request.query.limit) || RECENT_DEFAULT));
    const key = typeof request.query.idempotencyKey === "string" ? request.query.idempotencyKey : undefined;
    response.json({
      jobs: jobs.recent(limit, key).map(({ job, state, polls, cancels }) => ({
        ...view(request, job, state),
        dialect: job.dialect,
        model: job.generator,
        idempotencyKey: job.idempotencyKey ?? null,
        polls,
        cancels,
      })),
      counters: jobs.counters(),
    });
  });

  router.get("/v1/jobs/:id", (request, response) => {
    const polled = jobs.poll("jobs", request.params.id);
    if (!polled) throw notFound("job");
    response.json(view(request, polled.job, polled.state));
  });

  router.post("/v1/jobs/:id/cancel", (request, response) => {
    const cancelled = jobs.cancel("jobs", request.params.id);
    if (!cancelled) throw notFound("job");
    response.json(view(request, cancelled.job, cancelled.state));
  });

  return router;
};
