import { executionNotFound } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { EventChannel } from "../store/channel";
import { createInbox, type HeardDelta, type Inbox } from "./inbox";
import type { AwaitDelivered } from "./delivered";
import { isFinal } from "../run/states";
import type { Stores } from "../store/stores";
import { NODE_DELTA, type TextStreams } from "../calls/text-streams";

type Message = executions.WatchExecutionResponse;

export type Watch = (executionId: string, userId: string, after: number, signal: AbortSignal) => AsyncIterable<Message>;

/** A piece of a text: it has no number, for it is not in the log. */
const deltaMessage = ({ at, ...data }: HeardDelta): Message =>
  executions.WatchExecutionResponse.fromPartial({ sequence: 0, type: NODE_DELTA, at: new Date(at), dataJson: JSON.stringify(data) });

/** What was heard of texts and belongs before an event of the log: all before the end, those of a node before its news. */
const textsBefore = (inbox: Inbox, type: string, { nodeId }: Record<string, unknown>): HeardDelta[] => {
  if (type === "settled") return inbox.texts();
  return typeof nodeId === "string" && type !== "node.started" ? inbox.texts(nodeId) : [];
};

/**
 * The ordered event log of an execution: what is recorded, then what happens, until it is final. Texts that are written
 * meanwhile come in pieces in between, each before the end of its node.
 */
export const createWatch = (
  stores: Pick<Stores, "log">,
  channel: Pick<EventChannel, "subscribe">,
  texts: Pick<TextStreams, "follow">,
  awaitDelivered: AwaitDelivered,
): Watch =>
  async function* watch(executionId, userId, after, signal) {
    const inbox = createInbox(channel, executionId, signal);
    let unfollow: (() => void) | undefined;
    let last = after;
    try {
      while (!signal.aborted) {
        const log = await stores.log.events(executionId, userId, last);
        if (!log) throw executionNotFound();
        await awaitDelivered(log.row);
        for (const { sequence, type, at, data } of log.events) {
          yield* textsBefore(inbox, type, data).map(deltaMessage);
          yield executions.WatchExecutionResponse.fromPartial({ sequence, type, at, dataJson: JSON.stringify(data) });
          last = sequence;
        }
        if (log.more) continue;
        if (isFinal(log.row)) return;
        unfollow ??= texts.follow(executionId);
        while ((await inbox.next()) === "texts") yield* inbox.texts().map(deltaMessage);
      }
    } finally {
      unfollow?.();
      inbox.stop();
    }
  };
