import { createHash } from "node:crypto";
import { dataUrlType, DomainError, member, readDataUrl } from "@nodeloom/kernel";
import { objectBytes, type Slots } from "@nodeloom/platform";
import {
  type DialectContext,
  MAX_DATA_URL_CHARS,
  ProviderError,
  type ProviderSettings,
  type SentFile,
  storageOf,
  TYPE_OF_FILE,
  type Uploaded,
  uploadFile,
} from "@nodeloom/providers";
import { media as mediaProto } from "@nodeloom/proto";
import { LRUCache } from "lru-cache";
import type { Media } from "../clients";
import { each, fileInputsOf } from "../plan/planner/file-inputs";
import { cannotSend, CHARS_PER_BYTE, isInOurNetwork, isReadable, sendingOf } from "../plan/files";
import type { CatalogModel } from "../plan/model-catalog";
import type { ModelCall } from "../run/calls";
import { TIMING } from "../run/timing";
import { final, inputFailed, providerFailed, QUOTES_ADDRESS } from "./failures";
import { ownerOf } from "./making";
import type { ConvertMask, ConvertVector } from "./mask-files";

/** Passes files to a provider as a readable address, as an upload to the provider's storage, or inside the request. */

const REMEMBERED = 10_000;
const READ_MS = 120_000;
const DATA_URL = /^data:/i;
interface Source extends SentFile {
  sha256: string;
}

export interface InputFilesOptions extends DialectContext {
  media: Pick<Media, "ingest" | "readObject">;
  /** Address prefix of the platform's own storage. */
  own: string;
  downloads: Slots;
  convertMask: ConvertMask;
  convertVector: ConvertVector;
}

type Inputs = Readonly<Record<string, unknown>>;

export interface SentInputs {
  inputs: Record<string, unknown>;
  /** Uploads files again that were uploaded for an earlier call, because providers delete them. */
  again?: () => Promise<Record<string, unknown>>;
}

interface SentInput {
  value: unknown;
  /** Set only for files inside the request. */
  contentType?: string;
}

interface InputFile {
  call: ModelCall;
  /** Keys of earlier uploads that this call reuses. */
  reused: Set<string>;
  settings: ProviderSettings;
  name: string;
  index: number;
  value: string;
  /** All inputs of the call. */
  inputs: Inputs;
}

/** Models take pictures as pixels. Storage gives vectors this ending. */
const VECTOR_TYPE = "image/svg+xml";
const VECTOR_KEY = /^[\w.-]+\.svg(?:[?#]|$)/;
/** An address of another server is checked by its ending, and its content when it is stored. */
const VECTOR_ADDRESS = /^https?:\/\/[^?#]+\.svg(?:[?#]|$)/i;

/** Distinguishes an image that is stored because of its mask from the files of the call. */
const IMAGE_OF_MASK = 1_000;

export type SendFiles = ReturnType<typeof createInputFiles>;

export const createInputFiles = ({ media, own, downloads, convertMask, convertVector, ...context }: InputFilesOptions) => {
  const uploads = new LRUCache<string, Promise<Uploaded>>({ max: REMEMBERED });

  /** Stores a file from outside the platform once per call, and returns its key. */
  const keyOf = async ({ call, index, value, name }: InputFile): Promise<string> => {
    if (value.startsWith(own)) return value.slice(own.length).split(/[?#]/)[0]!;
    const id = `${call.executionId}-${call.nodeIndex}-${call.item}-in-${index}`;
    const sourceOrigin = mediaProto.SourceOrigin.SOURCE_ORIGIN_USER;
    const request = { id, ownerId: ownerOf(call), sourceUrl: value, accept: [], sourceOrigin, making: undefined };
    const put = () => media.ingest(request, { deadlineMs: TIMING.keepFile });
    const { object } = await downloads.use(put, { key: call.userId, maxWaitMs: TIMING.run });
    if (!object) throw final("EXECUTION_FAILED", `${call.model}: input ${name}: the file could not be read`);
    return object.key;
  };

  const source = async (inputFile: InputFile): Promise<Source> => {
    const key = await keyOf(inputFile);
    for await (const { part } of media.readObject({ key }, { deadlineMs: READ_MS })) {
      if (part?.$case !== "header") break;
      const { contentType, bytes: length, sha256 } = part.value;
      return { name: key, contentType, length, sha256, read: () => objectBytes(media, key, READ_MS) };
    }
    throw inputFailed(`${inputFile.call.model}: input ${inputFile.name}: the file was deleted`);
  };

  const base64 = async ({ read: bytes }: Source): Promise<string> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes()) chunks.push(chunk);
    return Buffer.concat(chunks).toString("base64");
  };

  const uploaded = async ({ settings, reused }: InputFile, file: Source): Promise<string> => {
    const { upload, auth } = settings;
    if (!upload) throw new Error("an entry has files uploaded without saying where");
    // Another key may belong to another account, which can't read this upload.
    const account = auth ? ((await context.secret(auth, upload.baseUrl ?? settings.baseUrl)) ?? auth.default ?? "") : "";
    const key = createHash("sha256")
      .update(JSON.stringify([storageOf(settings), account, file.contentType, file.sha256]))
      .digest("hex");
    const pendingUpload = uploads.get(key);
    if (pendingUpload) {
      const { reference, until } = await pendingUpload;
      if (until > Date.now()) {
        reused.add(key);
        return reference;
      }
    }
    const task = uploadFile(context, { ...settings, upload }, file);
    uploads.set(key, task);
    task.catch(() => uploads.delete(key));
    return (await task).reference;
  };

  const isVector = (value: string): boolean => {
    if (value.startsWith(own)) return VECTOR_KEY.test(value.slice(own.length));
    return DATA_URL.test(value) ? dataUrlType(value) === VECTOR_TYPE : VECTOR_ADDRESS.test(value);
  };

  const asPixels = async (inputFile: InputFile): Promise<InputFile> => {
    const { call, name, index } = inputFile;
    return { ...inputFile, value: await convertVector({ call, name, index, key: await keyOf(inputFile) }) };
  };

  /** The file to send: a mask in the provider's form, a vector as a PNG, other files unchanged. */
  const converted = async (given: InputFile): Promise<InputFile> => {
    const { call, name, index, inputs, settings, value } = given;
    const { mask } = sendingOf(settings, name);
    if (!mask) return isVector(value) ? asPixels(given) : given;
    const [image] = each(member(inputs, mask.image));
    const imageKey = typeof image === "string" ? await keyOf({ ...given, value: image, index: index + IMAGE_OF_MASK }) : undefined;
    const file = { call, name, selected: mask.selected, mask: await keyOf(given), image: imageKey };
    return { ...given, value: await convertMask(file) };
  };

  /** @throws DomainError if no method can send the file */
  const sendFile = async (original: InputFile): Promise<SentInput> => {
    const inputFile = await converted(original);
    const { settings, name, value, call } = inputFile;
    const sending = sendingOf(settings, name);
    const isData = DATA_URL.test(value);
    const contentType = isData ? dataUrlType(value) : undefined;
    // Storing a file without a type determines its type.
    const plain = contentType === undefined ? undefined : readDataUrl(value);
    const most = sending.maxDataChars ?? MAX_DATA_URL_CHARS;
    let opened: Promise<Source> | undefined;
    const stored = async (): Promise<Source> => {
      const original = await source(inputFile);
      return original.contentType === VECTOR_TYPE ? source(await asPixels({ ...inputFile, value: own + original.name })) : original;
    };
    const file = (): Promise<Source> => (opened ??= stored());
    const fits = async (): Promise<boolean> => {
      const { length, contentType } = await file();
      return Math.ceil(length * CHARS_PER_BYTE) + contentType.length + "data:;base64,".length + 2 <= most;
    };
    for (const way of sending.send) {
      if (way === "url") {
        if (isData ? isInOurNetwork(settings) : isReadable(settings, value)) return { value };
      } else if (way === "upload") return { value: await uploaded(inputFile, await file()) };
      else if (way === "form") return { value: await file(), contentType: (await file()).contentType };
      else if (way === "data-url" && contentType !== undefined && value.length <= most)
        return { value: plain ? `data:${contentType};base64,${plain.data}` : value };
      else if (way === "base64" && plain && contentType !== undefined && value.length <= most) return { value: plain.data, contentType };
      else if (await fits()) {
        const { contentType } = await file();
        return { value: `${way === "data-url" ? `data:${contentType};base64,` : ""}${await base64(await file())}`, contentType };
      }
    }
    throw inputFailed(`${call.model}: ${cannotSend(name, sending)}`);
  };

  const asFailure = (error: unknown, { call, name }: InputFile): unknown => {
    const isRefused =
      error instanceof ProviderError || (error instanceof DomainError && (error.kind === "invalid" || error.kind === "failed"));
    return isRefused && !(error instanceof DomainError && error.message.startsWith(`${call.model}: `))
      ? (error instanceof ProviderError ? providerFailed : inputFailed)(`${call.model}: input ${name}: ${error.message}`, QUOTES_ADDRESS)
      : error;
  };

  const placed = async (
    call: ModelCall,
    model: Pick<CatalogModel, "providerJson" | "inputSchema">,
    inputs: Inputs,
    reused: Set<string>,
  ): Promise<Record<string, unknown>> => {
    const ports = fileInputsOf(model.inputSchema).filter((name) => member(inputs, name) !== undefined);
    if (ports.length === 0) return { ...inputs };
    const settings = JSON.parse(model.providerJson) as ProviderSettings;
    let index = 0;
    const members = await Promise.all(
      ports.map(async (name): Promise<[string, unknown][]> => {
        const values = each(inputs[name]).map((value): Promise<SentInput> => {
          if (typeof value !== "string") return Promise.resolve({ value });
          const inputFile = { call, settings, name, index: index++, value, inputs, reused };
          return sendFile(inputFile).catch((error: unknown) => {
            throw asFailure(error, inputFile);
          });
        });
        const files = await Promise.all(values);
        const isList = Array.isArray(inputs[name]);
        const listed = <T>(list: T[]): T | T[] | undefined => (isList ? list : list[0]);
        // Entries without templates send all inputs by name, so the type is added only if an entry asks for it.
        const type = `${name}${TYPE_OF_FILE}`;
        const types: [string, unknown][] = model.providerJson.includes(JSON.stringify(type))
          ? [[type, listed(files.map((file) => file.contentType))]]
          : [];
        return [[name, listed(files.map((file) => file.value))], ...types];
      }),
    );
    return { ...inputs, ...Object.fromEntries(members.flat().filter(([, value]) => value !== undefined)) };
  };

  /**
   * Replaces the files of a call with references, each by the first available method of its entry.
   * @throws DomainError EXECUTION_FAILED with the missing setting, before anything is submitted
   */
  return async (call: ModelCall, model: Pick<CatalogModel, "providerJson" | "inputSchema">, inputs: Inputs): Promise<SentInputs> => {
    const reused = new Set<string>();
    const first = await placed(call, model, inputs, reused);
    if (reused.size === 0) return { inputs: first };
    const again = (): Promise<Record<string, unknown>> => {
      for (const key of reused) uploads.delete(key);
      return placed(call, model, inputs, new Set());
    };
    return { inputs: first, again };
  };
};
