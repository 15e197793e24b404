import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { localModelsQuery } from "./queries";
import { Notice } from "../../ui/notice";
import { LOCAL_PROGRESS } from "../../messages/models";

const MB = 1_000_000;
const inMb = (bytes: number): number => Math.round(bytes / MB);

/** Download progress of local models, until they are complete. */
export const LocalProgress = () => {
  const { data: local } = useQuery(localModelsQuery);
  if (!local || local.status === "ready" || local.status === "off") return null;
  if (local.status === "away")
    return (
      <Notice kind="warn" className="mb-5" title={LOCAL_PROGRESS.unavailable}>
        {local.reason}
      </Notice>
    );
  const [fetched, total] = [inMb(local.fetchedBytes), Math.max(1, inMb(local.totalBytes))];
  return (
    <div className="mb-5 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border bg-surface px-4 py-3 text-sm">
      <Download className="size-4 shrink-0 text-accent-text" aria-hidden />
      <span className="font-medium">{LOCAL_PROGRESS.progress(fetched, total)}</span>
      <progress className="h-2 min-w-40 flex-1 accent-accent" aria-label={LOCAL_PROGRESS.localModels} value={fetched} max={total} />
      <span className="text-xs text-muted">{LOCAL_PROGRESS.hint}</span>
    </div>
  );
};
