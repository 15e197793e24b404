/** The types of nodes. Written by `npm run generate` from the table in kinds/index.ts, whose files import this one. */
export const NODE_TYPES = [
  "request-input",
  "text-box",
  "list",
  "json",
  "switch",
  "approval",
  "llm-assistant",
  "generate-image",
  "generate-video",
  "generate-audio",
  "http-request",
  "media",
  "media-upload",
  "workflow",
  "note",
  "response-output",
] as const;
export type NodeType = (typeof NODE_TYPES)[number];
