import type { Execution, RerunQuote } from "@nodeloom/client";
import { RotateCcw } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../ui/button";
import { Check } from "../../ui/inputs/field";
import { nameOfNode } from "../node-name";
import { refusalOf, type Refusal } from "../request";
import { priceOf } from "../run-price";
import { TroubleNotice } from "../trouble/trouble-notice";
import { failedWords, reusedWords, startRerun, useRerunQuote, type Again } from "./rerun";
import { COMMON, NOT_STARTED } from "../../messages/common";
import { RUN_AGAIN } from "../../messages/runs";

export interface RunAgainProps {
  execution: Execution;
  /** For a run of the canvas, its graph and the typed inputs. */
  again?: Again;
  revision?: string;
  /** Work before the start; false if it failed. */
  before?: () => Promise<boolean>;
  /** Receives the quote, which lists the reused calls, once it is loaded. */
  onQuote?: (quote: RerunQuote | undefined) => void;
  /** False if any output of the run would change, with or without calls. */
  isUnchanged?: boolean;
  onStarted: (executionId: string) => void;
}

const NONE: Again = {};

/** Nodes whose calls can be repeated although none of their inputs has changed. */
const Anew = ({
  execution: { nodes },
  isOpen,
  chosen,
  onChange,
}: {
  execution: Execution;
  isOpen: boolean;
  chosen: string[];
  onChange: (ids: string[]) => void;
}) => {
  const calling = nodes.filter(({ items, status }) => items !== undefined && status !== "skipped");
  if (calling.length === 0) return null;
  return (
    <details open={isOpen || chosen.length > 0}>
      <summary className="text-[13px] text-muted">{RUN_AGAIN.regenerateNodes}</summary>
      <fieldset className="mt-2 flex flex-col gap-1.5">
        <legend className="sr-only">{RUN_AGAIN.nodesToRegenerate}</legend>
        {calling.map((node) => (
          <Check
            key={node.id}
            label={nameOfNode(node)}
            checked={chosen.includes(node.id)}
            onCheck={(isOn) => onChange(isOn ? [...chosen, node.id] : chosen.filter((id) => id !== node.id))}
          />
        ))}
      </fieldset>
    </details>
  );
};

/** Reruns a completed run. Unchanged calls are reused, and the button shows the price of the rest. */
export const RunAgain = ({ execution, again = NONE, revision = "", before, onQuote, isUnchanged = true, onStarted }: RunAgainProps) => {
  const { executionId, nodes, status } = execution;
  const [chosenNodes, setChosen] = useState<string[]>([]);
  const [starting, setStarting] = useState(false);
  const [refusal, setRefused] = useState<Refusal>();
  const rerun: Again = { ...again, ...(chosenNodes.length > 0 ? { nodes: chosenNodes } : {}) };
  const { quote, problem } = useRerunQuote(executionId, rerun, true, revision);
  useEffect(() => {
    onQuote?.(quote);
    return () => onQuote?.(undefined);
  }, [onQuote, quote]);
  const price = priceOf(quote);
  const failed = failedWords(nodes);
  const isSame = isUnchanged && quote !== undefined && quote.reused.of > 0 && quote.reused.calls === quote.reused.of;
  const start = async (): Promise<void> => {
    setStarting(true);
    setRefused(undefined);
    try {
      if (before && !(await before())) throw new Error(NOT_STARTED);
      onStarted(await startRerun(executionId, rerun, quote?.maxCreditCost ?? null));
    } catch (error) {
      setRefused(refusalOf(error));
    } finally {
      setStarting(false);
    }
  };
  const trouble = refusal?.trouble ?? problem;
  return (
    <form
      className="flex flex-col gap-3"
      aria-label={RUN_AGAIN.runAgain}
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <p className="text-sm text-muted" aria-live="polite">
        {quote ? reusedWords(quote) : RUN_AGAIN.checking}
        {isSame && failed.length === 0 && <span className="block">{RUN_AGAIN.nothingChanged}</span>}
        {failed.length > 0 && <span className="block">{RUN_AGAIN.regenerates(failed.join("; "))}</span>}
      </p>
      {trouble && <TroubleNotice kind="warn" trouble={trouble} />}
      <Anew execution={execution} isOpen={isSame} chosen={chosenNodes} onChange={setChosen} />
      <div>
        <Button type="submit" icon={RotateCcw} busy={starting}>
          {`${status === "completed" ? RUN_AGAIN.runAgain : COMMON.continue}${quote ? ` · ${price ?? RUN_AGAIN.free}` : ""}`}
        </Button>
      </div>
    </form>
  );
};
