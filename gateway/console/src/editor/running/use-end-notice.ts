import type { Execution } from "@nodeloom/client";
import { useEffect } from "react";
import { api } from "../../api/client";
import { isOver, useLive } from "../../runs/live";
import { credits, duration } from "../../ui/format";
import { useDocument, useEditor } from "../context";
import { END_NOTICE } from "../../messages/editor/running";

/** Interval of checks. A hidden page has no stream of events, and browsers slow down its timers. */
const LOOK_MS = 5_000;

const ENDS: Readonly<Record<string, string>> = {
  completed: END_NOTICE.completed,
  failed: END_NOTICE.failed,
  cancelled: END_NOTICE.cancelled,
};

/** False if the browser doesn't support notifications, or not for this address. */
const canNotify = (): boolean => typeof Notification === "function" && Notification.permission === "granted";
export const mayAskToNotify = (): boolean => typeof Notification === "function" && Notification.permission === "default";

const notify = (name: string, { executionId, status, durationMs, creditsCost }: Execution): void => {
  const body = `${ENDS[status] ?? status} · ${duration(durationMs)} · ${credits(creditsCost)}`;
  // The tag makes two tabs of one run show one notice.
  const notice = new Notification(name, { body, tag: executionId });
  notice.addEventListener("click", () => {
    window.focus();
    notice.close();
  });
};

/** If the user allowed it, shows a notification when the shown run ends while the page is hidden. */
export const useEndNotice = (): void => {
  const { slug } = useEditor();
  const name = useDocument((state) => state.meta.name);
  const going = useLive(({ runs }) => (isOver(runs[slug]) ? undefined : runs[slug]?.executionId));
  useEffect(() => {
    if (going === undefined) return undefined;
    let timer: ReturnType<typeof setInterval> | undefined;
    const look = async (): Promise<void> => {
      // After a failed request, the next check tries again.
      const execution = await api.executions.get(going).catch(() => undefined);
      if (execution === undefined || ENDS[execution.status] === undefined || timer === undefined) return;
      stop();
      notify(name, execution);
    };
    const stop = (): void => {
      clearInterval(timer);
      timer = undefined;
    };
    const onVisibility = (): void => {
      stop();
      if (document.hidden && canNotify()) timer = setInterval(() => void look(), LOOK_MS);
    };
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      stop();
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }, [going, name]);
};
