import { eventCounter } from "@nodeloom/platform";
import type { StagedBlob } from "../blobs/blobs";
import type { ProvenanceMode } from "./own-credential";
import { withStaged } from "../marks/edit-staged";
import type { Edit } from "../marks/edits";
import { markingOf } from "../marks/marks";
import type { SourceType } from "../marks/xmp";

/** Returns the edits that mark staged bytes; none if there is nothing to add. */
export type FindMark = (staged: StagedBlob, contentType: string, type: SourceType) => Promise<readonly Edit[]>;

const marked = eventCounter("nodeloom.media.marks", "generated files, by what became of their mark");

export const createFindMark =
  (provenance: ProvenanceMode): FindMark =>
  async (staged, contentType, type) => {
    if (provenance === "off") return [];
    const { edits, outcome } = await withStaged(staged, (file) => markingOf(file, contentType, type));
    marked({ outcome, type: contentType });
    return edits;
  };
