import { invalidRequest, MEDIA_FAMILIES, mediaPrefix } from "@nodeloom/kernel";
import { clientStream, pieces, serverStream, unary, type Removal } from "@nodeloom/platform";
import { media } from "@nodeloom/proto";
import type { Verification, Verify } from "./credentials/verify";
import type { Library } from "./objects/library";
import type { Objects } from "./objects/objects";
import type { RunFiles } from "./objects/run-files";
import type { Placement } from "./objects/receiving";
import { addressOf } from "./marks/xmp";
import type { Provenance } from "./provenance/ancestors";
import type { Maker, Making } from "./store/making";
import type { Lifetime, Urls } from "./urls/urls";
import { isCounted, type MediaObject } from "./store/media-object";

const checkAccept = (accept: readonly string[]): void => {
  const unknown = accept.filter((family) => !(MEDIA_FAMILIES as readonly string[]).includes(family));
  if (unknown.length > 0) throw invalidRequest([{ path: "accept", message: `unknown family: ${unknown.join(", ")}` }]);
};

const MAKERS: Readonly<Partial<Record<media.Maker, Maker>>> = {
  [media.Maker.MAKER_MODEL]: "model",
  [media.Maker.MAKER_ALGORITHM]: "algorithm",
  [media.Maker.MAKER_OPERATION]: "operation",
};
const MAKER_MESSAGES: Readonly<Record<Maker, media.Maker>> = {
  model: media.Maker.MAKER_MODEL,
  algorithm: media.Maker.MAKER_ALGORITHM,
  operation: media.Maker.MAKER_OPERATION,
};

const toMaking = (making: media.Making | undefined): Making | undefined => {
  const maker = making && MAKERS[making.maker];
  if (!maker) return undefined;
  const { model, nodeId, executionId, parents, inputsJson } = making;
  return { maker, model, nodeId, executionId, parents, inputsJson: inputsJson || undefined };
};

type Target = Pick<Placement, "id" | "ownerId" | "accept" | "held" | "stripMetadata"> & { making?: media.Making | undefined };

const generated = ({ id, ownerId, accept, making, held, stripMetadata }: Target): Placement => {
  checkAccept(accept);
  if (held && id === "") throw invalidRequest([{ path: "held", message: "is for what has an id alone" }]);
  const { words = [], title = "" } = making ?? {};
  const finding = { ...(words.length > 0 ? { words } : {}), ...(title === "" ? {} : { title }) };
  return { id, ownerId, accept, origin: "generated", making: toMaking(making), held, stripMetadata, ...finding };
};

const isByUser = ({ sourceOrigin }: media.IngestRequest): boolean => sourceOrigin === media.SourceOrigin.SOURCE_ORIGIN_USER;

/** Only runs choose ids, so an upload without an id is a user's. */
const uploaded = (header: media.UploadHeader): Placement =>
  header.id === "" ? { ...generated({ ...header, making: undefined }), origin: "upload", quota: header.quotaBytes } : generated(header);

const ORIGINS = { upload: media.Origin.ORIGIN_UPLOAD, generated: media.Origin.ORIGIN_GENERATED } as const;

type StreamedRequest = media.UploadRequest | media.VerifyRequest;

async function* chunks(rest: AsyncIterator<StreamedRequest>): AsyncIterable<Uint8Array> {
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    const part = next.value.part;
    if (part?.$case !== "chunk") throw invalidRequest([{ path: "part", message: "only chunks may follow the header" }]);
    yield part.value;
  }
}

const toVerified = ({ credentials, ...file }: Verification): media.VerifyResponse =>
  media.VerifyResponse.fromPartial({
    ...{ contentType: file.contentType, bytes: file.bytes, supported: file.isSupported, digitalSourceType: file.digitalSourceType },
    credentials: credentials && {
      ...credentials,
      ...{ whole: credentials.isWhole, ours: credentials.isOurs, selfMade: credentials.isSelfMade },
    },
  });

/** Streams an object's description and then its bytes. */
async function* objectParts(objects: Objects, key: string): AsyncIterable<media.ReadObjectResponse> {
  const { object, bytes } = await objects.read(key);
  const { contentType, bytes: length, sha256 } = object;
  yield { part: { $case: "header", value: { contentType, bytes: length, sha256 } } };
  for await (const value of pieces(bytes)) yield { part: { $case: "chunk", value } };
}

const LIFETIMES: Readonly<Partial<Record<media.UrlLifetime, Lifetime>>> = {
  [media.UrlLifetime.URL_LIFETIME_VISITOR]: "visitor",
  [media.UrlLifetime.URL_LIFETIME_CALL]: "call",
};

const urlHandlers = (urls: Urls): Pick<media.MediaServiceServer, "signUrls" | "admitUrls" | "grantObjects"> => ({
  signUrls: unary(async ({ keys, ownerId, lifetime }) => {
    const { queries, refused } = await urls.sign(keys, ownerId, LIFETIMES[lifetime] ?? "answer");
    return { queries: Object.fromEntries(queries), refused };
  }),
  admitUrls: unary(async ({ urls: sentUrls, ownerId, byVisitor }) => ({ refused: await urls.admit(sentUrls, ownerId, byVisitor) })),
  grantObjects: unary(async ({ keys, fromOwnerId, ownerId }) => {
    await urls.grant(keys, fromOwnerId, ownerId);
    return {};
  }),
});

export interface Handlers {
  objects: Objects;
  library: Library;
  urls: Urls;
  verify: Verify;
  provenance(id: string, ownerId: string): Promise<Provenance>;
  removeExpired(cursor: string): Promise<Removal>;
  runFiles: RunFiles;
  /** Public base URL of the platform. */
  baseUrl: string;
}

export const mediaHandlers = ({
  objects,
  library,
  urls,
  provenance,
  verify,
  removeExpired,
  runFiles,
  baseUrl,
}: Handlers): media.MediaServiceServer => {
  const prefix = mediaPrefix(baseUrl);
  const toMessage = (object: MediaObject): media.StoredObject => {
    const { id, key, contentType, bytes, ownerId, createdAt, width, height, durationMs, making } = object;
    const keepsCount = isCounted(object);
    const heldUrl = object.look === undefined ? "" : `${prefix}${key}?look=${object.look}`;
    return media.StoredObject.fromPartial({
      ...{ id, key, url: prefix + key, contentType, bytes, ownerId, createdAt, kept: keepsCount, width, height, durationMs },
      ...{ origin: ORIGINS[object.origin], contentHash: object.contentHash ?? object.sha256, model: making?.model ?? "" },
      ...{ sha256: object.sha256, heldUrl, public: object.public === true, title: object.title ?? "" },
    });
  };
  const toRecord = (object: MediaObject): media.ProvenanceRecord => {
    const { making, sourceType, signed, unsigned } = object;
    return media.ProvenanceRecord.fromPartial({
      object: toMessage(object),
      making: making && { ...making, maker: MAKER_MESSAGES[making.maker] },
      digitalSourceType: sourceType && addressOf(sourceType),
      ...{ signed, unsignedReason: unsigned ?? "" },
    });
  };

  return {
    ingest: unary(async (request) =>
      media.IngestResponse.fromPartial({
        object: toMessage(await objects.ingest(generated(request), { url: request.sourceUrl, byUser: isByUser(request) })),
      }),
    ),
    upload: clientStream(
      async (requests) => {
        const messages = requests[Symbol.asyncIterator]();
        const first = await messages.next();
        const part = first.done ? undefined : first.value.part;
        if (part?.$case !== "header") throw invalidRequest([{ path: "part", message: "the first message must be the header" }]);
        return media.UploadResponse.fromPartial({ object: toMessage(await objects.upload(uploaded(part.value), chunks(messages))) });
      },
      ({ part }) => part?.$case === "end",
    ),
    verify: clientStream(
      async (requests) => toVerified(await verify(chunks(requests[Symbol.asyncIterator]()))),
      ({ part }) => part?.$case === "end",
    ),
    getObjects: unary(async ({ ids, ownerId, withHeld, withPublic }) => {
      const own = await objects.getAll(ids, ownerId, withHeld);
      const ownIds = new Set(own.map(({ id }) => id));
      const others = withPublic ? await urls.publicOnes(ids.filter((id) => !ownIds.has(id))) : [];
      return media.GetObjectsResponse.fromPartial({ objects: [...own, ...others].map(toMessage) });
    }),
    decideHeld: unary(async ({ ids, ownerId, letGo }) => {
      await objects.decideHeld(ids, ownerId, letGo);
      return {};
    }),
    getObjectsByKey: unary(async ({ keys }) =>
      media.GetObjectsByKeyResponse.fromPartial({ objects: (await objects.byKeys(keys)).map(toMessage) }),
    ),
    readObject: serverStream(({ key }) => objectParts(objects, key)),
    listObjects: unary(async ({ ownerId, limit, cursor, query = "", from }) => {
      const { objects: page, ...rest } = await library.list(ownerId, limit, cursor, { query, from });
      return media.ListObjectsResponse.fromPartial({ objects: page.map(toMessage), ...rest });
    }),
    getProvenance: unary(async ({ id, ownerId }) => {
      const { object, ancestors, truncated } = await provenance(id, ownerId);
      return media.GetProvenanceResponse.fromPartial({ record: toRecord(object), ancestors: ancestors.map(toRecord), truncated });
    }),
    deleteObject: unary(async ({ id, ownerId }) => {
      await library.remove(id, ownerId);
      return {};
    }),
    keepObject: unary(async ({ id, ownerId, quotaBytes }) =>
      media.KeepObjectResponse.fromPartial({ object: toMessage(await library.keep(id, ownerId, quotaBytes)) }),
    ),
    renewObjects: unary(async ({ keys, ownerId }) =>
      media.RenewObjectsResponse.fromPartial({ objects: (await objects.renew(keys, ownerId)).map(toMessage) }),
    ),
    giveObjects: unary(async ({ keys, fromOwnerId, ownerId }) => {
      await objects.give(keys, fromOwnerId, ownerId);
      return {};
    }),
    copyObjects: unary(async ({ quotaBytes, ...copying }) => {
      const copies = await library.copy({ ...copying, quota: quotaBytes });
      return media.CopyObjectsResponse.fromPartial({
        copies: Object.fromEntries([...copies].map(([id, object]) => [id, toMessage(object)])),
      });
    }),
    findRunFiles: unary(async ({ executionId, ownerId, names, cursor }) =>
      media.FindRunFilesResponse.fromPartial(await runFiles.find(executionId, ownerId, names, cursor)),
    ),
    forgetInputs: unary(async ({ executionId, ownerId }) => {
      await runFiles.forgetInputs(executionId, ownerId);
      return {};
    }),
    removeFiles: unary(async ({ ids, ownerId }) => {
      await runFiles.remove(ids, ownerId);
      return {};
    }),
    ...urlHandlers(urls),
    setPublic: unary(async ({ id, ownerId, public: isPublic }) =>
      media.SetPublicResponse.fromPartial({ object: toMessage(await library.setPublic(id, ownerId, isPublic)) }),
    ),
    removeExpired: unary(async ({ cursor }) => media.RemoveExpiredResponse.fromPartial(await removeExpired(cursor))),
  };
};
