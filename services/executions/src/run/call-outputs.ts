import { mediaFamily, toldOutputs, type Told } from "@nodeloom/kernel/graph";
import type { CallResult } from "./types";

/** What a call of a model gave, as its run tells it. */
export const toldResult = ({ files, text, json }: Pick<CallResult, "files" | "text" | "json">): Told => {
  const port = mediaFamily(files[0]?.contentType ?? "") ?? "files";
  return toldOutputs(text === null ? { [port]: files } : { text, ...(json ? { json: json.value } : {}) });
};
