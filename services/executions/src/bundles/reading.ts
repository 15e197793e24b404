/** Reads archives from users. Entry names are only looked up and never used as paths. */
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { BUNDLE_BOUNDS as BOUNDS, isSlug, LIMITS, type DomainError } from "@nodeloom/kernel";
import { openPromise, type Entry, type ZipFile } from "yauzl";
import { readDocument, type BundleDocument, invalidBundle } from "./document";

/** An archive in a local file. */
export interface Bundle {
  /** Workflows by name. */
  workflows: ReadonlyMap<string, BundledSource>;
  /** SHA-256 of each file in hexadecimal, by name. */
  files: ReadonlyMap<string, string>;
  /** Entries and members that imports don't use. */
  ignored: string[];
  /** Reads a workflow from the archive again. */
  document(name: string): Promise<BundleDocument>;
  /** Opens a file of the bundle as a stream. */
  file(name: string): Promise<Readable>;
  close(): void;
}

export type BundledSource = Pick<BundleDocument, "problems" | "inner" | "files" | "source">;

const MANIFEST = "bundle.json";
const WORKFLOW = /^workflows\/(.+)\.json$/;
const FILE = /^files\/([A-Za-z0-9][A-Za-z0-9._-]{0,127})$/;
/** Besides the graph, a document has names, tags and white space. */
const DOCUMENT_BYTES = 2 * LIMITS.workflowBytes;

/** The library's errors quote at most the entry's name. */
const unreadable = (error: unknown): DomainError =>
  invalidBundle("", `isn't a readable ZIP archive: ${error instanceof Error ? error.message.slice(0, LIMITS.nameChars) : "unknown"}`);

const reading = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw unreadable(error);
  }
};

const bytesOf = async (zip: ZipFile, entry: Entry): Promise<Buffer> =>
  reading(async () => {
    const chunks: Buffer[] = [];
    // The library fails when an entry has more bytes than it declares.
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  });

const hashOf = async (zip: ZipFile, entry: Entry): Promise<string> =>
  reading(async () => {
    const hash = createHash("sha256");
    for await (const chunk of await zip.openReadStreamPromise(entry)) hash.update(chunk as Buffer);
    return hash.digest("hex");
  });

const checkSize = (entry: Entry, most: number): void => {
  if (entry.uncompressedSize > most) throw invalidBundle(entry.fileName, `has more than ${most} bytes`);
};

/** Returns all entries within the limits. */
const entriesOf = async (zip: ZipFile): Promise<Map<string, Entry>> => {
  if (zip.entryCount > BOUNDS.entries) throw invalidBundle("", `has more than ${BOUNDS.entries} entries`);
  const entries = new Map<string, Entry>();
  let bytes = 0;
  const next = zip.eachEntry()[Symbol.asyncIterator]();
  for (let result = await reading(() => next.next()); !result.done; result = await reading(() => next.next())) {
    const entry = result.value;
    bytes += entry.uncompressedSize;
    if (bytes > BOUNDS.unpackedBytes) throw invalidBundle("", `has more than ${BOUNDS.unpackedBytes} bytes when it is unpacked`);
    if (entry.fileName.endsWith("/")) continue;
    if (!entry.canDecodeFileData()) throw invalidBundle(entry.fileName, "is encrypted or compressed by a method other than deflate");
    if (entries.has(entry.fileName)) throw invalidBundle(entry.fileName, "is in the archive twice");
    entries.set(entry.fileName, entry);
  }
  return entries;
};

const nameOf = (fileName: string): string | undefined => {
  const name = WORKFLOW.exec(fileName)?.[1];
  if (name === undefined) return undefined;
  if (!isSlug(name) || name.length > BOUNDS.nameChars)
    throw invalidBundle(fileName, `the name must have at most ${BOUNDS.nameChars} lowercase letters, digits and single hyphens`);
  return name;
};

const checkManifest = async (zip: ZipFile, entry: Entry): Promise<string[]> => {
  checkSize(entry, LIMITS.textValueBytes);
  let value: unknown;
  try {
    value = JSON.parse((await bytesOf(zip, entry)).toString("utf8"));
  } catch {
    throw invalidBundle(MANIFEST, "isn't JSON");
  }
  const { format } = (value ?? {}) as { format?: unknown };
  if (format !== BUNDLE_FORMAT) throw invalidBundle(MANIFEST, `format must be ${BUNDLE_FORMAT}`);
  return ["hooks", "schedules"].filter((member) => Object.hasOwn(value as object, member)).map((member) => `${MANIFEST}: ${member}`);
};

export const BUNDLE_FORMAT = 1;

/**
 * Opens an archive. The limits are checked on the declared sizes, and the library enforces these sizes while reading.
 * @throws DomainError INVALID_REQUEST with the name of the entry
 */
export const openBundle = async (path: string): Promise<Bundle> => {
  const zip = await reading(() => openPromise(path, { lazyEntries: true, autoClose: false, strictFileNames: true }));
  try {
    return await readBundle(zip);
  } catch (error) {
    zip.close();
    throw error;
  }
};

const readBundle = async (zip: ZipFile): Promise<Bundle> => {
  const [documents, blobs, ignored]: [Map<string, Entry>, Map<string, Entry>, string[]] = [new Map(), new Map(), []];
  for (const [fileName, entry] of await entriesOf(zip)) {
    const [workflow, file] = [nameOf(fileName), FILE.exec(fileName)?.[1]];
    if (workflow !== undefined) documents.set(workflow, entry);
    else if (file !== undefined) blobs.set(file, entry);
    else ignored.push(...(fileName === MANIFEST ? await checkManifest(zip, entry) : [fileName]));
  }
  if (documents.size === 0) throw invalidBundle("", "has no workflow: put each one at workflows/<name>.json");
  if (documents.size > BOUNDS.workflows) throw invalidBundle("", `has more than ${BOUNDS.workflows} workflows`);
  const files = new Map<string, string>();
  for (const [name, entry] of blobs) {
    checkSize(entry, LIMITS.mediaBytes);
    files.set(name, await hashOf(zip, entry));
  }
  const names = new Set(documents.keys());
  const document = async (name: string): Promise<BundleDocument> => {
    const entry = documents.get(name)!;
    checkSize(entry, DOCUMENT_BYTES);
    return readDocument(entry.fileName, await bytesOf(zip, entry), { workflows: names, files });
  };
  const workflows = new Map<string, BundledSource>();
  for (const [name, { fileName }] of documents) {
    const entryDocument = await document(name);
    const missing = entryDocument.files.find((file) => !files.has(file));
    if (missing !== undefined) throw invalidBundle(fileName, `uses files/${missing}, which isn't in the bundle`);
    workflows.set(name, {
      problems: entryDocument.problems,
      inner: entryDocument.inner,
      files: entryDocument.files,
      source: entryDocument.source,
    });
    ignored.push(...entryDocument.ignored.map((member) => `${fileName}: ${member}`));
  }
  return {
    ...{ workflows, files, ignored, document },
    file: (name) => reading(() => zip.openReadStreamPromise(blobs.get(name)!)),
    close: () => zip.close(),
  };
};
