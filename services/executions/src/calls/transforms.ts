import {
  DomainError,
  familyOfPort,
  isFileType,
  isStoredFile,
  mediaOperation,
  operationIssues,
  schemaPorts,
  type FileType,
  type MediaOperation,
  type MediaValue,
} from "@nodeloom/kernel";
import { createSharedReads, type Slots } from "@nodeloom/platform";
import { media as mediaProto, transform as proto } from "@nodeloom/proto";
import type { Media, Transform } from "../clients";
import { mediaValue, withFiles } from "../plan/files";
import { each } from "../plan/planner/file-inputs";
import { fingerprintOfTransform } from "../reuse/fingerprints";
import type { TransformCall } from "../run/calls";
import { TIMING } from "../run/timing";
import { mediaId, storeInTurn } from "./call";
import { final, inputFailed, QUOTES_ADDRESS } from "./failures";
import type { OwnFiles } from "./own-files";
import { makingByOperation, ownerOf } from "./making";
import type { CallFingerprint } from "../run/types";

/** Calls the transform service. Files are passed by their keys in media. */

export interface TransformsOptions {
  media: Pick<Media, "getObjects" | "ingest">;
  transform: Pick<Transform, "run">;
  /** Limits how many files are stored concurrently. */
  downloads: Slots;
  /** Address prefix of the platform's own storage. */
  own: string;
  ownFiles?: OwnFiles | undefined;
}

const MS = 1_000;

export type Transforms = ReturnType<typeof createTransforms>;

export interface TransformResult {
  files: MediaValue[];
  asked: CallFingerprint;
  /** Sentences about parts of the files that the result omits. */
  warnings: string[];
}

interface InputFile {
  port: string;
  type: FileType;
  address: string;
}

const portsOf = ({ schema }: MediaOperation): [string, FileType][] =>
  schemaPorts(schema).flatMap(([name, { type }]) => (isFileType(type) ? [[name, type] as [string, FileType]] : []));

/** @throws DomainError if an earlier node produced an input that the operation doesn't support */
const readyCall = async (media: TransformsOptions["media"], call: TransformCall) => {
  const operation = mediaOperation(call.operation);
  if (!operation) throw final("EXECUTION_FAILED", `the operation ${call.operation} no longer exists`);
  const ready = await withFiles(media, operation.schema, call.inputs, call.userId, call.authorFiles);
  if ("problem" in ready) throw inputFailed(`${operation.name}: ${ready.problem}`, QUOTES_ADDRESS);
  const [issue] = operationIssues(operation, ready.inputs);
  if (issue) throw inputFailed(`${operation.name}: ${issue.path}: ${issue.message}`);
  return { operation, inputs: ready.inputs };
};

const fileValue = ({ object, width, height, durationSeconds }: proto.Output): MediaValue[] => {
  if (!object) return [];
  const durationMs = durationSeconds === undefined ? object.durationMs : Math.round(durationSeconds * MS);
  return [mediaValue({ ...object, width: width ?? object.width, height: height ?? object.height, durationMs })];
};

export const createTransforms = ({ media, transform, downloads, own, ownFiles }: TransformsOptions) => {
  /** Returns the key of a file in storage. A file from outside the platform is stored first. */
  const keyOf = async (call: TransformCall, { type, port, address }: InputFile, index: number, signal: AbortSignal): Promise<string> => {
    if (isStoredFile(address, own)) return address.slice(own.length);
    const put = () =>
      media.ingest(
        mediaProto.IngestRequest.fromPartial({
          id: `${mediaId(call, index)}-in`,
          ownerId: ownerOf(call),
          sourceUrl: address,
          accept: [familyOfPort(type) ?? []].flat(),
          sourceOrigin: mediaProto.SourceOrigin.SOURCE_ORIGIN_USER,
        }),
        { deadlineMs: TIMING.keepFile, signal },
      );
    const problem = `${port}: the file could not be stored`;
    const { url } = await storeInTurn(downloads, put, { userId: call.userId, signal, problem });
    return url.slice(own.length);
  };

  /**
   * Runs an operation. Repeating it is safe: a call with the same name returns the file that was stored first.
   * @param mayFetch called with every address outside the platform's storage before it is fetched
   */
  return async (call: TransformCall, signal: AbortSignal, mayFetch: (url: string) => Promise<void>): Promise<TransformResult> => {
    const { operation, inputs } = await readyCall(media, call);
    await ownFiles?.(inputs, call.userId, operation.name);
    const ports = new Map(portsOf(operation));
    const sources = [...ports].flatMap(([port, type]) =>
      inputs[port] === undefined ? [] : each(inputs[port]).map((address): InputFile => ({ port, type, address: String(address) })),
    );
    const files: proto.Input[] = [];
    for (const [index, one] of sources.entries()) {
      if (!isStoredFile(one.address, own) && /^https?:/i.test(one.address)) await mayFetch(one.address);
      files.push({ port: one.port, key: await keyOf(call, one, index, signal) });
    }
    const settings = Object.fromEntries(Object.entries(inputs).filter(([name]) => !ports.has(name)));
    const request = proto.RunRequest.fromPartial({
      callId: `${call.executionId}-${call.nodeIndex}-${call.item}`,
      userId: ownerOf(call),
      making: makingByOperation(call, operation.schema),
      operation: operation.name,
      settingsJson: JSON.stringify(settings),
      inputs: files,
    });
    const { outputs, warnings, programVersion } = await transform.run(request, { deadlineMs: TIMING.transform, signal });
    return { files: outputs.flatMap(fileValue), asked: fingerprintOfTransform(call, programVersion, own), warnings };
  };
};

const STATUS_FRESH_MS = 2_000;

export type RequirePrograms = (operations: readonly string[]) => Promise<void>;

/** Reads the programs of the transform service. The list is at most two seconds old. */
export const createPrograms = (transform: Pick<Transform, "getStatus">) => {
  const reads = createSharedReads<proto.GetStatusResponse>();
  let cachedStatus: { at: number; status: proto.GetStatusResponse } | undefined;
  return async (): Promise<proto.GetStatusResponse> => {
    if (!cachedStatus || Date.now() - cachedStatus.at > STATUS_FRESH_MS)
      cachedStatus = { at: Date.now(), status: await reads("status", () => transform.getStatus({})) };
    return cachedStatus.status;
  };
};

export type Programs = ReturnType<typeof createPrograms>;

/** Returns the version of the program for an operation; empty if the program is missing. */
export const createProgramVersion =
  (programs: Programs) =>
  async (operation: string): Promise<string> => {
    const { images, ffmpeg } = await programs();
    return (mediaOperation(operation)?.program === "ffmpeg" ? ffmpeg : images)?.version ?? "";
  };

/** Rejects a run before it starts if a program for its operations is missing. */
export const createRequirePrograms =
  (programs: Programs): RequirePrograms =>
  async (operations) => {
    const needing = operations.find((name) => mediaOperation(name)?.program === "ffmpeg");
    if (needing === undefined) return;
    const { ffmpeg: program } = await programs();
    if (program?.state === proto.ProgramState.PROGRAM_STATE_READY) return;
    const retryAfter = program?.retryAfterSeconds || 1;
    throw new DomainError("unavailable", "SERVICE_UNAVAILABLE", `${needing} is not ready: ${program?.reason ?? ""}`, {
      retryAfter,
      operation: needing,
    });
  };
