import { CircleX, TriangleAlert } from "lucide-react";
import { issueWords } from "../../messages/issues";
import type { DocNode } from "../../document/graph";
import { Button } from "../../ui/button";
import { useEditor, useScene, useUi } from "../context";
import { fixesFor, successorFixes, type Fix } from "../panels/fixes";

const Fixes = ({ fixes }: { fixes: readonly Fix[] }) => (
  <div className="mt-2 flex flex-wrap gap-2 empty:hidden">
    {fixes.map((fix) => (
      <Button key={fix.label} size="sm" onClick={fix.run}>
        {fix.label}
      </Button>
    ))}
  </div>
);

/** Problems and warnings of an edited node, with fixes. */
export const NodeProblems = ({ node }: { node: DocNode }) => {
  const editor = useEditor();
  const { issues, warnings } = useScene((state) => state.judgement);
  const isFresh = useUi(({ fresh }) => fresh.has(node.id));
  if (isFresh) return null;
  const own = issues.filter(({ nodeId }) => nodeId === node.id);
  return (
    <>
      {own.map((issue, index) => (
        <div key={index} className="rounded-xl bg-bad-soft p-3 text-sm text-bad">
          <p className="flex gap-2 wrap-anywhere">
            <CircleX className="mt-0.5 size-4 shrink-0" aria-hidden /> {issueWords(issue)}
          </p>
          {editor.canEdit && <Fixes fixes={fixesFor(editor, issue)} />}
        </div>
      ))}
      {(warnings[node.id] ?? []).map((warning) => (
        <div key={warning.message} className="rounded-xl bg-warn-soft p-3 text-sm text-warn">
          <p className="flex gap-2 wrap-anywhere">
            <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden /> {issueWords(warning)}
          </p>
          {editor.canEdit && <Fixes fixes={successorFixes(editor, node.id, warning)} />}
        </div>
      ))}
    </>
  );
};
