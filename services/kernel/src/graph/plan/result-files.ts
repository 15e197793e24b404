import { BindError } from "../budget";
import { GRAPH_BOUNDS } from "../bounds";
import { RESULT_TYPE } from "../kinds";
import { resultFamily, type MediaFamily } from "../values/media";
import { withoutAbsent } from "../values/absent";
import type { Outputs } from "../values/bind";
import { valueOf, type PlanStep, type Source } from "./plan-types";
import { concatenated, isMedia } from "../values/value";

/**
 * Files of a result. `images`, `videos`, `audios` and `models3d` always refer to media storage: a step of the response-output node copies external
 * files before the result is built.
 */

const KEY = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * True for a file in media storage.
 * @param storage URL prefix of media storage
 */
export const isStoredFile = (url: string, storage: string | undefined): boolean =>
  storage !== undefined && url.startsWith(storage) && KEY.test(url.slice(storage.length));

/** Returns the URL or id of a result file; undefined for an empty value. @throws BindError if the value can't be a file */
const reference = (port: string, value: unknown): string | undefined => {
  const url = isMedia(value) || (typeof value === "object" && value !== null && "url" in value) ? value.url : value;
  if (url === undefined || url === null || url === "") return undefined;
  if (typeof url === "string") return url;
  const what = Array.isArray(value) ? "a list in a list" : typeof value === "object" ? "an object without a url" : `a ${typeof value}`;
  throw new BindError(`${port}: ${what} isn't a file`);
};

export interface ResultFile {
  port: string;
  family: MediaFamily;
  /** The value, if the file is already in media storage. */
  stored?: unknown;
  /** URL or id of the file, for files that aren't stored yet. */
  reference: string;
  /** True if the graph or the caller named the file; false if it is in a call's response. */
  given: boolean;
}

/**
 * Files of a response-output step, in edge order.
 * @throws BindError for values that can't be files, and for too many external files
 */
export const resultFiles = (step: Pick<PlanStep, "sources">, outputs: Outputs, storage: string | undefined): ResultFile[] => {
  const files = Object.entries(step.sources).flatMap(([port, sources]) =>
    sources.flatMap((source): ResultFile[] => {
      const isLiteral = !("node" in source);
      return concatenated([withoutAbsent(isLiteral ? valueOf(source) : outputs(source.node, source.port))]).flatMap((value) => {
        const fileReference = reference(port, value);
        if (fileReference === undefined) return [];
        return [
          {
            port,
            family: resultFamily(port)!,
            reference: fileReference,
            given: isLiteral,
            ...(isStoredFile(fileReference, storage) ? { stored: value } : {}),
          },
        ];
      });
    }),
  );
  const foreign = new Set(files.filter((file) => file.stored === undefined).map((file) => file.reference)).size;
  if (foreign > GRAPH_BOUNDS.resultFiles)
    throw new BindError(`its result has ${foreign} files from other servers: at most ${GRAPH_BOUNDS.resultFiles} are allowed`);
  return files;
};

/** True if a known value contains only files in media storage. */
const isAllStored = (value: unknown, storage: string | undefined): boolean =>
  concatenated([value]).every((one) => {
    const url = isMedia(one) ? one.url : one;
    return url === undefined || url === null || url === "" || (typeof url === "string" && isStoredFile(url, storage));
  });

export interface OutputPort {
  port: string;
  sources: readonly Source[];
  /** Maximum number of files. */
  files: number;
}

/**
 * Returns a step that copies external files of a response-output node; undefined if all files are certainly in media storage.
 * @param makesFiles returns true for nodes whose outputs are in media storage
 */
export const resultFilesStep = (
  id: string,
  ports: readonly OutputPort[],
  { storage, makesFiles }: { storage: string | undefined; makesFiles: (node: string) => boolean },
): PlanStep | undefined => {
  const isOurs = (source: Source): boolean => ("node" in source ? makesFiles(source.node) : isAllStored(valueOf(source), storage));
  const open = ports.filter(({ port, sources }) => resultFamily(port) !== undefined && !sources.every(isOurs));
  if (open.length === 0) return undefined;
  const files = open.reduce((sum, port) => sum + port.files, 0);
  return {
    id,
    type: RESULT_TYPE,
    literals: {},
    sources: Object.fromEntries(open.map(({ port, sources }) => [port, sources])),
    listPorts: open.map(({ port }) => port),
    textPorts: [],
    inputNames: [],
    maxItems: Math.min(files, GRAPH_BOUNDS.resultFiles),
    maxMillicredits: 0,
  };
};
