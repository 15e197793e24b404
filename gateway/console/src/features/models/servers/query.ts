import type { ModelServer } from "@nodeloom/client";
import { queryOptions } from "@tanstack/react-query";
import { request } from "../../../api/client";
import { QUERY } from "../../../messages/models";

/** Model servers of the installation, managed by administrators. */

const AGAIN_MS = 10_000;

export const serversQuery = queryOptions({
  queryKey: ["model-servers"],
  queryFn: async ({ signal }) => (await request("adminListModelServers", { signal })).body,
  refetchInterval: AGAIN_MS,
});

export const KINDS = {
  openai: { title: QUERY.openAICompatible, hint: QUERY.openAICompatibleHint, example: "http://192.168.1.20:11434/v1" },
  comfyui: { title: QUERY.comfyUI, hint: QUERY.comfyUIHint, example: "http://192.168.1.20:8188" },
} as const;

export const MAKES = { chat: "chat", image: "pictures", speech: "speech", transcribe: "transcripts", none: QUERY.notOffered } as const;

export const countOf = ({ kind, models, workflows }: ModelServer): string => {
  const count = kind === "comfyui" ? workflows.length : models.filter(({ makes }) => makes !== "none").length;
  return `${count} ${count === 1 ? "model" : "models"}`;
};

/** Keys of the queries that each change of a server refreshes. */
export const SERVER_READS = ["model-servers", "models"];
