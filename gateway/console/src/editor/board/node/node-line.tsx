import { callsModel } from "@nodeloom/kernel/graph";
import { NODE } from "../../../canvas/geometry";
import { kindOf } from "../../../canvas/kinds";
import type { DocNode } from "../../../document/graph";
import { useEditor } from "../../context";
import { ModelState } from "../../panels/model-state";

/** A line of settings, or the model's name. */
export const NodeLine = ({ node, title, line, top }: { node: DocNode; title: string; line: string; top: number }) => {
  const { models } = useEditor();
  const model = callsModel(node.type) ? models.find(({ internalName }) => internalName === line) : undefined;
  return (
    <p dir="auto" className="node-line truncate" style={{ top, height: NODE.line }} title={line}>
      {model && title.startsWith(model.displayName) ? kindOf(node.type).title : (model?.displayName ?? line)}
      {model && <ModelState model={model} />}
    </p>
  );
};
