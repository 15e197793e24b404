import type { MediaFile } from "@nodeloom/client";
import { create } from "zustand";
import { api, request } from "./client";
import { readFile } from "./read-file";

type FilesById = ReadonlyMap<string, MediaFile>;

/** Files that this page has loaded, by id. `others`: older files of the person, and public ones of others, such as those of templates. */
export const useFiles = create<{ files: FilesById; others: FilesById }>(() => ({ files: new Map(), others: new Map() }));

export const rememberFiles = (rows: readonly MediaFile[]): void =>
  useFiles.setState(({ files }) => {
    const news = rows.filter((file) => JSON.stringify(files.get(file.id)) !== JSON.stringify(file));
    return news.length === 0 ? {} : { files: new Map([...files, ...news.map((file): [string, MediaFile] => [file.id, file])]) };
  });

/** Maximum pages of files to search. */
const MOST_PAGES = 5;
const PAGE = 100;

/** The newest matching file; undefined if none of the searched pages has one. @throws NodeloomError */
const search = async (fits: (file: MediaFile) => boolean): Promise<MediaFile | undefined> => {
  let cursor: string | null | undefined;
  for (let pages = 0; pages < MOST_PAGES && cursor !== null; pages += 1) {
    const query: { limit: number; cursor?: string } = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const { body } = await request("listMedia", { query });
    rememberFiles(body.rows);
    const match = body.rows.find(fits);
    if (match) return match;
    cursor = body.nextCursor;
  }
  return undefined;
};

/** Ids already looked up; missing ones aren't looked up again. */
const askedIds = new Set<string>();

/** Maximum files outside the searched pages that are looked up by their ids. */
const MOST_OTHERS = 50;

const lookUpOther = async (id: string): Promise<void> => {
  const { body } = await request("getMedia", { params: { id } });
  useFiles.setState(({ others }) => ({ others: new Map([...others, [id, body]]) }));
};

/** Looks up unknown files. Unreadable files stay unknown. */
export const lookUpFiles = async (ids: readonly string[]): Promise<void> => {
  const missing = new Set(ids.filter((id) => !useFiles.getState().files.has(id) && !askedIds.has(id)));
  if (missing.size === 0) return;
  for (const id of missing) askedIds.add(id);
  const isLast = ({ id }: MediaFile): boolean => missing.delete(id) && missing.size === 0;
  await search(isLast).catch(() => undefined);
  await Promise.allSettled([...missing].slice(0, MOST_OTHERS).map(lookUpOther));
};

/** Id of the person's file by address. A file that isn't in the list is uploaded again. @throws NodeloomError */
export const mediaIdOf = async (url: string): Promise<string> => {
  const path = new URL(url, location.origin).pathname;
  const isIt = (file: MediaFile): boolean => new URL(file.url, location.origin).pathname === path;
  const knownFile = [...useFiles.getState().files.values()].find(isIt) ?? (await search(isIt));
  if (knownFile) return knownFile.id;
  return (await uploadFile(await (await readFile(url)).blob())).id;
};

/** A new address for a file of the person whose address has expired. @throws NodeloomError */
export const renewed = async (url: string): Promise<string> => {
  const id = new URL(url, location.origin).pathname.split("/").at(-1)!;
  const { body } = await request("getMedia", { params: { id } });
  rememberFiles([body]);
  return body.url;
};

const NAMES = "nodeloom.file-names";
const MOST_NAMES = 500;

const storedNames = (): [string, string][] => {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(NAMES) ?? "[]");
    return Array.isArray(value) ? (value as [string, string][]) : [];
  } catch {
    return [];
  }
};
let names: ReadonlyMap<string, string> | undefined;

/** Name of a file uploaded in this browser; the service stores no names. */
export const fileName = (id: string): string | undefined => (names ??= new Map(storedNames())).get(id);

/** Ids of files whose names contain words. */
export const filesNamed = (words: string): string[] => {
  names ??= new Map(storedNames());
  return [...names].flatMap(([id, name]) => (name.toLowerCase().includes(words) ? [id] : []));
};

const rememberName = (id: string, name: string): void => {
  names = new Map([[id, name], ...storedNames().filter(([one]) => one !== id)].slice(0, MOST_NAMES) as [string, string][]);
  try {
    localStorage.setItem(NAMES, JSON.stringify([...names]));
  } catch {
    // Without storage, the time of the upload is shown instead.
  }
};

/** Maximum size of one file. */
export const MAX_UPLOAD_BYTES = 100 * 1024 * 1024;

/** Uploads a file and remembers its name. @throws NodeloomError */
export const uploadFile = async (file: Blob): Promise<MediaFile> => {
  const stored = await api.upload(file);
  const storedFile: MediaFile = {
    ...stored,
    origin: "upload",
    kept: true,
    createdAt: new Date().toISOString(),
    public: false,
    ...{ model: null, title: null },
  };
  if (file instanceof File && file.name !== "" && file.name !== "image") rememberName(stored.id, file.name);
  rememberFiles([storedFile]);
  return storedFile;
};
