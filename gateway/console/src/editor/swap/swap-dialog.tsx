import type { TestRun, WorkflowTest } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { ArrowRight, Play } from "lucide-react";
import { useState } from "react";
import type { DocNode } from "../../document/graph";
import { BATCH_ORDER } from "../../messages/editor/batch-order";
import { SWAP } from "../../messages/editor/swap";
import { TroubleNotice } from "../../runs/trouble/trouble-notice";
import { Button } from "../../ui/button";
import { ago } from "../../ui/format";
import { SelectField } from "../../ui/inputs/field";
import { Notice, Skeleton } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";
import { priceWords } from "../batch-order";
import { selectedNodes } from "../chosen";
import { useEditor, useScene, useUi } from "../context";
import { ModelChoices } from "../models/models-dialog";
import { nodeTitle } from "../titles";
import { testRunsQuery, testsQuery } from "../versions/queries";
import type { Compared } from "./evidence";
import { SwapResults } from "./swap-results";
import { RECENT_INPUTS, useComparison } from "./use-comparison";

const LISTED = 50;
const EARLIER = 4;

const modelOf = ({ data }: DocNode): string => (typeof data.model === "string" ? data.model : "");

const useTitle = (): ((name: string) => string) => {
  const { models } = useEditor();
  return (name) => models.find(({ internalName }) => internalName === name)?.displayName ?? name;
};

/** Candidate of a comparison on this node; undefined for other runs of tests. */
const candidateIn = ({ settings }: TestRun, nodeId: string): string | undefined => {
  const own = settings?.[nodeId] as { model?: unknown } | undefined;
  return typeof own?.model === "string" ? own.model : undefined;
};

interface OpenSwap {
  batchId: string;
  candidate: string;
}

const Earlier = ({ node, onOpen }: { node: DocNode; onOpen: (opened: OpenSwap) => void }) => {
  const { slug } = useEditor();
  const titleOf = useTitle();
  const { data: runs = [] } = useQuery(testRunsQuery(slug, LISTED));
  const own = runs.flatMap((run) => {
    const candidate = candidateIn(run, node.id);
    return candidate === undefined ? [] : [{ ...run, candidate }];
  });
  if (own.length === 0) return null;
  return (
    <section aria-label={SWAP.previousComparisons} className="flex flex-wrap items-center gap-2 text-sm">
      <span className="text-muted">{SWAP.previous}</span>
      {own.slice(0, EARLIER).map(({ batchId, candidate, status, createdAt }) => (
        <Button key={batchId} size="sm" onClick={() => onOpen({ batchId, candidate })}>
          {SWAP.earlier(titleOf(candidate), status === "running" || createdAt === null ? SWAP.inProgress : ago(createdAt))}
        </Button>
      ))}
    </section>
  );
};

const Models = ({ models: { now, before }, onOther }: { models: Compared; onOther: () => void }) => (
  <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-sm">
    <span>
      <span className="block text-xs text-faint">{SWAP.current}</span>
      <span className="font-medium">{before}</span>
    </span>
    <ArrowRight className="size-4 text-muted" aria-hidden />
    <span>
      <span className="block text-xs text-faint">{SWAP.candidate}</span>
      <span className="font-medium">{now}</span>
    </span>
    <Button size="sm" variant="ghost" onClick={onOther}>
      {SWAP.otherCandidate}
    </Button>
  </div>
);

interface FormProps {
  node: DocNode;
  candidate: string;
  models: Compared;
  tests: readonly WorkflowTest[];
  onOpen: (opened: OpenSwap) => void;
  onOther: () => void;
}

const SwapForm = ({ node, candidate, models, tests, onOpen, onOther }: FormProps) => {
  const isRetired = useScene(({ judgement }) =>
    judgement.issues.some(({ nodeId, code }) => nodeId === node.id && code === "MODEL_RETIRED"),
  );
  const [usesRuns, setUsesRuns] = useState(tests.length === 0);
  const { quote, problem, isEmpty, start, isStarting, isAllowed } = useComparison(node, { candidate, usesRuns, hasBefore: !isRetired });
  const hasJudges = tests.some(({ expect }) => expect.some(({ judge }) => judge !== undefined));
  const begin = async (): Promise<void> => {
    const batchId = await start();
    if (batchId !== undefined) onOpen({ batchId, candidate });
  };
  const price = quote && `${SWAP.pairs(quote.total)}, ${priceWords(quote)}`;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void begin();
      }}
    >
      <Models models={models} onOther={onOther} />
      <SelectField
        label={SWAP.inputsFrom}
        hint={usesRuns ? SWAP.runsHint : hasJudges ? `${SWAP.testsHint} ${SWAP.judgesHint}` : SWAP.testsHint}
        value={usesRuns ? "runs" : "tests"}
        onText={(text) => setUsesRuns(text === "runs")}
        options={[...(tests.length > 0 ? ([["tests", SWAP.ofTests(tests.length)]] as const) : []), ["runs", SWAP.ofRuns(RECENT_INPUTS)]]}
      />
      {isRetired && <Notice kind="warn">{SWAP.retiredHint}</Notice>}
      {isEmpty && <Notice title={SWAP.noRuns}>{SWAP.noRunsHint}</Notice>}
      {problem && <TroubleNotice kind="warn" trouble={problem} />}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" variant="primary" icon={Play} busy={isStarting} disabled={!isAllowed || quote === undefined}>
          {price === undefined ? SWAP.compare : SWAP.compareFor(price)}
        </Button>
        {isAllowed && quote === undefined && problem === undefined && !isEmpty && (
          <span className="text-xs text-muted">{BATCH_ORDER.gettingThePrice}</span>
        )}
      </div>
    </form>
  );
};

const Swap = ({ node, onClose }: { node: DocNode; onClose: () => void }) => {
  const { slug } = useEditor();
  const titleOf = useTitle();
  const [candidate, setCandidate] = useState(useUi((state) => state.candidate));
  const [opened, setOpened] = useState<OpenSwap>();
  const tests = useQuery(testsQuery(slug));
  // A comparison shows the models that it compared, also after the candidate was taken.
  const [current] = useState(modelOf(node));
  const modelsWith = (name: string): Compared => ({ now: titleOf(name), before: titleOf(current) });
  if (opened) return <SwapResults {...opened} key={opened.batchId} node={node} models={modelsWith(opened.candidate)} onClose={onClose} />;
  if (tests.isPending) return <Skeleton lines={4} />;
  return (
    <div className="flex flex-col gap-4">
      {candidate === undefined ? (
        <>
          <p className="text-sm text-muted">{SWAP.chooseCandidate}</p>
          <Earlier node={node} onOpen={setOpened} />
          <div>
            <ModelChoices node={node} except={current} onChoose={setCandidate} />
          </div>
        </>
      ) : (
        <>
          <SwapForm
            key={candidate}
            {...{ node, candidate }}
            models={modelsWith(candidate)}
            tests={tests.data ?? []}
            onOpen={setOpened}
            onOther={() => setCandidate(undefined)}
          />
          <Earlier node={node} onOpen={setOpened} />
        </>
      )}
    </div>
  );
};

/** Compares the selected node's model with another one before it is changed. */
export const SwapDialog = ({ onClose }: { onClose: () => void }) => {
  const editor = useEditor();
  const [node] = useState(() => selectedNodes(editor)[0]);
  if (!node) return null;
  return (
    <Dialog title={SWAP.title(nodeTitle(node))} width="lg" onClose={onClose}>
      <Swap node={node} onClose={onClose} />
    </Dialog>
  );
};
