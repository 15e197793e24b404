import { constants } from "node:fs";
import { access, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readProgress, type Availability } from "@nodeloom/platform";
import express, { Router, type Express } from "express";
import { chatDialect } from "./dialects/chat";
import { fileRoutes, jobsDialect } from "./dialects/jobs";
import type { Gpu } from "./engines/engine";
import { availabilityOf, foldersOf, isOnRequest } from "./fetch/availability";
import { requireKey } from "./http/auth";
import { answerErrors, notFound } from "./http/provider-error";
import type { FileSources } from "./inputs";
import { openJobs, type Jobs } from "./jobs";
import { LOCAL_MODELS, type LocalModel } from "./models";
import { createOwnModels, ownAvailability, type OwnModels } from "./own/own-models";
import { createPool, type Pool } from "./pool/pool";

export interface InferenceOptions {
  apiKey: string;
  /** Folder for jobs, results and temporary files. Only one process can use it. */
  dataDirectory: string;
  /** Folders with the models' files. Downloads go to the first one. */
  assetsRoots: readonly [string, ...string[]];
  /** The operator's folder of model files, if any. */
  ownFolder?: string | undefined;
  sources: FileSources;
  /** Maximum models that are loaded and computing at once. */
  concurrency: number;
  threads: number;
  gpu?: Gpu | undefined;
  idleMs: number;
  /** Called with unexpected errors. */
  report?: (error: unknown) => void;
  /** Replaces the program of model processes and their availability in tests. */
  program?: string;
  availability?: (model: LocalModel) => Promise<Availability>;
}

export interface Inference {
  app: Express;
  stop(): Promise<void>;
}

const PROGRAM = join(__dirname, "..", "engines", "child.mjs");
/** Maximum waiting requests per model. */
const QUEUE_LIMIT = 100;
const MAX_WAIT_MS = 240_000;
const JOB_BODY_LIMIT = "1mb";
/** Large enough for a file as a data URL. */
const CHAT_BODY_LIMIT = "36mb";

interface Info {
  options: InferenceOptions;
  availability: (model: LocalModel) => Promise<Availability>;
  own: OwnModels;
}

const infoRoutes = ({ options, availability, own }: Info): Router => {
  const router = Router();
  router.get("/healthz", (_request, response) => void response.json({ status: "ok" }));
  router.get("/readyz", async (_request, response) => {
    const isWritable = await access(options.dataDirectory, constants.W_OK).then(
      () => true,
      () => false,
    );
    response.status(isWritable ? 200 : 503).json({ status: isWritable ? "ok" : "the data folder cannot be written" });
  });
  router.get("/v1/status", requireKey(options.apiKey, ["Bearer"]), async (_request, response) => {
    const owned = await own();
    const models = await Promise.all([
      ...Object.entries(LOCAL_MODELS).map(async ([name, model]): Promise<[string, Availability]> => [name, await availability(model)]),
      ...owned.map(async (one): Promise<[string, Availability]> => [one.name, await ownAvailability(one, availability)]),
    ]);
    const progress = await readProgress(options.assetsRoots[0]);
    response.json({
      models: Object.fromEntries(models),
      own: owned.map(({ name, title }) => ({ name, title })),
      onRequest: Object.keys(LOCAL_MODELS).filter((name) => isOnRequest(LOCAL_MODELS[name]!.assets)),
      fetch: progress ? { state: progress.state, fetchedBytes: progress.fetchedBytes, totalBytes: progress.totalBytes } : null,
    });
  });
  return router;
};

const statsRoute = (options: InferenceOptions, jobs: Jobs, pool: Pool): Router => {
  const router = Router();
  router.get("/v1/stats", requireKey(options.apiKey, ["Bearer"]), (_request, response) => {
    response.json({ rssBytes: process.memoryUsage.rss(), loaded: pool.loaded(), waiting: pool.waiting(), jobs: jobs.counters() });
  });
  return router;
};

/** Creates the service as an Express application. It continues jobs that an earlier process left in the folder. */
export const createInference = async (options: InferenceOptions): Promise<Inference> => {
  const { apiKey, dataDirectory, assetsRoots, sources, report = () => undefined, program = PROGRAM } = options;
  const availability = options.availability ?? ((model: LocalModel) => availabilityOf(assetsRoots, model.assets));
  const own = createOwnModels(options.ownFolder);
  const pool = createPool({
    program,
    foldersOf: (model) => foldersOf(assetsRoots, model.assets),
    concurrency: options.concurrency,
    queueLimit: QUEUE_LIMIT,
    threads: options.threads,
    gpu: options.gpu,
    idleMs: options.idleMs,
  });
  const requests = join(dataDirectory, "requests");
  await rm(requests, { recursive: true, force: true });
  await mkdir(requests, { recursive: true, mode: 0o700 });
  const jobs = await openJobs({ directory: dataDirectory, pool, sources, queueLimit: QUEUE_LIMIT, report });

  const app = express().disable("x-powered-by");
  app.use(infoRoutes({ options, availability, own }), statsRoute(options, jobs, pool), fileRoutes(jobs));
  app.use("/v1", requireKey(apiKey, ["Bearer"]));
  app.use("/v1/jobs", express.json({ limit: JOB_BODY_LIMIT }));
  app.use("/v1/chat", express.json({ limit: CHAT_BODY_LIMIT }));
  app.use(jobsDialect(jobs, availability));
  app.use(chatDialect({ pool, directory: requests, availability, own, maxWaitMs: MAX_WAIT_MS }));
  app.use(() => {
    throw notFound("address");
  });
  app.use(answerErrors(report));
  const stop = async (): Promise<void> => {
    await jobs.stop();
    await pool.stop();
  };
  return { app, stop };
};
