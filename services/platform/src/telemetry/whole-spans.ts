import type { Span, Work } from "./span";

/** Spans of one piece of work, and of all, that are held at most; those above leave at once. */
const MAX_OF_ONE = 64;
const MAX_OF_ALL = 4_096;

/**
 * Lets spans go when that has ended which this process was asked for. One that is killed would otherwise leave spans behind whose
 * parent it never ended: parts of a trace that hang from nothing. What was under way is then not in the trace; the attempt that
 * followed is.
 */
export const wholeSpans = (send: (span: Span) => void) => {
  /** Those of which spans are held. */
  const holding = new Set<Work>();
  let held = 0;

  const letGo = (work: Work): void => {
    if (!holding.delete(work)) return;
    held -= work.held.length;
    for (const span of work.held.splice(0)) send(span);
  };

  return {
    end: (span: Span): void => {
      const { work } = span;
      if (work.rootId === span.spanId) {
        work.isOpen = false;
        letGo(work);
      } else if (work.isOpen && work.held.length < MAX_OF_ONE && held < MAX_OF_ALL) {
        work.held.push(span);
        holding.add(work);
        held += 1;
        return;
      }
      send(span);
    },
    /** What is held, too. */
    letAllGo: (): void => {
      for (const work of holding) letGo(work);
    },
  };
};
