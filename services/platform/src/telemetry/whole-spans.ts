import type { tracing } from "@opentelemetry/sdk-node";

type Ended = Parameters<tracing.SpanProcessor["onEnd"]>[0];

/** Spans of one piece of work, and of all, that are held at most; those above leave at once. */
const MAX_OF_ONE = 64;
const MAX_OF_ALL = 4_096;

/** Something that this process was asked for: a request, an activity. */
interface Work {
  /** Its first span. */
  rootId: string;
  isOpen: boolean;
  held: Ended[];
}

/**
 * Lets spans go when that has ended which this process was asked for. One that is killed would otherwise leave spans behind whose
 * parent it never ended: parts of a trace that hang from nothing. What was under way is then not in the trace; the attempt that
 * followed is.
 */
export const wholeSpans = (next: tracing.SpanProcessor): tracing.SpanProcessor => {
  /** By the ids of spans that have begun and not ended. */
  const works = new Map<string, Work>();
  let held = 0;

  const letGo = (work: Work): void => {
    held -= work.held.length;
    for (const span of work.held.splice(0)) next.onEnd(span);
  };

  return {
    onStart: (span, context) => {
      next.onStart(span, context);
      const { spanId } = span.spanContext();
      const { parentSpanContext: parent } = span;
      const work = parent && !parent.isRemote ? works.get(parent.spanId) : undefined;
      works.set(spanId, work ?? { rootId: spanId, isOpen: true, held: [] });
    },
    onEnd: (span) => {
      const { spanId } = span.spanContext();
      const work = works.get(spanId);
      works.delete(spanId);
      if (work?.rootId === spanId) {
        work.isOpen = false;
        letGo(work);
      } else if (work?.isOpen && work.held.length < MAX_OF_ONE && held < MAX_OF_ALL) {
        work.held.push(span);
        held += 1;
        return;
      }
      next.onEnd(span);
    },
    forceFlush: () => next.forceFlush(),
    shutdown: () => {
      for (const work of works.values()) letGo(work);
      return next.shutdown();
    },
  };
};
