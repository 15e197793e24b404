/** Prepares an import: copies its files into the account, and stores each workflow until its step runs. */
import { createHash } from "node:crypto";
import { DomainError, type MediaUrls } from "@nodeloom/kernel";
import { enteredText, inMediaBatches, uploadParts } from "@nodeloom/platform";
import { media as mediaProto, type bundles as proto } from "@nodeloom/proto";
import type { Media } from "../clients";
import type { PayloadStore } from "../record/payloads";
import type { BundleStep } from "../run/bundle";
import { withAccountFiles, type AccountFile, type BundleDocument, invalidBundle } from "./document";
import type { BundlePlan, PlannedWorkflow } from "./plan";
import type { Bundle } from "./reading";
import { gunzipSync, gzipSync } from "node:zlib";

/** Stores a part of an import until it has ended. */
export const storeJson = (payloads: Pick<PayloadStore, "put">, key: string, value: unknown, ownerId: string): Promise<void> =>
  payloads.put(key, gzipSync(JSON.stringify(value), { level: 1 }), ownerId);

/** @returns undefined if the part has expired */
export const storedJson = async <T>(payloads: Pick<PayloadStore, "get">, key: string): Promise<T | undefined> => {
  const bytes = await payloads.get(key);
  return bytes ? (JSON.parse(gunzipSync(bytes).toString("utf8")) as T) : undefined;
};

export type StagedDocument = Pick<
  BundleDocument,
  "title" | "description" | "tags" | "folder" | "nodesJson" | "edgesJson" | "viewportJson" | "testsJson"
>;

const UPLOAD_MS = 300_000;
const ID_CHARS = 32;

export interface StagingOptions {
  media: Pick<Media, "upload" | "getObjects" | "admitUrls">;
  payloads: Pick<PayloadStore, "put" | "get">;
  urls: Pick<MediaUrls, "unsigned" | "current">;
}

export type Staging = ReturnType<typeof createStaging>;

/** The id depends on the content, so an account stores a file once however often bundles contain it. */
const fileId = (ownerId: string, sha256: string): string =>
  createHash("sha256").update(`bundle\n${ownerId}\n${sha256}`).digest("hex").slice(0, ID_CHARS);

export const isSaved = ({ action, publishes }: PlannedWorkflow): boolean => action === "create" || action === "update" || publishes;

/** Returns the names of the files that an import stores. */
export const filesOf = (bundle: Bundle, plan: BundlePlan): string[] => [
  ...new Set(plan.workflows.filter(isSaved).flatMap(({ name }) => bundle.workflows.get(name)!.files)),
];

export const createStaging = ({ media, payloads, urls }: StagingOptions) => {
  const store = async (bundle: Bundle, name: string, header: proto.ImportBundleHeader): Promise<AccountFile> => {
    const { ownerId, quotaBytes } = header;
    const upload = mediaProto.UploadHeader.fromPartial({ id: fileId(ownerId, bundle.files.get(name)!), ownerId, quotaBytes });
    const { object } = await media.upload(uploadParts(upload, await bundle.file(name)), { deadlineMs: UPLOAD_MS });
    if (!object) throw new Error("media answered without an object");
    return { id: object.id, url: object.url };
  };

  const storeAll = async (bundle: Bundle, names: readonly string[], header: proto.ImportBundleHeader) => {
    const { ownerId, unapproved } = header;
    if (names.length > 0 && unapproved)
      throw new DomainError("forbidden", "ACCOUNT_NOT_APPROVED", "this account awaits approval and can't store the bundle's files yet");
    const ids = new Map(names.map((name) => [name, fileId(ownerId, bundle.files.get(name)!)]));
    const objects = await inMediaBatches([...ids.values()], async (some) => (await media.getObjects({ ids: some, ownerId })).objects);
    const storedById = new Map(objects.map(({ id, url }) => [id, { id, url }]));
    const files: Record<string, AccountFile> = {};
    for (const [name, id] of ids) files[name] = storedById.get(id) ?? (await store(bundle, name, header));
    return files;
  };

  return {
    /** @param id id of the import; repeated calls with this id don't store a part twice */
    stage: async (bundle: Bundle, plan: BundlePlan, header: proto.ImportBundleHeader, id: string): Promise<BundleStep[]> => {
      const files = await storeAll(bundle, filesOf(bundle, plan), header);
      const steps: BundleStep[] = [];
      for (const planned of plan.workflows.filter(isSaved)) {
        const { name } = planned;
        const [target, source] = [plan.targets.get(name)!, bundle.workflows.get(name)!];
        const { title, description, tags, folder, nodesJson, edgesJson, viewportJson, testsJson } = await bundle.document(name);
        const foreign = (key: string): DomainError =>
          invalidBundle(`workflows/${name}.json`, `names ${key}, a private file of another account: put the file into the bundle`);
        const entered = async (json: string): Promise<string> =>
          withAccountFiles(await enteredText({ urls, media }, json, header.ownerId, foreign), files);
        const document = {
          ...{ title: title || name, description, tags, folder, nodesJson: await entered(nodesJson), edgesJson, viewportJson },
          ...(testsJson === undefined ? {} : { testsJson: await entered(testsJson) }),
        };
        const payload = `bundle-${id}-${name}`;
        await storeJson(payloads, payload, document, header.ownerId);
        const inner = source.inner.filter((one) => bundle.workflows.has(one));
        const { slug, revision, generation } = target;
        steps.push({ name, slug, revision, generation, source: source.source, publish: planned.publishes, payload, inner });
      }
      return steps;
    },
    read: async (payload: string): Promise<StagedDocument> => {
      const document = await storedJson<StagedDocument>(payloads, payload);
      if (!document) throw new DomainError("not_found", "NOT_FOUND", "the import is too old to be continued: send it again");
      return document;
    },
  };
};
