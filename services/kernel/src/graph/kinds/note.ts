import { noPorts, nothingWrong, type NodeKind } from "./kind";

export const note: NodeKind = {
  type: "note",
  summary: "A remark on the canvas. It is never run.",
  settings: { text: { description: "Anything." } },
  calls: null,
  runs: false,
  inputs: noPorts,
  outputs: noPorts,
  check: nothingWrong,
};
