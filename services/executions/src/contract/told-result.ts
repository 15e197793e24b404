import { toldOutputs, type Told } from "@nodeloom/kernel/graph";
import type { CallResult } from "./run-types";

const PORT_BY_KIND: Readonly<Record<string, string>> = { image: "image", video: "video", audio: "audio" };

/** What a call of a model gave, as its run tells it. */
export const toldResult = ({ files, text, json }: Pick<CallResult, "files" | "text" | "json">): Told => {
  const port = PORT_BY_KIND[files[0]?.contentType.split("/")[0] ?? ""] ?? "files";
  return toldOutputs(text === null ? { [port]: files } : { text, ...(json ? { json: json.value } : {}) });
};
