import { LIMITS } from "@nodeloom/kernel";
import { LRUCache } from "lru-cache";
import type { EventChannel } from "../record/channel";
import type { CallContext } from "../run/types";
import { TIMING } from "../run/timing";

/** Texts while they are written: their pieces go to the followers of a run, and are never recorded. */

export const NODE_DELTA = "node.delta";

/** News for those who follow a text while it is written. They are told once, and never recorded. */
export interface TextDelta {
  nodeId: string;
  item: number;
  text: string;
  /** What was said of this text before is void. */
  reset?: true;
}

export type Unfollow = () => void;
type Writer = ReturnType<typeof createWriter>;
export type TextStream = Omit<Writer, "tellAll">;
export type TextStreams = ReturnType<typeof createTextStreams>;

/** Gathered text that is told at once, however short the time. */
const BATCH_CHARS = 200;
/** Executions that are remembered as followed. */
const MAX_FOLLOWED = 10_000;
/** What becomes a value of a run is never longer. */
const MAX_TOLD_CHARS = LIMITS.textValueBytes;
/** One channel for all executions: which of them are followed. Not the id of any. */
const FOLLOWED = "followed-texts";

/** The text of one call while it is written. */
const createWriter = (isFollowed: () => boolean, tell: (text: string, reset: boolean) => void) => {
  let text = "";
  let told = 0;
  let isFresh = true;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const end = Math.min(text.length, MAX_TOLD_CHARS);
    if (told >= end || !isFollowed()) return;
    tell(text.slice(told, end), isFresh);
    told = end;
    isFresh = false;
  };
  /** Tells all that was written so far. */
  const tellAll = (): void => {
    told = 0;
    isFresh = true;
    flush();
  };
  return {
    tellAll,
    /** The call is made (again): what was written before is void. */
    restart: (): void => {
      const wasTold = !isFresh;
      text = "";
      tellAll();
      if (wasTold && isFollowed()) tell("", true);
    },
    write: (piece: string): void => {
      text += piece;
      if (!isFollowed()) return;
      if (text.length - told >= BATCH_CHARS) return flush();
      timer ??= setTimeout(flush, TIMING.textBatch);
    },
    /** Tells what is left. Nothing may be written after it. */
    close: flush,
  };
};

/**
 * Carries texts to watchers while they are written. A watcher says so to all processes, again and again; the process that writes a
 * text sends all of it then, and every batch after it. Of a run without watchers nothing is sent or timed.
 */
export const createTextStreams = (channel: Pick<EventChannel, "publish" | "subscribe">) => {
  /** Until when each is taken for followed. */
  const followed = new LRUCache<string, number>({ max: MAX_FOLLOWED });
  const isFollowed = (executionId: string): boolean => (followed.get(executionId) ?? 0) > Date.now();
  const writers = new Map<string, Set<Writer>>();

  const stop = channel.subscribe(FOLLOWED, ({ data: { executionId, joined } }) => {
    if (typeof executionId !== "string") return;
    const isNews = joined === true || !isFollowed(executionId);
    followed.set(executionId, Date.now() + TIMING.textForgotten);
    if (isNews) for (const writer of writers.get(executionId) ?? []) writer.tellAll();
  });

  const open = ({ executionId, nodeId, item }: Pick<CallContext, "executionId" | "nodeId" | "item">): TextStream => {
    const writer = createWriter(
      () => isFollowed(executionId),
      (text, reset) => {
        const data: TextDelta = { nodeId, item, text, ...(reset ? { reset } : {}) };
        channel.publish(executionId, { type: NODE_DELTA, at: Date.now(), data: { ...data } });
      },
    );
    const ofRun = writers.get(executionId) ?? new Set();
    writers.set(executionId, ofRun.add(writer));
    return {
      restart: writer.restart,
      write: writer.write,
      close: () => {
        writer.close();
        ofRun.delete(writer);
        if (ofRun.size === 0) writers.delete(executionId);
      },
    };
  };

  /** Asks for the texts of an execution, wherever they are written, until the returned function is called. */
  const follow = (executionId: string): Unfollow => {
    const say = (joined: boolean): void => channel.publish(FOLLOWED, { type: "followed", at: Date.now(), data: { executionId, joined } });
    say(true);
    const timer = setInterval(() => say(false), TIMING.textWanted);
    return () => clearInterval(timer);
  };
  return { open, follow, stop };
};
