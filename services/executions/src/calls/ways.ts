import type { EgressClient } from "@nodeloom/platform";
import type { Identity, Transform } from "../clients";
import type { CallOptions } from "./call";
import { createKeepAnswer } from "./answers";
import { createFiles, type Files, type FilesOptions } from "./files";
import { createHttpRequest } from "./http-request";
import { createJobs, type JobOptions, type Jobs } from "./jobs";
import { createKeepFile, type KeepFile } from "./stored-files";
import { createSecretSending, type SendHttp } from "./secrets";
import type { TextStreams } from "./text-streams";
import { createTexts, type Texts } from "./texts";
import { createTransforms, type Transforms } from "./transforms";

export interface Calls {
  jobs: Jobs;
  texts: Texts;
  files: Files;
  httpRequest: SendHttp;
  keepFile: KeepFile;
  transforms: Transforms;
  textStreams: Pick<TextStreams, "open" | "openPreview">;
}

export interface CallsOptions extends CallOptions, Pick<JobOptions, "pace">, Pick<FilesOptions, "spool">, Pick<Calls, "textStreams"> {
  identity: Pick<Identity, "readSecrets">;
  userEgress: EgressClient;
  transform: Pick<Transform, "run">;
}

export const createCalls = (options: CallsOptions): Calls => {
  const { media, storage = media, downloads, own, ownFiles, transform, identity, userEgress, textStreams } = options;
  return {
    jobs: createJobs(options),
    texts: createTexts(options),
    files: createFiles(options),
    httpRequest: createSecretSending(
      identity,
      createHttpRequest({ egress: userEgress, keepAnswer: createKeepAnswer(storage, downloads), ownFiles }),
    ),
    keepFile: createKeepFile({ getObjects: media.getObjects, ingest: storage.ingest }, downloads),
    transforms: createTransforms({ media, transform, downloads, own, ownFiles }),
    textStreams,
  };
};
