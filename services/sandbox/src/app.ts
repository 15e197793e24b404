import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { EgressClient } from "@nodeloom/platform";
import express, { Router, type Express } from "express";
import { requireKey, requireKeyHeader } from "./auth";
import { chatDialect, type ChatDialect } from "./dialects/chat";
import { imagesDialect, type ImagesDialect } from "./dialects/images";
import { jobsDialect } from "./dialects/jobs";
import { predictionsDialect } from "./dialects/predictions";
import { queueDialect } from "./dialects/queue";
import { speechDialect, SPEECH_PATH, type SpeechDialect } from "./dialects/speech";
import { createFiles, type Files } from "./files";
import { createGlobalFaults, globalFaultsSchema, type GlobalFaults } from "./global-faults";
import { inputFiles } from "./input-files";
import { BODY_LIMIT_BYTES } from "./inputs";
import { openJobs, type Jobs } from "./jobs";
import { PAGE } from "./page";
import { answerErrors, notFound, parseBody } from "./provider-error";

export interface SandboxOptions {
  apiKey: string;
  /** Client that reads files named in requests. Without it, their URLs aren't fetched. */
  egress?: EgressClient | undefined;
  /** Key of the control routes. Without it, they reject every request. */
  controlKey?: string | undefined;
  /** Folder of the job journal. Only one process can use it. */
  dataDirectory: string;
  /** Returns milliseconds since 1970. */
  clock?: () => number;
  /** Called with unexpected errors. */
  report?: (error: unknown) => void;
}

const fileRoutes = (files: Files): Router => {
  const router = Router();
  router.get("/files/:name", async (request, response) => {
    const file = await files.open(request.params.name);
    if (!file) throw notFound("file");
    response.set({ "cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff" });
    response.type(file.contentType).send(file.bytes);
  });
  return router;
};

interface Direct {
  chat: ChatDialect;
  images: ImagesDialect;
  speech: SpeechDialect;
}

const CONTROL_KEY_HEADER = "x-sandbox-control-key";

interface Controls {
  faults: GlobalFaults;
  jobs: Jobs;
  files: Files;
  direct: Direct;
}

const controlRoutes = (controlKey: string | undefined, { faults, jobs, files, direct: { chat, images, speech } }: Controls): Router => {
  const router = Router();
  router.use("/sandbox", requireKeyHeader(controlKey, CONTROL_KEY_HEADER));
  router.post("/sandbox/faults", express.json(), (request, response) => {
    faults.set(parseBody(globalFaultsSchema, request.body));
    response.json(faults.settings());
  });
  router.delete("/sandbox/faults", (_request, response) => {
    faults.clear();
    response.json(faults.settings());
  });
  router.get("/sandbox/stats", (_request, response) => {
    response.json({
      uptimeSeconds: Math.round(process.uptime()),
      rssBytes: process.memoryUsage.rss(),
      jobs: { held: jobs.heldCount(), ...jobs.counters() },
      files: files.stats(),
      chat: { requests: chat.requests() },
      images: { requests: images.requests() },
      speech: { requests: speech.requests() },
      faults: faults.settings(),
    });
  });
  return router;
};

const infoRoutes = (dataDirectory: string): Router => {
  const router = Router();
  router.get("/", (_request, response) => void response.type("html").send(PAGE));
  router.get("/healthz", (_request, response) => void response.json({ status: "ok" }));
  router.get("/readyz", async (_request, response) => {
    const isWritable = await access(dataDirectory, constants.W_OK).then(
      () => true,
      () => false,
    );
    response.status(isWritable ? 200 : 503).json({ status: isWritable ? "ok" : "the data folder cannot be written" });
  });
  return router;
};

/** Creates the provider as an Express application. It continues jobs that an earlier process left in the folder. */
export const createSandbox = ({
  apiKey,
  egress,
  controlKey,
  dataDirectory,
  clock = Date.now,
  report = () => undefined,
}: SandboxOptions): Express => {
  const jobs = openJobs(dataDirectory, clock);
  const inputs = inputFiles(dataDirectory, egress);
  const files = createFiles(inputs.readKept);
  const faults = createGlobalFaults(clock);
  const direct: Direct = { chat: chatDialect(clock), images: imagesDialect(files, clock), speech: speechDialect(files) };
  const app = express().disable("x-powered-by");

  app.use((_request, response, next) => {
    response.set("x-sandbox", "true");
    next();
  });
  app.use(infoRoutes(dataDirectory), controlRoutes(controlKey, { faults, jobs, files, direct }));
  app.use(["/v1", "/queue", "/files"], faults.inflict);
  app.use(inputs.uploads);
  app.use(fileRoutes(files));
  const [byBearer, byHeader] = [requireKey(apiKey, ["Bearer", "Token"]), requireKeyHeader(apiKey, "xi-api-key")];
  app.use("/v1", (request, response, next) => {
    const isSpeech = `${request.baseUrl}${request.path}`.startsWith(`${SPEECH_PATH}/`);
    return (isSpeech ? byHeader : byBearer)(request, response, next);
  });
  app.use("/queue", requireKey(apiKey, ["Key"]));
  app.use("/storage", requireKey(apiKey, ["Key", "Bearer"]));
  app.use(["/v1", "/queue", "/storage"], express.json({ limit: BODY_LIMIT_BYTES }));
  app.use(["/v1", "/queue"], inputs.check);
  app.use(inputs.storage);
  app.use(jobsDialect(jobs), queueDialect(jobs), predictionsDialect(jobs));
  app.use(direct.chat.router, direct.images.router, direct.speech.router);
  app.use(() => {
    throw notFound("address");
  });
  app.use(answerErrors(report));
  return app;
};
