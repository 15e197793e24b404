import { open } from "node:fs/promises";
import { eventCounter } from "@nodeloom/platform";
import type { BlobStore, StagedBlob } from "../blobs/blobs";
import { edited, type Bytes } from "./edits";
import { markingOf } from "./marks";
import { MAX_PACKET_BYTES, type SourceType } from "./xmp";

/** Adds a mark to bytes that arrived. @returns the marked bytes, or the same where there is nothing to add */
export type Mark = (staged: StagedBlob, contentType: string, type: SourceType) => Promise<StagedBlob>;

const marked = eventCounter("nodeloom.media.marks", "generated files, by what became of their mark");

/** With `off`, nothing is marked. */
export const createMark =
  (blobs: Pick<BlobStore, "stage">, provenance: "off" | "metadata"): Mark =>
  async (staged, contentType, type) => {
    if (provenance === "off") return staged;
    const handle = await open(staged.path, "r");
    try {
      const read: Bytes["read"] = async (at, length) => {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
        return buffer.subarray(0, bytesRead);
      };
      const file = { size: staged.bytes, read };
      const { edits, outcome } = await markingOf(file, contentType, type);
      marked({ outcome, type: contentType });
      return edits.length === 0 ? staged : await blobs.stage(edited(file, edits), staged.bytes + MAX_PACKET_BYTES);
    } finally {
      await handle.close();
    }
  };
