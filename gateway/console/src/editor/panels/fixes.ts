import type { GraphIssue } from "@nodeloom/kernel/graph";
import { kindOf } from "../../canvas/kinds";
import { TEXT_TYPE } from "../../canvas/kinds/roles";
import { addNode, connect, freeId, removeItems, setData } from "../../document/edit";
import { edgesOf, nodeById } from "../../document/graph";
import { placeBeside } from "../commands/actions";
import { defaultModel } from "../commands/new-nodes";
import type { Editor } from "../context";
import { COMMON } from "../../messages/common";
import { FIXES } from "../../messages/editor/panels";

export interface Fix {
  label: string;
  run: () => void;
}

const RETIREMENTS: ReadonlySet<string> = new Set(["MODEL_RETIRES", "MODEL_RETIRED", "MODEL_REPLACED"]);

/** Compares a retiring model with its successor. Empty for other findings, and without a successor that is ready to run. */
export const successorFixes = (editor: Editor, nodeId: string | null, { code, params }: Pick<GraphIssue, "code" | "params">): Fix[] => {
  const { document, models, ui } = editor;
  const name = "successor" in params ? params.successor : undefined;
  const successor = models.find(({ internalName, enabled }) => internalName === name && enabled);
  if (!RETIREMENTS.has(code) || !successor || nodeId === null) return [];
  const run = (): void => {
    document.select([nodeId]);
    ui.setState({ overlay: "swap", candidate: successor.internalName });
  };
  return [{ label: FIXES.compareWith(successor.displayName), run }];
};

/** Quick fixes for a problem. */
export const fixesFor = (editor: Editor, issue: GraphIssue): Fix[] => {
  const { nodeId, code, params, path } = issue;
  const { document, terms } = editor;
  const { graph } = document.store.getState();
  const fixes = successorFixes(editor, nodeId, issue);
  const edgeId = "edge" in params ? params.edge : undefined;
  if (edgeId !== undefined && edgesOf(graph).some(({ id }) => id === edgeId))
    fixes.push({ label: FIXES.removeLink, run: () => document.change(FIXES.removeLink, (now) => removeItems(now, [], [edgeId])) });
  const node = nodeId === null ? undefined : nodeById(graph, nodeId);
  if (!node) return fixes;
  const { modality } = kindOf(node.type);
  const model = typeof node.data.model === "string" ? node.data.model : "";
  const suggested = defaultModel(editor, modality);
  if (modality !== undefined && !terms.has(model) && suggested !== undefined)
    fixes.push({
      label: FIXES.use(suggested),
      run: () => document.change(COMMON.chooseModel, (now) => setData(now, node.id, ["model"], suggested)),
    });
  if (code === "REQUIRED" && path === "prompt")
    fixes.push({
      label: FIXES.edit,
      run: () => {
        document.select([node.id]);
        editor.ui.setState({ writing: { nodeId: node.id, what: "text" }, reveal: node.id });
      },
    });
  const missing =
    path === "prompt" && terms.has(model) && !edgesOf(graph).some((edge) => edge.target === node.id && edge.targetHandle === "prompt");
  if (missing)
    fixes.push({
      label: FIXES.addText,
      run: () => {
        const id = freeId(graph, "text");
        const at = placeBeside(editor, node.id, "input");
        const ends = { source: id, sourceHandle: "text", target: node.id, targetHandle: "prompt" };
        document.change(FIXES.addText, (now) => connect(addNode(now, { id, type: TEXT_TYPE, at, data: { text: "" } }), ends), {
          select: [id],
        });
        // Shows the problem at the setting.
        editor.ui.setState({ panel: "node", reveal: id });
      },
    });
  if (code === "CYCLE") {
    const last = edgesOf(graph).findLast((edge) => edge.target === node.id);
    if (last)
      fixes.push({
        label: FIXES.breakTheCycle,
        run: () => document.change(FIXES.removeLink, (now) => removeItems(now, [], [last.id])),
      });
  }
  return fixes;
};
