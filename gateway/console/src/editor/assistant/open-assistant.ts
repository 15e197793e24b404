import type { OpenDocument } from "../../document/document";
import type { useFollow } from "../running/use-follow";
import type { Stage } from "../commands/command";
import type { Editor } from "../context";
import { createAssistant, type Assistant } from "./assistant";
import { touchedNodes } from "./edit";
import { mcpTools } from "./mcp";
import { askModel, endOfRun } from "./model";

/** One assistant per open document: it goes on while another panel is shown. */
const assistants = new WeakMap<OpenDocument, Assistant>();

export const assistantOf = ({ slug, document, ui }: Editor, stage: Stage, follow: ReturnType<typeof useFollow>): Assistant => {
  const openAssistant = assistants.get(document);
  if (openAssistant) return openAssistant;
  const assistant = createAssistant({
    ...{ slug, document, mcp: mcpTools, ask: askModel },
    endOf: async (executionId, nodeId, signal) => {
      const { status, creditsCost, nodes, error } = await endOfRun(executionId, signal);
      return { status, cost: creditsCost, node: nodes.find(({ id }) => id === nodeId) ?? null, error };
    },
    onChange: (change) => stage.fit(touchedNodes(change)),
    onRun: (executionId) => follow(executionId),
  });
  // Nothing is started for a page that was left.
  assistant.store.subscribe(({ isWorking }) => ui.setState({ stopAssistant: isWorking ? assistant.cancel : undefined }));
  assistants.set(document, assistant);
  return assistant;
};
