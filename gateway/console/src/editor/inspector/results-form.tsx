import { Link2 } from "lucide-react";
import type { DocNode } from "../../document/graph";
import { Notice } from "../../ui/notice";
import { useWired } from "./use-setting";
import { RESULTS_FORM } from "../../messages/editor/inspector";

/** Links of a result node. */
export const ResultsForm = ({ node }: { node: DocNode }) => {
  const wired = [...useWired(node.id)];
  return (
    <div className="flex flex-col gap-2 text-sm">
      <p className="text-xs text-faint">{RESULTS_FORM.intro}</p>
      {wired.length === 0 && <Notice kind="warn">{RESULTS_FORM.empty}</Notice>}
      <ul className="flex flex-col gap-1.5">
        {wired.map(([name, from]) => (
          <li key={name} className="flex items-center gap-2">
            <code className="font-mono text-xs">{name}</code>
            <Link2 className="size-3.5 shrink-0 text-faint" aria-hidden />
            <span className="min-w-0 truncate text-muted">{from}</span>
          </li>
        ))}
      </ul>
    </div>
  );
};
