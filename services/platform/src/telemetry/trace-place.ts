/** Where a trace is: the span that what follows hangs from. Told from process to process as the W3C's Trace Context has it. */
export interface TracePlace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** What other tracing systems say of it, for one another. */
  readonly state: string | undefined;
}

/** What tells a callee the trace; empty when there is none. */
export type TraceHeaders = Record<string, string>;

const PARENT = "traceparent";
const STATE = "tracestate";
const TRACE_PARENT =
  /^\s?(?<version>(?!ff)[\da-f]{2})-(?<traceId>(?!0{32})[\da-f]{32})-(?<spanId>(?!0{16})[\da-f]{16})-(?<flags>[\da-f]{2})(?<more>-.*)?\s?$/;

interface TraceParent {
  version: string;
  traceId: string;
  spanId: string;
  flags: string;
  more?: string;
}

const TRACE_STATE = /^[\x20-\x7e]{1,512}$/;
const SAMPLED = 1;

export const toTraceHeaders = ({ traceId, spanId, isSampled, state }: TracePlace): TraceHeaders => {
  const parent = `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
  return state === undefined ? { [PARENT]: parent } : { [PARENT]: parent, [STATE]: state };
};

/** @param read a header's value @returns nothing where no trace is told, or none that can be read */
export const fromTraceHeaders = (read: (name: string) => unknown): TracePlace | undefined => {
  const parent = read(PARENT);
  if (typeof parent !== "string") return undefined;
  const found = TRACE_PARENT.exec(parent)?.groups as TraceParent | undefined;
  // A later version may tell more; the first one never does.
  if (!found || (found.version === "00" && found.more !== undefined)) return undefined;
  const state = read(STATE);
  return {
    traceId: found.traceId,
    spanId: found.spanId,
    isSampled: (Number.parseInt(found.flags, 16) & SAMPLED) === SAMPLED,
    state: typeof state === "string" && TRACE_STATE.test(state) ? state : undefined,
  };
};
