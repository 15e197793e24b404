import { propagation, trace } from "@opentelemetry/api";
import { defaultResource } from "@opentelemetry/resources";
import { InMemorySpanExporter, type ReadableSpan } from "@opentelemetry/sdk-trace";
import { startTracing } from "../../src/telemetry/tracer-provider";

export interface RecordedSpans {
  /** Exported spans so far, in order. */
  left(): Promise<ReadableSpan[]>;
  stop(): Promise<void>;
}

/**
 * Traces this process for a test.
 * @param share share of all traces
 */
export const recordSpans = (share = 1): RecordedSpans => {
  const exporter = new InMemorySpanExporter();
  const provider = startTracing({ exporter, resource: defaultResource(), share, everyMs: 1_000 });
  return {
    left: async () => {
      await provider.forceFlush();
      return exporter.getFinishedSpans();
    },
    stop: async () => {
      await provider.shutdown();
      trace.disable();
      propagation.disable();
    },
  };
};
