import { recordSpans, type Span } from "../../src/telemetry/span";

/** Records the spans of this process for a test, in the order in which they end. */
export const recordEndedSpans = (isOfShare: (traceId: string) => boolean = () => true): { ended: Span[]; stop: () => void } => {
  const ended: Span[] = [];
  let ids = 0;
  const newId = (digits: number): string => (ids += 1).toString(16).padStart(digits, "0");
  recordSpans({ newTraceId: () => newId(32), newSpanId: () => newId(16), isOfShare, end: (span) => void ended.push(span) });
  return { ended, stop: () => recordSpans(undefined) };
};
