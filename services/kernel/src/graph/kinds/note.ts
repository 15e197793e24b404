import { noPorts, nothingWrong, type NodeKind } from "./kind";

export const note: NodeKind = {
  type: "note",
  summary: "A note on the canvas. It doesn't run.",
  settings: { text: { description: "The text of the note." } },
  calls: null,
  runs: false,
  inputs: noPorts,
  outputs: noPorts,
  check: nothingWrong,
};
