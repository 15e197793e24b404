/** Clients by which what calls make is held: stored, and there for no reader until the hook has let it go. */
import type { media as mediaProto } from "@nodeloom/proto";
import type { Media, Transform } from "../clients";

async function* withHeld(parts: AsyncIterable<mediaProto.UploadRequest> | Iterable<mediaProto.UploadRequest>) {
  for await (const one of parts) {
    if (one.part?.$case !== "header") yield one;
    else yield { part: { $case: "header" as const, value: { ...one.part.value, held: true } } };
  }
}

/** Media, where files are stored so, and found. */
export const holdingMedia = (media: Pick<Media, "ingest" | "upload" | "getObjects">): Pick<Media, "ingest" | "upload" | "getObjects"> => ({
  ingest: (request, options) => media.ingest({ ...request, held: true }, options),
  upload: (parts, options) => media.upload(withHeld(parts), options),
  getObjects: (request, options) => media.getObjects({ ...request, withHeld: true }, options),
});

export const holdingTransform = (transform: Pick<Transform, "run">): Pick<Transform, "run"> => ({
  run: (request, options) => transform.run({ ...request, held: true }, options),
});
