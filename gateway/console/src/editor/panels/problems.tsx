import { CircleCheck, CircleX, TriangleAlert, Wrench } from "lucide-react";
import { nodeById } from "../../document/graph";
import { issueWords } from "../../messages/issues";
import { Button } from "../../ui/button";
import { useDocument, useEditor, useScene } from "../context";
import { fixesFor, successorFixes } from "./fixes";
import { titleIn } from "../titles";
import { COMMON } from "../../messages/common";
import { PROBLEMS } from "../../messages/editor/panels";

/** Problems that prevent a run, and warnings; a click shows the node. */
export const ProblemsPanel = ({ onShow }: { onShow: (nodeId: string) => void }) => {
  const editor = useEditor();
  const { issues, warnings } = useScene((state) => state.judgement);
  const graph = useDocument((state) => state.graph);
  const nameOf = (id: string | null): string => {
    const node = id === null ? undefined : nodeById(graph, id);
    return node ? titleIn(editor, node) : COMMON.workflow;
  };
  const warned = Object.entries(warnings).flatMap(([nodeId, findings]) => findings.map((one) => ({ nodeId, ...one })));
  if (issues.length + warned.length === 0)
    return (
      <div className="flex flex-col items-center px-6 py-14 text-center text-sm text-muted">
        <CircleCheck className="mb-2 size-6 text-ok" aria-hidden />
        {PROBLEMS.noProblems}
      </div>
    );
  return (
    <ul className="flex flex-col gap-2 p-3">
      {[...issues.map((issue) => ({ ...issue, bad: true })), ...warned.map((warning) => ({ ...warning, bad: false }))].map(
        (issue, index) => (
          <li key={index} className="rounded-xl border bg-surface p-3 text-sm">
            <button type="button" className="flex w-full gap-2 text-left" onClick={() => issue.nodeId !== null && onShow(issue.nodeId)}>
              {issue.bad ? (
                <CircleX className="mt-0.5 size-4 shrink-0 text-bad" aria-label={PROBLEMS.problem} role="img" />
              ) : (
                <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-label={PROBLEMS.warning} role="img" />
              )}
              <span className="min-w-0">
                <span className="block font-medium wrap-anywhere">{nameOf(issue.nodeId)}</span>
                <span className="block text-muted wrap-anywhere">{issueWords(issue)}</span>
              </span>
            </button>
            {editor.canEdit && (
              <div className="mt-2 flex flex-wrap gap-2 pl-6 empty:hidden">
                {(issue.bad ? fixesFor(editor, issue) : successorFixes(editor, issue.nodeId, issue)).map((fix) => (
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
