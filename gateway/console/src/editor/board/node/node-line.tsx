import { callsModel } from "@nodeloom/kernel/graph";
import { NODE } from "../../../canvas/geometry";
import type { DocNode } from "../../../document/graph";
import { useEditor } from "../../context";
import { ModelState } from "../../panels/model-state";

/** A line of settings, or the model's name. */
export const NodeLine = ({ node, line, top }: { node: DocNode; line: string; top: number }) => {
  const { models } = useEditor();
  const model = callsModel(node.type) ? models.find(({ internalName }) => internalName === line) : undefined;
  return (
    <p dir="auto" className="node-line truncate" style={{ top, height: NODE.line }} title={line}>
      {model?.displayName ?? line}
      {model && <ModelState model={model} />}
    </p>
  );
};
