import { NOTHING_PLANNED } from "../plan/plan-types";
import { finding } from "../issues";
import { shownName } from "../types";
import { noPorts, nothingWrong, type NodeKind } from "./kind";

export const mediaUpload: NodeKind = {
  type: "media-upload",
  summary: "Returns an uploaded file.",
  settings: { mediaId: { type: "string", description: "The id of an uploaded file." } },
  calls: null,
  runs: true,
  inputs: noPorts,
  outputs: () => new Map([["media", "media"]]),
  check: nothingWrong,
  plan: ({ request, unknownMedia, issues, budget }, { id: nodeId, data: { mediaId } }) => {
    const isNamed = typeof mediaId === "string" && mediaId !== "";
    const file = isNamed ? request.media.get(mediaId) : undefined;
    if (file) return { isEvaluated: true, outputs: new Map([["media", { value: budget.value(file) }]]) };
    if (isNamed) unknownMedia.add(mediaId);
    issues.push({ nodeId, ...(isNamed ? finding("FILE_UNKNOWN", { file: shownName(mediaId) }) : finding("FILE_MISSING")) });
    return NOTHING_PLANNED;
  },
  savedCount: () => 1,
  mediaIds: ({ data: { mediaId } }) => (typeof mediaId === "string" ? [mediaId] : []),
};
