import { GRAPH_BOUNDS } from "../bounds";
import { finding } from "../../issues";
import { NOTHING_PLANNED } from "../plan/plan-types";
import type { GraphNode } from "../types";
import { shownName } from "../../text/shown-name";
import { isMediaId } from "../values/media";
import { noPorts, type NodeKind } from "./kind";

/** Ids of the node's files: a list if it takes several. */
const idsOf = ({ data: { multiple, mediaId, mediaIds } }: GraphNode): unknown[] => {
  if (multiple !== true) return typeof mediaId === "string" && mediaId !== "" ? [mediaId] : [];
  return Array.isArray(mediaIds) ? (mediaIds as unknown[]) : [];
};

export const mediaUpload: NodeKind = {
  type: "media-upload",
  summary: "Returns an uploaded file, or a list of them.",
  settings: {
    mediaId: { type: "string", description: "The id of an uploaded file." },
    multiple: { type: "boolean", description: "True to take the files of mediaIds. The next node runs once for each." },
    mediaIds: { type: "array", items: { type: "string" }, description: "The ids of uploaded files, in order. Only with multiple." },
  },
  calls: null,
  runs: true,
  inputs: noPorts,
  outputs: () => new Map([["media", "media"]]),
  check: ({ data: { multiple, mediaIds } }) => {
    if (multiple !== undefined && multiple !== null && typeof multiple !== "boolean") return ["multiple: must be true or false"];
    if (mediaIds === undefined || mediaIds === null) return [];
    if (!Array.isArray(mediaIds) || mediaIds.length > GRAPH_BOUNDS.listItems)
      return [`mediaIds: must be a list of at most ${GRAPH_BOUNDS.listItems} ids`];
    const at = mediaIds.findIndex((id) => !isMediaId(id));
    return at === -1 ? [] : [`mediaIds.${at}: must be the id of an uploaded file`];
  },
  plan: ({ request, unknownMedia, issues, budget }, node) => {
    const ids = idsOf(node).filter((id) => typeof id === "string");
    const files = ids.flatMap((id) => request.media.get(id) ?? []);
    if (files.length > 0 && files.length === ids.length) {
      const value = node.data.multiple === true ? files : files[0];
      return { isEvaluated: true, outputs: new Map([["media", { value: budget.value(value) }]]) };
    }
    const unknown = ids.filter((id) => !request.media.has(id));
    for (const id of unknown) unknownMedia.add(id);
    const problem = unknown[0] === undefined ? finding("FILE_MISSING") : finding("FILE_UNKNOWN", { file: shownName(unknown[0]) });
    issues.push({ nodeId: node.id, ...problem });
    return NOTHING_PLANNED;
  },
  savedCount: (node) => (node.data.multiple === true ? idsOf(node).length : 1),
  mediaIds: (node) => idsOf(node).filter((id) => typeof id === "string"),
};
