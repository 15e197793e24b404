import { callsTransform } from "@nodeloom/kernel/graph";
import type { DocNode } from "../../document/graph";
import { TOUCH } from "../../messages/editor/touch";

/** Operations whose settings can be set on the picture, or on the timeline of a video or sound. */
const OPERATIONS = [
  "image-crop",
  "image-resize",
  "image-composite",
  "image-text",
  "mask-draw",
  "video-trim",
  "video-captions",
  "audio-trim",
] as const;
export type TouchOperation = (typeof OPERATIONS)[number];

/** True if the operation is edited on a timeline. */
export const isTimed = (operation: TouchOperation): boolean => !operation.startsWith("image-") && !operation.startsWith("mask-");

/** Operation of a node that is edited on its picture or timeline; undefined for others. */
export const touchedBy = ({ type, data }: DocNode): TouchOperation | undefined =>
  callsTransform(type) ? OPERATIONS.find((name) => name === data.operation) : undefined;

export const editTitle = (operation: TouchOperation): string => (isTimed(operation) ? TOUCH.editTimed : TOUCH.edit);
