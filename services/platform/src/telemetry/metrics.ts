import { monitorEventLoopDelay } from "node:perf_hooks";
import { metrics, type Attributes, type Meter } from "@opentelemetry/api";

/** Bucket bounds in seconds, from a call between services to the longest run. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400];
const MS = 1_000;

const meterOf = (): Meter => metrics.getMeter("nodeloom");

/** Instruments are created on first use, because an instrument created before `startTelemetry` is never exported. */
const lazy = <T>(create: (meter: Meter) => T): (() => T) => {
  let instrument: T | undefined;
  return () => (instrument ??= create(meterOf()));
};

export type CountEvent = (attributes?: Attributes) => void;
export type AddAmount = (amount: number, attributes?: Attributes) => void;
export type RecordDuration = (milliseconds: number, attributes?: Attributes) => void;
export type Stop = () => void;

/** Counts events. Attributes must be constants in the code, never names or ids of users or their data. */
export const eventCounter = (name: string, description: string): CountEvent => {
  const counter = lazy((meter) => meter.createCounter(name, { description }));
  return (attributes) => counter().add(1, attributes);
};

export const amountCounter = (name: string, description: string): AddAmount => {
  const counter = lazy((meter) => meter.createCounter(name, { description }));
  return (amount, attributes) => counter().add(amount, attributes);
};

/** Records durations. Accepts milliseconds and exports seconds. */
export const durationHistogram = (name: string, description: string): RecordDuration => {
  const histogram = lazy((meter) => meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: SECONDS } }));
  return (milliseconds, attributes) => histogram().record(Math.max(0, milliseconds) / MS, attributes);
};

export interface Reading {
  value: number;
  attributes?: Attributes;
}

/**
 * Reads a value at each collection. Call it when a service starts, not earlier.
 * @returns a function that stops it
 */
export const observedGauge = (name: string, description: string, readValues: () => Reading[] | Promise<Reading[]>): Stop => {
  const gauge = meterOf().createObservableGauge(name, { description });
  const observe: Parameters<typeof gauge.addCallback>[0] = async (result) => {
    for (const { value, attributes } of await readValues()) result.observe(value, attributes);
  };
  gauge.addCallback(observe);
  return () => gauge.removeCallback(observe);
};

const expiries = new Map<string, () => Date>();

/**
 * Reports when a certificate of this process expires.
 * @param use purpose of the certificate, as a word from the code
 */
export const observeExpiry = (use: string, expires: () => Date): void => void expiries.set(use, expires);

const NANOSECONDS = 1e9;

/**
 * Measures the process's memory and the delay of its event loop.
 * @returns a function that stops it
 */
export const observeProcess = (): Stop => {
  const loop = monitorEventLoopDelay({ resolution: 20 });
  loop.enable();
  const gauges = [
    observedGauge(
      "nodeloom.process.event_loop.delay",
      "99th percentile of the event loop's delay since the last reading, in seconds",
      () => {
        const value = loop.percentile(99) / NANOSECONDS;
        loop.reset();
        return [{ value }];
      },
    ),
    observedGauge("nodeloom.certificate.expires", "when a certificate of the process ends, in Unix seconds", () =>
      [...expiries].map(([use, expires]) => ({ value: Math.floor(expires().getTime() / MS), attributes: { use } })),
    ),
    observedGauge("nodeloom.process.memory", "memory of the process in bytes", () => {
      const { rss, heapUsed } = process.memoryUsage();
      return [
        { value: rss, attributes: { kind: "resident" } },
        { value: heapUsed, attributes: { kind: "heap" } },
      ];
    }),
  ];
  return () => {
    loop.disable();
    for (const end of gauges) end();
  };
};
