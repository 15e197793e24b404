import { trace } from "@opentelemetry/api";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace";

/** Maximum spans held per piece of work, and in total. Further spans are exported immediately. */
const MAX_OF_ONE = 64;
const MAX_OF_ALL = 4_096;

/** A request or an activity in this process, starting with its first span. */
interface Work {
  isOpen: boolean;
  readonly spans: ReadableSpan[];
}

/**
 * Exports the spans of a piece of work after its first span has ended. Otherwise a killed process would leave spans whose parent was never
 * sent.
 */
export const wholeSpans = (next: SpanProcessor): SpanProcessor => {
  const works = new WeakMap<object, Work>();
  const firsts = new WeakSet<object>();
  const holding = new Set<Work>();
  let heldSpans = 0;

  const letGo = (work: Work): void => {
    if (!holding.delete(work)) return;
    heldSpans -= work.spans.length;
    for (const span of work.spans.splice(0)) next.onEnd(span);
  };
  const letAllGo = (): void => holding.forEach(letGo);

  return {
    onStart: (span, context) => {
      const parent = trace.getSpan(context);
      const work = parent && works.get(parent);
      if (!work) firsts.add(span);
      works.set(span, work ?? { isOpen: true, spans: [] });
      next.onStart(span, context);
    },
    onEnd: (span) => {
      const work = works.get(span);
      if (work && firsts.has(span)) {
        work.isOpen = false;
        letGo(work);
      } else if (work?.isOpen && work.spans.length < MAX_OF_ONE && heldSpans < MAX_OF_ALL) {
        work.spans.push(span);
        holding.add(work);
        heldSpans += 1;
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
