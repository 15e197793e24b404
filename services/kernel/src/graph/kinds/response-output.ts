import { resultFamily } from "../values/media";
import { noPorts, nothingWrong, type NodeKind } from "./kind";

const RESULT_BY_OUTPUT: ReadonlyMap<string, string> = new Map([
  ["image", "images"],
  ["video", "videos"],
  ["audio", "audios"],
]);

export const responseOutput: NodeKind = {
  type: "response-output",
  summary: "Declares the run's result: each port that something flows into is a member of it.",
  settings: {},
  calls: null,
  runs: true,
  isResult: true,
  inputs: noPorts,
  anyInput: (name) => ({ type: resultFamily(name) ?? "any", list: true }),
  outputs: noPorts,
  defaultInput: (outputName) => RESULT_BY_OUTPUT.get(outputName) ?? outputName,
  check: nothingWrong,
};
