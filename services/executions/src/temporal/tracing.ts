import type { WorkflowClientInterceptor } from "@temporalio/client";
import type { ActivityInterceptorsFactory, InjectedSinks } from "@temporalio/worker";
import { spanExport } from "@nodeloom/platform";
import { tracedBundlePath } from "./bundle";

/** What makes Temporal a part of traces. */
export interface TemporalTracing {
  /** The workflow code with interceptors that make spans: a megabyte that untraced workers don't load. */
  bundlePath: string;
  client: WorkflowClientInterceptor[];
  activity: ActivityInterceptorsFactory[];
  sinks: InjectedSinks<never>;
}

/**
 * Continues a request's trace through the start of its workflow, the workflow and its activities. A span of a workflow has the
 * same id on whichever worker it ends. @returns nothing where this process is not traced
 */
export const temporalTracing = async (): Promise<TemporalTracing | undefined> => {
  const to = spanExport();
  if (!to) return undefined;
  const { makeWorkflowExporter, OpenTelemetryActivityInboundInterceptor, OpenTelemetryWorkflowClientInterceptor } =
    await import("@temporalio/interceptors-opentelemetry-v2");
  return {
    bundlePath: tracedBundlePath,
    client: [new OpenTelemetryWorkflowClientInterceptor()],
    activity: [(context) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(context) })],
    sinks: { exporter: makeWorkflowExporter(to.processor, to.resource) } as unknown as InjectedSinks<never>,
  };
};
