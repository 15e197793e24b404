import { eventCounter } from "@nodeloom/platform";
import type { BlobStore, StagedBlob } from "../blobs/blobs";
import type { ProvenanceMode } from "../credentials/own-credential";
import { editStaged } from "./edit-staged";
import { markingOf } from "./marks";
import { MAX_PACKET_BYTES, type SourceType } from "./xmp";

/** Marks staged bytes. @returns the given bytes if there is nothing to add */
export type Mark = (staged: StagedBlob, contentType: string, type: SourceType) => Promise<StagedBlob>;

const marked = eventCounter("nodeloom.media.marks", "generated files, by what became of their mark");

export const createMark =
  (blobs: Pick<BlobStore, "stage">, provenance: ProvenanceMode): Mark =>
  async (staged, contentType, type) => {
    if (provenance === "off") return staged;
    return editStaged(
      blobs,
      staged,
      async (file) => {
        const { edits, outcome } = await markingOf(file, contentType, type);
        marked({ outcome, type: contentType });
        return edits;
      },
      MAX_PACKET_BYTES,
    );
  };
