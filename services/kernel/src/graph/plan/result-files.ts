import { BindError } from "../budget";
import { GRAPH_BOUNDS } from "../bounds";
import { RESULT_TYPE } from "../kinds";
import { resultFamily, type MediaFamily } from "../values/media";
import { withoutAbsent } from "../values/absent";
import type { Outputs } from "../values/bind";
import { valueOf, type PlanStep, type Source } from "./plan-types";
import { concatenated, isMedia } from "../values/value";

/**
 * The files of a result: what `images`, `videos` and `audios` carry lies in our own storage. Whatever may lie elsewhere is
 * fetched by a step of the response-output node before the result is made.
 */

const KEY = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * Whether an address is a file of our own storage.
 * @param storage what the addresses of our files begin with
 */
export const isStoredFile = (url: string, storage: string | undefined): boolean =>
  storage !== undefined && url.startsWith(storage) && KEY.test(url.slice(storage.length));

/** A file as a result names it: its address, an id, or nothing. @throws BindError when the value can't be a file */
const reference = (port: string, value: unknown): string | undefined => {
  const url = isMedia(value) || (typeof value === "object" && value !== null && "url" in value) ? value.url : value;
  if (url === undefined || url === null || url === "") return undefined;
  if (typeof url === "string") return url;
  const what = Array.isArray(value) ? "a list in a list" : typeof value === "object" ? "an object without a url" : `a ${typeof value}`;
  throw new BindError(`${port}: ${what} is no file`);
};

/** A file that a result names. */
export interface ResultFile {
  port: string;
  family: MediaFamily;
  /** Its value, where it is ours already. */
  stored?: unknown;
  /** Otherwise what names it: an address or an id. */
  reference: string;
  /** The graph or its caller named it, not something that the run called. */
  given: boolean;
}

/**
 * Every file that flows into a response-output step, in edge order.
 * @throws BindError for values that can't be files, or when there are too many to fetch
 */
export const resultFiles = (step: Pick<PlanStep, "sources">, outputs: Outputs, storage: string | undefined): ResultFile[] => {
  const files = Object.entries(step.sources).flatMap(([port, sources]) =>
    sources.flatMap((source): ResultFile[] => {
      const given = !("node" in source);
      return concatenated([withoutAbsent(given ? valueOf(source) : outputs(source.node, source.port))]).flatMap((value) => {
        const named = reference(port, value);
        if (named === undefined) return [];
        return [{ port, family: resultFamily(port)!, reference: named, given, ...(isStoredFile(named, storage) ? { stored: value } : {}) }];
      });
    }),
  );
  const foreign = new Set(files.filter((file) => file.stored === undefined).map((file) => file.reference)).size;
  if (foreign > GRAPH_BOUNDS.resultFiles)
    throw new BindError(`its result names ${foreign} files that would have to be fetched: at most ${GRAPH_BOUNDS.resultFiles} are allowed`);
  return files;
};

/** Whether everything that a known value names is ours already. */
const isAllStored = (value: unknown, storage: string | undefined): boolean =>
  concatenated([value]).every((one) => {
    const url = isMedia(one) ? one.url : one;
    return url === undefined || url === null || url === "" || (typeof url === "string" && isStoredFile(url, storage));
  });

/** A port of a response-output node, and what flows into it. */
export interface OutputPort {
  port: string;
  sources: readonly Source[];
  /** How many files may flow in. */
  files: number;
}

/**
 * The step that fetches what a response-output node names elsewhere; undefined when all of it is ours for certain.
 * @param makesFiles whether what a node gives are files of our storage
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
