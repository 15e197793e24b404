import type { GraphIssue } from "@nodeloom/kernel/graph";
import { CircleCheck, CircleX, TriangleAlert, Wrench } from "lucide-react";
import { connect, addNode, freeId, removeItems, setData } from "../../../document/edit";
import { edgesOf, nodeById } from "../../../document/graph";
import { issueWords } from "../../../canvas/issue-words";
import { kindOf } from "../../../canvas/kinds";
import { TEXT_TYPE } from "../../../canvas/looks";
import { Button } from "../../../ui/button";
import { placeBeside } from "../commands/actions";
import { defaultModel } from "../commands/new-nodes";
import { useDocument, useEditor, useScene, type Editor } from "../context";
import { nodeTitle } from "../titles";

export interface Fix {
  label: string;
  run: () => void;
}

const EDGE = /\(edge (.+?)\)/;

/** What can be done about a problem at once. */
export const fixesFor = (editor: Editor, { nodeId, message }: GraphIssue): Fix[] => {
  const { document, terms } = editor;
  const { graph } = document.store.getState();
  const fixes: Fix[] = [];
  const edgeId = EDGE.exec(message)?.[1];
  if (edgeId !== undefined && edgesOf(graph).some(({ id }) => id === edgeId))
    fixes.push({ label: "Remove the link", run: () => document.change("Remove link", (now) => removeItems(now, [], [edgeId])) });
  const node = nodeId === null ? undefined : nodeById(graph, nodeId);
  if (!node) return fixes;
  const { modality } = kindOf(node.type);
  const model = typeof node.data.model === "string" ? node.data.model : "";
  const suggested = defaultModel(editor, modality);
  if (modality !== undefined && !terms.has(model) && suggested !== undefined)
    fixes.push({
      label: `Use ${suggested}`,
      run: () => document.change("Choose a model", (now) => setData(now, node.id, ["model"], suggested)),
    });
  const canWrite = /^prompt: is required$/.test(message);
  if (canWrite)
    fixes.push({
      label: "Write it",
      run: () => {
        document.select([node.id]);
        editor.ui.setState({ writing: { nodeId: node.id, what: "text" }, reveal: node.id });
      },
    });
  const missing =
    /\bprompt\b/.test(message) &&
    terms.has(model) &&
    !edgesOf(graph).some((edge) => edge.target === node.id && edge.targetHandle === "prompt");
  if (missing)
    fixes.push({
      label: "Add a text",
      run: () => {
        const id = freeId(graph, "text");
        const at = placeBeside(editor, node.id, "input");
        const ends = { source: id, sourceHandle: "text", target: node.id, targetHandle: "prompt" };
        document.change("Add a text", (now) => connect(addNode(now, { id, type: TEXT_TYPE, at, data: { text: "" } }), ends), {
          select: [id],
        });
        // Where it is written.
        editor.ui.setState({ panel: "node", reveal: id });
      },
    });
  if (/cycle/.test(message)) {
    const last = edgesOf(graph).findLast((edge) => edge.target === node.id);
    if (last)
      fixes.push({
        label: "Remove a link of the circle",
        run: () => document.change("Remove link", (now) => removeItems(now, [], [last.id])),
      });
  }
  return fixes;
};

/** Problems that stop a run, and warnings; a click leads to the node. */
export const ProblemsPanel = ({ onShow }: { onShow: (nodeId: string) => void }) => {
  const editor = useEditor();
  const { issues, warnings } = useScene((state) => state.judgement);
  const graph = useDocument((state) => state.graph);
  const nameOf = (id: string | null): string => {
    const node = id === null ? undefined : nodeById(graph, id);
    return node ? nodeTitle(node) : "Workflow";
  };
  const warned = Object.entries(warnings).flatMap(([nodeId, texts]) => texts.map((message) => ({ nodeId, message })));
  if (issues.length + warned.length === 0)
    return (
      <div className="flex flex-col items-center px-6 py-14 text-center text-sm text-muted">
        <CircleCheck className="mb-2 size-6 text-ok" aria-hidden />
        No problems: this workflow can run.
      </div>
    );
  return (
    <ul className="flex flex-col gap-2 p-3">
      {[...issues.map((issue) => ({ ...issue, bad: true })), ...warned.map((warning) => ({ ...warning, bad: false }))].map(
        (issue, index) => (
          <li key={index} className="rounded-xl border bg-surface p-3 text-sm">
            <button type="button" className="flex w-full gap-2 text-left" onClick={() => issue.nodeId !== null && onShow(issue.nodeId)}>
              {issue.bad ? (
                <CircleX className="mt-0.5 size-4 shrink-0 text-bad" aria-label="Problem" role="img" />
              ) : (
                <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-label="Warning" role="img" />
              )}
              <span className="min-w-0">
                <span className="block font-medium wrap-anywhere">{nameOf(issue.nodeId)}</span>
                <span className="block text-muted wrap-anywhere">{issueWords(issue.message)}</span>
              </span>
            </button>
            {editor.canEdit && issue.bad && (
              <div className="mt-2 flex flex-wrap gap-2 pl-6">
                {fixesFor(editor, issue).map((fix) => (
                  <Button key={fix.label} size="sm" icon={Wrench} onClick={fix.run}>
                    {fix.label}
                  </Button>
                ))}
              </div>
            )}
          </li>
        ),
      )}
    </ul>
  );
};
