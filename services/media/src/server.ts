import { invalidRequest } from "@nodeloom/kernel";
import { clientStream, unary } from "@nodeloom/platform";
import { media } from "@nodeloom/proto";
import type { MediaObject, Objects, Placement } from "./objects";
import { FAMILIES } from "./sniff";

const checkAccept = (accept: readonly string[]): void => {
  const unknown = accept.filter((family) => !(FAMILIES as readonly string[]).includes(family));
  if (unknown.length > 0) throw invalidRequest([{ path: "accept", message: `unknown family: ${unknown.join(", ")}` }]);
};

const placement = ({ id, ownerId, accept }: Placement): Placement => {
  checkAccept(accept);
  return { id, ownerId, accept };
};

const isByUser = ({ sourceOrigin }: media.IngestRequest): boolean => sourceOrigin === media.SourceOrigin.SOURCE_ORIGIN_USER;

/** The bytes after the header. */
async function* chunks(rest: AsyncIterator<media.UploadRequest>): AsyncIterable<Uint8Array> {
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    const part = next.value.part;
    if (part?.$case !== "chunk") throw invalidRequest([{ path: "part", message: "only chunks may follow the header" }]);
    yield part.value;
  }
}

/** gRPC handlers of the media service. `baseUrl` is where clients reach the platform. */
export const mediaHandlers = (objects: Objects, baseUrl: string): media.MediaServiceServer => {
  const prefix = `${baseUrl.replace(/\/+$/, "")}/media/`;
  const toMessage = ({ id, key, contentType, bytes, ownerId, createdAt }: MediaObject): media.StoredObject =>
    media.StoredObject.fromPartial({ id, key, url: prefix + key, contentType, bytes, ownerId, createdAt });

  return {
    ingest: unary(async (request) =>
      media.IngestResponse.fromPartial({
        object: toMessage(await objects.ingest(placement(request), { url: request.sourceUrl, byUser: isByUser(request) })),
      }),
    ),
    upload: clientStream(
      async (requests) => {
        const messages = requests[Symbol.asyncIterator]();
        const first = await messages.next();
        const part = first.done ? undefined : first.value.part;
        if (part?.$case !== "header") throw invalidRequest([{ path: "part", message: "the first message must be the header" }]);
        return media.UploadResponse.fromPartial({ object: toMessage(await objects.upload(placement(part.value), chunks(messages))) });
      },
      ({ part }) => part?.$case === "end",
    ),
    getObjects: unary(async ({ ids, ownerId }) =>
      media.GetObjectsResponse.fromPartial({ objects: (await objects.getAll(ids, ownerId)).map(toMessage) }),
    ),
    getObject: unary(async ({ id, ownerId }) => media.GetObjectResponse.fromPartial({ object: toMessage(await objects.get(id, ownerId)) })),
  };
};
