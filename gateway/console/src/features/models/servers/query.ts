import type { ModelServer } from "@nodeloom/client";
import { queryOptions, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf, request } from "../../../api/client";

/** servers/: servers of models that the installation has itself: added, looked at and removed by administrators. */

const AGAIN_MS = 10_000;

export const serversQuery = queryOptions({
  queryKey: ["model-servers"],
  queryFn: async ({ signal }) => (await request("adminListModelServers", { signal })).body,
  refetchInterval: AGAIN_MS,
});

export const KINDS = {
  openai: { title: "OpenAI-compatible", hint: "Ollama, LM Studio, vLLM, llama.cpp, LocalAI", example: "http://192.168.1.20:11434/v1" },
  comfyui: { title: "ComfyUI", hint: "Its workflows become models", example: "http://192.168.1.20:8188" },
} as const;

export const MAKES = { chat: "chat", image: "pictures", speech: "speech", transcribe: "transcripts", none: "not offered" } as const;

export const countOf = ({ kind, models, workflows }: ModelServer): string => {
  const count = kind === "comfyui" ? workflows.length : models.filter(({ makes }) => makes !== "none").length;
  return `${count} ${count === 1 ? "model" : "models"}`;
};

/** One action at a time: what it is, and why it failed. Lists are read again after it. */
export const useWork = <What extends string>() => {
  const client = useQueryClient();
  const [busy, setBusy] = useState<What>();
  const [failure, setFailure] = useState<string>();
  const act = async (what: What, work: () => Promise<void>): Promise<void> => {
    setBusy(what);
    setFailure(undefined);
    try {
      await work();
    } catch (error) {
      setFailure(messageOf(error));
    } finally {
      setBusy(undefined);
      for (const key of ["model-servers", "models"]) void client.invalidateQueries({ queryKey: [key] });
    }
  };
  return { busy, failure, act };
};
