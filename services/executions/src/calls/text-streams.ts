import { LIMITS } from "@nodeloom/kernel";
import { LRUCache } from "lru-cache";
import type { EventChannel } from "../record/runs/channel";
import type { CallContext } from "../run/types";
import { TIMING } from "../run/timing";
import { createPreviewWriter, NODE_PREVIEW } from "./previews";

/** Streams texts and previews to the followers of a run. They aren't recorded. */

export const NODE_DELTA = "node.delta";

/** A piece of a text. It is sent once and never recorded. */
export interface TextDelta {
  nodeId: string;
  item: number;
  text: string;
  /** Set if earlier pieces of this text are invalid. */
  reset?: true;
}

export type Unfollow = () => void;
type Writer = ReturnType<typeof createWriter>;
export type TextStream = Omit<Writer, "tellAll">;
export type PreviewStream = Omit<ReturnType<typeof createPreviewWriter>, "tellAll">;
export type TextStreams = ReturnType<typeof createTextStreams>;

/** This many characters are sent at once, before the interval ends. */
const BATCH_CHARS = 200;
const MAX_FOLLOWED = 10_000;
/** Equals the maximum length of a text value in a run. */
const MAX_TOLD_CHARS = LIMITS.textValueBytes;
/** One shared channel announces all followed executions. Its name is fixed and isn't an id. */
const FOLLOWED = "followed-texts";

const createWriter = (isFollowed: () => boolean, tell: (text: string, reset: boolean) => void) => {
  let text = "";
  let toldCount = 0;
  let isFresh = true;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const end = Math.min(text.length, MAX_TOLD_CHARS);
    if (toldCount >= end || !isFollowed()) return;
    tell(text.slice(toldCount, end), isFresh);
    toldCount = end;
    isFresh = false;
  };
  const tellAll = (): void => {
    toldCount = 0;
    isFresh = true;
    flush();
  };
  return {
    tellAll,
    /** The call starts again, so earlier pieces are invalid. */
    restart: (): void => {
      const wasTold = !isFresh;
      text = "";
      tellAll();
      if (wasTold && isFollowed()) tell("", true);
    },
    write: (piece: string): void => {
      text += piece;
      if (!isFollowed()) return;
      if (text.length - toldCount >= BATCH_CHARS) return flush();
      timer ??= setTimeout(flush, TIMING.textBatch);
    },
    /** Sends the remaining text. Don't write afterwards. */
    close: flush,
  };
};

/**
 * Streams texts to watchers. Each watcher announces itself to all processes repeatedly. The process that writes the text then sends all
 * earlier pieces and every later batch. Without watchers, nothing is sent and no timer runs.
 */
export const createTextStreams = (channel: Pick<EventChannel, "publish" | "subscribe">) => {
  /** Time at which each execution stops counting as followed. */
  const followed = new LRUCache<string, number>({ max: MAX_FOLLOWED });
  const isFollowed = (executionId: string): boolean => (followed.get(executionId) ?? 0) > Date.now();
  const writers = new Map<string, Set<{ tellAll: () => void }>>();

  const stop = channel.subscribe(FOLLOWED, ({ data: { executionId, joined } }) => {
    if (typeof executionId !== "string") return;
    const isNews = joined === true || !isFollowed(executionId);
    followed.set(executionId, Date.now() + TIMING.textForgotten);
    if (isNews) for (const writer of writers.get(executionId) ?? []) writer.tellAll();
  });

  type Place = Pick<CallContext, "executionId" | "nodeId" | "item">;
  /** Adds a writer to its run until it is closed. */
  const opened = <W extends { tellAll: () => void; close: () => void }>(executionId: string, writer: W): W => {
    const ofRun = writers.get(executionId) ?? new Set();
    writers.set(executionId, ofRun.add(writer));
    return {
      ...writer,
      close: () => {
        writer.close();
        ofRun.delete(writer);
        if (ofRun.size === 0) writers.delete(executionId);
      },
    };
  };

  const open = ({ executionId, nodeId, item }: Place): TextStream =>
    opened(
      executionId,
      createWriter(
        () => isFollowed(executionId),
        (text, reset) => {
          const data: TextDelta = { nodeId, item, text, ...(reset ? { reset } : {}) };
          channel.publish(executionId, { type: NODE_DELTA, at: Date.now(), data: { ...data } });
        },
      ),
    );

  const openPreview = ({ executionId, nodeId, item }: Place): PreviewStream =>
    opened(
      executionId,
      createPreviewWriter(
        () => isFollowed(executionId),
        (preview) => channel.publish(executionId, { type: NODE_PREVIEW, at: Date.now(), data: { nodeId, item, ...preview } }),
      ),
    );

  /** Subscribes to the texts of an execution from all processes, until the returned function is called. */
  const follow = (executionId: string): Unfollow => {
    const say = (joined: boolean): void => channel.publish(FOLLOWED, { type: "followed", at: Date.now(), data: { executionId, joined } });
    say(true);
    const timer = setInterval(() => say(false), TIMING.textWanted);
    return () => clearInterval(timer);
  };
  return { open, openPreview, follow, stop };
};
