import { CircleCheck, CloudAlert, CloudUpload } from "lucide-react";
import { useEffect, useState } from "react";
import { endSession } from "../api/session";
import type { WriteFailure, WriteState } from "../document/write-queue";
import { Badge } from "../ui/badge";
import { Button } from "../ui/button";
import { classes } from "../ui/classes";
import { useDocument, useEditor } from "./context";
import { COMMON } from "../messages/common";
import { SAVE_STATE } from "../messages/editor/page";

const MS = 1_000;

const useSecondsUntil = (at: number | undefined): number | undefined => {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (at === undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), MS);
    return () => clearInterval(timer);
  }, [at]);
  return at === undefined ? undefined : Math.max(0, Math.ceil((at - now) / MS));
};

/** Shows whether the canvas is saved. If it isn't, shows the reason and the remedy. */
export const SaveState = () => {
  const { canEdit } = useEditor();
  const write = useDocument((state) => state.write);
  if (!canEdit) return <Badge className="max-sm:hidden">{SAVE_STATE.readOnly}</Badge>;
  const [Icon, words, colour] =
    write.kind === "saved"
      ? ([CircleCheck, SAVE_STATE.saved, "text-faint"] as const)
      : write.kind === "unsaved" || write.kind === "saving"
        ? ([CloudUpload, SAVE_STATE.saving, "text-faint"] as const)
        : ([CloudAlert, SAVE_STATE.notSaved, "text-bad"] as const);
  return (
    <span
      role={colour === "text-bad" ? undefined : "status"}
      className={classes("flex items-center gap-1.5 text-xs whitespace-nowrap", colour)}
    >
      <Icon className="size-3.5 shrink-0" aria-hidden /> <span className="max-sm:sr-only">{words}</span>
    </span>
  );
};

const FAILURES: ReadonlySet<WriteState["kind"]> = new Set<WriteState["kind"]>(["unreachable", "signed-out", "refused", "conflict"]);

/** Below the toolbar: the reason why the workflow isn't saved, and the remedy. */
export const SaveFailure = () => {
  const { document, canEdit } = useEditor();
  const write = useDocument((state) => state.write);
  // Keeps the failure visible during a retry.
  const [failure, setShown] = useState<WriteFailure & { retryAt?: number }>();
  useEffect(() => {
    if ("message" in write) setShown(write);
    else if (write.kind === "saved") setShown(undefined);
  }, [write]);
  const seconds = useSecondsUntil(write.kind === "unreachable" ? write.retryAt : undefined);
  if (!canEdit || !failure) return null;
  return (
    <div role="alert" className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-b bg-bad-soft px-3 py-2 text-[13px] text-bad">
      <CloudAlert className="size-4 shrink-0" aria-hidden />
      <span className="min-w-0 flex-1 wrap-anywhere">
        <b className="font-semibold">{SAVE_STATE.notSavedSentence}</b> {SAVE_STATE.keptInBrowser(failure.message)}
        {seconds !== undefined && seconds > 0 && SAVE_STATE.retryIn(seconds)}
      </span>
      {failure.kind === "signed-out" ? (
        <Button size="sm" onClick={endSession}>
          {COMMON.signIn}
        </Button>
      ) : (
        <Button size="sm" busy={!FAILURES.has(write.kind)} onClick={() => document.retry()}>
          {SAVE_STATE.tryNow}
        </Button>
      )}
    </div>
  );
};
