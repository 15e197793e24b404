import type { Availability } from "@nodeloom/platform";
import { Router, type Request } from "express";
import { z } from "zod";
import { requireReady } from "../http/failures";
import { notFound, parseBody, ProviderError } from "../http/provider-error";
import type { Jobs, JobView } from "../jobs";
import { JOB_MODELS, type LocalModel } from "../models";

const MAX_IDEMPOTENCY_KEY_CHARACTERS = 255;

const submissionSchema = z.strictObject({ model: z.string(), input: z.record(z.string(), z.unknown()) });

const outputOf = async (request: Request, jobs: Jobs, { model, files }: JobView): Promise<Record<string, unknown> | undefined> => {
  if (!files) return undefined;
  const answer = await jobs.answer({ files });
  if (answer) return { ...answer };
  const address = `${request.protocol}://${request.get("host") ?? "localhost"}/files/`;
  const member = JOB_MODELS[model]?.outputs ?? "files";
  return { [member]: files.map(({ name, contentType }) => ({ url: address + name, content_type: contentType })) };
};

const view = async (request: Request, jobs: Jobs, job: JobView): Promise<Record<string, unknown>> => {
  const output = await outputOf(request, jobs, job);
  return {
    id: job.id,
    model: job.model,
    status: job.status,
    progress: Math.round(job.progress * 100) / 100,
    createdAt: new Date(job.createdAt).toISOString(),
    ...(output ? { output } : {}),
    ...(job.error ? { error: job.error } : {}),
  };
};

const idempotencyKeyOf = (request: Request): string | undefined => {
  const key = request.get("idempotency-key");
  if (key === undefined || key === "") return undefined;
  if (key.length <= MAX_IDEMPOTENCY_KEY_CHARACTERS) return key;
  const message = `Idempotency-Key: it may have ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters`;
  throw new ProviderError(400, "invalid_request", message, { param: "Idempotency-Key" });
};

/** Routes to submit, poll and cancel jobs, and to fetch their results. */
export const jobsDialect = (jobs: Jobs, availability: (model: LocalModel) => Promise<Availability>): Router => {
  const router = Router();

  router.post("/v1/jobs", async (request, response) => {
    const { model: name, input } = parseBody(submissionSchema, request.body);
    const model = Object.hasOwn(JOB_MODELS, name) ? JOB_MODELS[name]! : undefined;
    if (!model) {
      const message = `no such model: ${name.slice(0, 100)}; there are ${Object.keys(JOB_MODELS).join(", ")}`;
      throw new ProviderError(404, "model_not_found", message, { param: "model" });
    }
    const inputs = parseBody(model.inputs, input, "input");
    requireReady(name, await availability(model));
    const job = jobs.submit({ model: name, inputs, idempotencyKey: idempotencyKeyOf(request) });
    response.status(202).json(await view(request, jobs, job));
  });

  router.get("/v1/jobs/:id", async (request, response) => {
    const job = jobs.find(request.params.id);
    if (!job) throw notFound("job");
    response.json(await view(request, jobs, job));
  });

  router.post("/v1/jobs/:id/cancel", async (request, response) => {
    const job = jobs.cancel(request.params.id);
    if (!job) throw notFound("job");
    response.json(await view(request, jobs, job));
  });

  return router;
};

/** Serves results of jobs under unguessable names. */
export const fileRoutes = (jobs: Jobs): Router => {
  const router = Router();
  router.get("/files/:name", (request, response) => {
    const path = jobs.file(request.params.name);
    if (path === undefined) throw notFound("file");
    response.set({ "cache-control": "private, max-age=3600", "x-content-type-options": "nosniff" });
    response.sendFile(path, { dotfiles: "allow" });
  });
  return router;
};
