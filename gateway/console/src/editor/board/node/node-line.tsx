import { callsModel } from "@nodeloom/kernel/graph";
import { ChevronDown } from "lucide-react";
import { NODE } from "../../../canvas/geometry";
import { kindOf } from "../../../canvas/kinds";
import type { DocNode } from "../../../document/graph";
import { MODELS_DIALOG } from "../../../messages/editor/models";
import { useEditor, useUi } from "../../context";
import { ModelState } from "../../panels/model-state";

/** A line of settings. On a node with a model it shows the model's name and opens the choice of models. */
export const NodeLine = ({ node, title, line, top }: { node: DocNode; title: string; line: string; top: number }) => {
  const { models, document, ui, canEdit } = useEditor();
  const locked = useUi((state) => state.locked) || !canEdit;
  const isModel = callsModel(node.type);
  const model = isModel ? models.find(({ internalName }) => internalName === line) : undefined;
  const words = model && title.startsWith(model.displayName) ? kindOf(node.type).title : (model?.displayName ?? line);
  const choose = (): void => {
    document.select([node.id]);
    ui.setState({ overlay: "models" });
  };
  return (
    <p
      dir="auto"
      className="node-line truncate"
      style={{ top, height: NODE.line }}
      title={isModel && !locked ? MODELS_DIALOG.chooseAModel : line}
    >
      {isModel && !locked ? (
        <button type="button" tabIndex={-1} className="node-model" onClick={choose}>
          {words}
          <ChevronDown className="ml-1 inline size-3.5" aria-hidden />
        </button>
      ) : (
        words
      )}
      {model && <ModelState model={model} />}
    </p>
  );
};
