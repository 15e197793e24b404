import { resultFamily, resultMember } from "../values/media";
import { noPorts, nothingWrong, type NodeKind } from "./kind";

export const responseOutput: NodeKind = {
  type: "response-output",
  summary: "Declares the result of the run. Each connected port is a member of it.",
  settings: {},
  calls: null,
  runs: true,
  isResult: true,
  inputs: noPorts,
  anyInput: (name) => ({ type: resultFamily(name) ?? "any", list: true }),
  outputs: noPorts,
  defaultInput: resultMember,
  check: nothingWrong,
};
