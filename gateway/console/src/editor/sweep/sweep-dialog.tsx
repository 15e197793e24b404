import type { Batch } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Play, Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { batchesQuery } from "../../features/batches/queries";
import { kindOf } from "../../canvas/kinds";
import type { DocNode } from "../../document/graph";
import { TroubleNotice } from "../../runs/trouble/trouble-notice";
import { Button } from "../../ui/button";
import { ago, roundCredits } from "../../ui/format";
import { Dialog } from "../../ui/overlays/dialog";
import { priceWords } from "../batch-order";
import { selectedNodes } from "../chosen";
import { useEditor, useScene, type Editor } from "../context";
import { modelWords } from "../panels/model-state";
import { nodeTitle } from "../titles";
import { MOST_VARIATIONS, settingsOf, settingsWords, variationsOf, type Axis, type Setting, type Variation } from "./axes";
import { AxisForm } from "./axis-form";
import { SweepResults } from "./sweep-results";
import { SWEEP_NAME, useSweep, useTitles, useVariationPrices } from "./use-sweep";
import { BATCH_ORDER } from "../../messages/editor/batch-order";
import { SWEEP_DIALOG } from "../../messages/editor/sweep";

const LISTED = 50;
const EARLIER = 4;

/** Settings of a node that can vary, including its model. */
const useSettings = ({ models, schemaOf }: Editor, node: DocNode): Setting[] => {
  const wired = useScene(({ ports }) => ports.get(node.id)?.wired);
  return useMemo(() => {
    const { modality } = kindOf(node.type);
    const fitting = models.filter((model) => modality !== undefined && model.modality === modality && model.enabled);
    const options = fitting.map((model) => ({ value: model.internalName, title: modelWords(model) }));
    return settingsOf(node, schemaOf(node), options, wired ?? new Set());
  }, [models, schemaOf, node, wired]);
};

/** Sweeps of this node, newest first. */
const useEarlier = (slug: string, nodeId: string): Batch[] => {
  const { data } = useQuery(batchesQuery({ limit: LISTED }));
  return (data?.rows ?? [])
    .filter(({ workflowSlug, metadata }) => workflowSlug === slug && metadata[SWEEP_NAME] === nodeId)
    .slice(0, EARLIER);
};

const Variations = ({ node, variations }: { node: DocNode; variations: readonly Variation[] }) => {
  const prices = useVariationPrices(node, variations);
  const titles = useTitles();
  return (
    <ol
      aria-label={SWEEP_DIALOG.setting}
      className="grid max-h-52 grid-cols-1 gap-x-6 gap-y-1 overflow-y-auto rounded-xl bg-sunken p-3 text-[13px] sm:grid-cols-2"
      tabIndex={0}
    >
      {variations.map(({ settings, at }, index) => (
        <li key={at.join(".")} className="flex justify-between gap-3">
          <span className="min-w-0 truncate" title={settingsWords(settings, titles)}>
            {settingsWords(settings, titles)}
          </span>
          <span className="shrink-0 text-muted tabular-nums">
            {prices[index] === undefined ? "" : prices[index] === 0 ? SWEEP_DIALOG.free : SWEEP_DIALOG.cr(roundCredits(prices[index]))}
          </span>
        </li>
      ))}
    </ol>
  );
};

const Earlier = ({ batches, onOpen }: { batches: readonly Batch[]; onOpen: (batchId: string) => void }) => {
  if (batches.length === 0) return null;
  return (
    <section aria-label={SWEEP_DIALOG.previousVariations} className="flex flex-wrap items-center gap-2 text-sm">
      <span className="text-muted">{SWEEP_DIALOG.previous}</span>
      {batches.map(({ batchId, total, createdAt, status }) => (
        <Button key={batchId} size="sm" onClick={() => onOpen(batchId)}>
          {SWEEP_DIALOG.earlier(
            total,
            status === "running" ? SWEEP_DIALOG.inProgress : createdAt === null ? SWEEP_DIALOG.finished : ago(createdAt),
          )}
        </Button>
      ))}
    </section>
  );
};

const isWhole = (axis: Axis | undefined): axis is Axis => axis !== undefined && axis.values.length > 0;

const SweepForm = ({ node, onOpen }: { node: DocNode; onOpen: (batchId: string) => void }) => {
  const editor = useEditor();
  const settings = useSettings(editor, node);
  const [first, setFirst] = useState<Axis>();
  const [second, setSecond] = useState<Axis>();
  const variations = useMemo(() => variationsOf([first, second].filter(isWhole)).filter(({ at }) => at.length > 0), [first, second]);
  const tooMany = variations.length > MOST_VARIATIONS;
  const askedVariations = useMemo(() => (tooMany ? [] : variations), [tooMany, variations]);
  const { quote, problem, start, isStarting, isReady } = useSweep(node, askedVariations);
  const title = nodeTitle(node);
  const price = quote && priceWords(quote);
  const begin = async (): Promise<void> => {
    const batchId = await start();
    if (batchId !== undefined) onOpen(batchId);
  };
  if (settings.length === 0) return <p className="text-sm text-muted">{SWEEP_DIALOG.nothingToVary(title)}</p>;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void begin();
      }}
    >
      <p className="text-sm text-muted">{SWEEP_DIALOG.intro(title)}</p>
      <div className="grid gap-5 sm:grid-cols-2">
        <AxisForm label={SWEEP_DIALOG.vary} settings={settings} axis={first} isOptional={false} onChange={setFirst} />
        {first && (
          <AxisForm
            label={SWEEP_DIALOG.and}
            settings={settings.filter(({ name }) => name !== first.setting.name)}
            axis={second?.setting.name === first.setting.name ? undefined : second}
            isOptional
            onChange={setSecond}
          />
        )}
      </div>
      {askedVariations.length > 0 && <Variations node={node} variations={askedVariations} />}
      {tooMany && (
        <p role="alert" className="text-sm text-bad">
          {SWEEP_DIALOG.tooManyVariations(variations.length, MOST_VARIATIONS)}
        </p>
      )}
      {problem && <TroubleNotice kind="warn" trouble={problem} />}
      <div className="flex flex-wrap items-center gap-3">
        <Button
          type="submit"
          variant="primary"
          icon={Play}
          busy={isStarting}
          disabled={!isReady || quote === undefined}
          data-testid="sweep"
        >
          {quote === undefined ? SWEEP_DIALOG.runVariations : SWEEP_DIALOG.run(quote.total, price)}
        </Button>
        {isReady && quote === undefined && problem === undefined && (
          <span className="text-xs text-muted">{BATCH_ORDER.gettingThePrice}</span>
        )}
        {variations.length === 1 && <span className="text-xs text-muted">{SWEEP_DIALOG.tooFewValues}</span>}
      </div>
    </form>
  );
};

/** Dialog to price, run, rate and apply variations of a node. */
export const SweepDialog = ({ onClose }: { onClose: () => void }) => {
  const editor = useEditor();
  const [node] = useState(() => selectedNodes(editor)[0]);
  const [shownImage, setShown] = useState<string>();
  const earlier = useEarlier(editor.slug, node?.id ?? "");
  if (!node) return null;
  return (
    <Dialog title={SWEEP_DIALOG.variationsOf(nodeTitle(node))} width="lg" onClose={onClose}>
      <div className="flex flex-col gap-4">
        {shownImage === undefined ? (
          <>
            <SweepForm node={node} onOpen={setShown} />
            <Earlier batches={earlier} onOpen={setShown} />
          </>
        ) : (
          <>
            <SweepResults key={shownImage} batchId={shownImage} node={node} onClose={onClose} />
            <div>
              <Button icon={Plus} onClick={() => setShown(undefined)}>
                {SWEEP_DIALOG.newVariations}
              </Button>
            </div>
          </>
        )}
      </div>
    </Dialog>
  );
};
