import { useEffect, useState } from "react";
import { NODE_ELAPSED } from "../../../messages/editor/board";
import { useLive, type NodeProgress } from "../../../runs/live";
import { shareOf } from "../../../runs/share";
import { speedOf } from "../../../runs/speeds";
import { wholeSeconds } from "../../../ui/format";
import { useEditor } from "../../context";

const TICK_MS = 1_000;

/**
 * Time since a running node started. Also its completed share, if the provider
 * streams it or the browser knows the model's usual duration.
 */
export const NodeElapsed = ({ progress, model }: { progress: NodeProgress; model: string | undefined }) => {
  const { slug } = useEditor();
  const percent = useLive(({ runs }) => runs[slug]?.previews.get(`${progress.id}:0`)?.percent);
  const [now, setNow] = useState(() => Date.now());
  const [itemMs] = useState(() => (model === undefined ? undefined : speedOf(model)));
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const elapsed = Math.max(0, now - Date.parse(progress.startedAt ?? new Date(now).toISOString()));
  const expected = itemMs === undefined ? undefined : itemMs * Math.max(1, progress.items ?? 1);
  const isSingle = (progress.items ?? 1) <= 1;
  const share = isSingle && percent !== undefined ? percent / 100 : shareOf(progress, elapsed, expected);
  return (
    <>
      <span>{wholeSeconds(elapsed)}</span>
      {expected !== undefined && <span>{NODE_ELAPSED.ofAbout(wholeSeconds(expected))}</span>}
      {share !== undefined && <span className="ml-auto font-medium text-muted">{NODE_ELAPSED.percent(Math.round(share * 100))}</span>}
    </>
  );
};
