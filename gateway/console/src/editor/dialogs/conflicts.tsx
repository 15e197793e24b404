import { GitMerge } from "lucide-react";
import { useEffect, useState } from "react";
import { nodeById } from "../../document/graph";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/overlays/dialog";
import { say } from "../../ui/overlays/toast";
import { useDocument, useEditor } from "../context";
import { nodeTitle } from "../titles";
import { CONFLICTS } from "../../messages/editor/dialogs";

const MOST = 400;
const shownJson = (json: string | undefined): string => {
  if (json === undefined) return "(removed)";
  const value: unknown = JSON.parse(json);
  return (typeof value === "string" ? value : JSON.stringify(value, undefined, 2)).slice(0, MOST);
};

/** Reports merged changes, and asks about conflicts. */
export const Conflicts = () => {
  const { document } = useEditor();
  const conflicts = useDocument((state) => state.conflicts);
  const merges = useDocument((state) => state.merges);
  const recovered = useDocument((state) => state.recovered);
  const graph = useDocument((state) => state.graph);
  const [theirs, setTheirs] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => {
    if (merges > 0) say(CONFLICTS.merged);
  }, [merges]);
  useEffect(() => {
    if (recovered) say(CONFLICTS.restored);
  }, [recovered]);
  if (conflicts.length === 0) return null;
  const finish = (): void => {
    document.resolve(conflicts.filter((_, index) => theirs.has(index)));
    setTheirs(new Set());
  };
  return (
    <Dialog
      title={CONFLICTS.conflictingChanges}
      width="lg"
      onClose={finish}
      mayClose={() => false}
      actions={
        <Button variant="primary" icon={GitMerge} onClick={finish}>
          {CONFLICTS.saveChoices}
        </Button>
      }
    >
      <p className="mb-4 text-sm text-muted">{CONFLICTS.conflictHint}</p>
      <ul className="flex flex-col gap-4">
        {conflicts.map((conflict, index) => {
          const node = nodeById(graph, conflict.nodeId);
          const options = [
            [false, CONFLICTS.yours, conflict.mine],
            [true, CONFLICTS.theirs, conflict.theirs],
          ] as const;
          return (
            <li key={`${conflict.nodeId} ${conflict.path.join(".")}`}>
              <fieldset>
                <legend className="mb-1.5 text-sm font-medium wrap-anywhere">
                  {node ? nodeTitle(node) : conflict.nodeId}: {conflict.path.slice(1).join(" › ") || conflict.path.join(" › ")}
                </legend>
                <div className="grid gap-2 sm:grid-cols-2">
                  {options.map(([isTheirs, title, json]) => (
                    <label
                      key={title}
                      className="flex cursor-pointer gap-2 rounded-xl border p-3 text-sm has-checked:border-accent has-checked:bg-accent-soft"
                    >
                      <input
                        type="radio"
                        className="mt-0.5 accent-accent"
                        name={`conflict-${index}`}
                        checked={theirs.has(index) === isTheirs}
                        onChange={() => {
                          const next = new Set(theirs);
                          if (isTheirs) next.add(index);
                          else next.delete(index);
                          setTheirs(next);
                        }}
                      />
                      <span className="min-w-0">
                        <span className="block font-medium">{title}</span>
                        <span className="block max-h-40 overflow-y-auto whitespace-pre-wrap text-muted wrap-anywhere">
                          {shownJson(json)}
                        </span>
                      </span>
                    </label>
                  ))}
                </div>
              </fieldset>
            </li>
          );
        })}
      </ul>
    </Dialog>
  );
};
