import { CircleX, Crosshair, Play, Search, Undo2 } from "lucide-react";
import { nodeById } from "../../document/graph";
import { ASSISTANT } from "../../messages/editor/assistant";
import { Button } from "../../ui/button";
import { credits } from "../../ui/format";
import { Notice } from "../../ui/notice";
import type { Stage } from "../commands/command";
import { useDocument, useEditor } from "../context";
import { titleIn } from "../titles";
import { ChangeList } from "../versions/comparison";
import type { Assistant, Entry } from "./assistant";
import { touchedNodes, type Change } from "./edit";
import type { Ending } from "./loop";
import type { Check } from "./tools";

interface ViewProps {
  assistant: Assistant;
  stage: Stage;
}

const checkWords = ({ valid, issues, estimatedCreditCost: price }: Check): string =>
  valid ? ASSISTANT.valid(price === null ? undefined : credits(price)) : ASSISTANT.problems(issues);

/** What a change added, changed and removed. The newest step of the document can be taken back here. */
const ChangeView = ({ change, check, assistant, stage }: ViewProps & { change: Change; check: Check | undefined }) => {
  const { document } = useEditor();
  const isNewest = useDocument(({ history }) => history.past.at(-1)?.key === change.key);
  const { comparison, before, after } = change;
  const count = comparison.nodes.length + comparison.links.length;
  const show = (): void => {
    const { graph } = document.store.getState();
    const ids = touchedNodes(change).filter((id) => nodeById(graph, id));
    document.select(ids);
    if (ids.length > 0) stage.fit(ids);
  };
  return (
    <section aria-label={ASSISTANT.changes(count)} className="rounded-xl border bg-surface px-3 py-2">
      <ChangeList comparison={comparison} graphs={[after, before]} label={ASSISTANT.changes(count)} />
      <div className="mt-1.5 flex flex-wrap items-center gap-2">
        {check && <p className="w-full text-xs text-muted">{checkWords(check)}</p>}
        <Button size="sm" icon={Crosshair} onClick={show}>
          {ASSISTANT.show}
        </Button>
        {isNewest && (
          <Button size="sm" icon={Undo2} onClick={() => assistant.undo(change)}>
            {ASSISTANT.undo}
          </Button>
        )}
      </div>
    </section>
  );
};

const EndView = ({ ending }: { ending: Exclude<Ending, { kind: "answered" }> }) => {
  if (!("message" in ending)) return <Notice>{ASSISTANT.ended[ending.kind]}</Notice>;
  const titles = { failures: ASSISTANT.failures, ceiling: ASSISTANT.ceilingReached, failed: ASSISTANT.failed };
  return (
    <Notice kind={ending.kind === "ceiling" ? "warn" : "bad"} title={titles[ending.kind]}>
      {ending.message}
    </Notice>
  );
};

const RunView = ({ nodeId }: { nodeId: string }) => {
  const editor = useEditor();
  const node = useDocument(({ graph }) => nodeById(graph, nodeId));
  return (
    <p className="flex items-center gap-2 text-xs text-muted">
      <Play className="size-3.5 shrink-0" aria-hidden /> {ASSISTANT.ran(node ? titleIn(editor, node) : nodeId)}
    </p>
  );
};

const CallView = ({ tool, isError }: { tool: string; isError: boolean }) => {
  const Icon = isError ? CircleX : Search;
  return (
    <p className="flex items-center gap-2 text-xs text-muted wrap-anywhere">
      <Icon className="size-3.5 shrink-0" aria-hidden /> {isError ? ASSISTANT.callFailed(tool) : ASSISTANT.called(tool)}
    </p>
  );
};

/** One entry of the conversation. */
export const EntryView = ({ entry, ...view }: ViewProps & { entry: Entry }) => {
  switch (entry.kind) {
    case "request":
      return (
        <p className="ml-6 self-end rounded-xl bg-accent-soft px-3 py-2 text-sm whitespace-pre-wrap text-accent-text wrap-anywhere">
          <span className="sr-only">{ASSISTANT.you}: </span>
          {entry.text}
        </p>
      );
    case "text":
      return (
        <p dir="auto" className="text-sm whitespace-pre-wrap wrap-anywhere">
          {entry.text}
        </p>
      );
    case "change":
      return <ChangeView {...view} {...entry} />;
    case "call":
      return <CallView {...entry} />;
    case "run":
      return <RunView {...entry} />;
    case "end":
      return <EndView ending={entry.ending} />;
  }
};
