import { useEffect, useState } from "react";
import { NODE_ELAPSED } from "../../../messages/editor/board";
import type { NodeProgress } from "../../../runs/live";
import { shareOf } from "../../../runs/share";
import { speedOf } from "../../../runs/speeds";
import { wholeSeconds } from "../../../ui/format";

const TICK_MS = 1_000;

/** Time since a running node started. If the browser knows the model's usual duration, also that duration and the completed share of it. */
export const NodeElapsed = ({ progress, model }: { progress: NodeProgress; model: string | undefined }) => {
  const [now, setNow] = useState(() => Date.now());
  const [itemMs] = useState(() => (model === undefined ? undefined : speedOf(model)));
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const elapsed = Math.max(0, now - Date.parse(progress.startedAt ?? new Date(now).toISOString()));
  const expected = itemMs === undefined ? undefined : itemMs * Math.max(1, progress.items ?? 1);
  const share = shareOf(progress, elapsed, expected);
  return (
    <>
      <span>{wholeSeconds(elapsed)}</span>
      {expected !== undefined && <span>{NODE_ELAPSED.ofAbout(wholeSeconds(expected))}</span>}
      {share !== undefined && <span className="ml-auto font-medium text-muted">{NODE_ELAPSED.percent(Math.round(share * 100))}</span>}
    </>
  );
};
