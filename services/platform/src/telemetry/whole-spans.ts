import { trace } from "@opentelemetry/api";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace";

/** Spans of one piece of work, and of all, that are held at most; further ones leave at once. */
const MAX_OF_ONE = 64;
const MAX_OF_ALL = 4_096;

/** A request or an activity of this process, from its first span. */
interface Work {
  isOpen: boolean;
  readonly held: ReadableSpan[];
}

/**
 * Passes the spans of a piece of work on when its first span has ended. A process that is killed would otherwise leave spans whose
 * parent was never sent.
 */
export const wholeSpans = (next: SpanProcessor): SpanProcessor => {
  const works = new WeakMap<object, Work>();
  const firsts = new WeakSet<object>();
  const holding = new Set<Work>();
  let held = 0;

  const letGo = (work: Work): void => {
    if (!holding.delete(work)) return;
    held -= work.held.length;
    for (const span of work.held.splice(0)) next.onEnd(span);
  };
  const letAllGo = (): void => holding.forEach(letGo);

  return {
    onStart: (span, context) => {
      const parent = trace.getSpan(context);
      const work = parent && works.get(parent);
      if (!work) firsts.add(span);
      works.set(span, work ?? { isOpen: true, held: [] });
      next.onStart(span, context);
    },
    onEnd: (span) => {
      const work = works.get(span);
      if (work && firsts.has(span)) {
        work.isOpen = false;
        letGo(work);
      } else if (work?.isOpen && work.held.length < MAX_OF_ONE && held < MAX_OF_ALL) {
        work.held.push(span);
        holding.add(work);
        held += 1;
        return;
      }
      next.onEnd(span);
    },
    forceFlush: () => next.forceFlush(),
    shutdown: () => {
      letAllGo();
      return next.shutdown();
    },
  };
};
