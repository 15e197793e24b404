import autocannon from "autocannon";
import { startChild } from "../child";
import { metricsOf } from "../metrics";
import { alternate, figuresOf, medianFigures, type Figures } from "../rounds";
import type { ExpressAnswer, ExpressQuestion } from "../bare/express";
import type { Bench, Scenario } from "./scenario";

const PATH = "/api/whoami";
const CONNECTIONS = 20;

/** Sends a request as soon as the previous one is answered. @throws Error for any response other than 200 */
const hammer = async (url: string, key: string, durationMs: number): Promise<Figures> => {
  const latenciesMs: number[] = [];
  const options = { url, connections: CONNECTIONS, duration: durationMs / 1_000, headers: { "x-api-key": key } };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(options, (error: Error | null, measured: autocannon.Result) => (error ? reject(error) : resolve(measured)));
    // The library's own histogram only has whole milliseconds.
    instance.on("response", (_client, _status, _bytes, responseMs) => latenciesMs.push(responseMs));
  });
  const bad = result.errors + result.timeouts + result.non2xx;
  if (bad > 0) throw new Error(`${bad} requests to ${url} failed`);
  return figuresOf({ latenciesMs, seconds: result.duration });
};

/** Cost of the edge: a request that needs only its caller, relative to a handler without authentication. */
export const whoami: Scenario = {
  title: "GET /api/whoami by key, against a bare Express handler",
  measure: async ({ local, api, key, extent, note }: Bench) => {
    const body = await api.expect<object>(200, "GET", PATH);
    const express = startChild<ExpressQuestion, ExpressAnswer>("bare/express");
    try {
      const { url } = await express.ask({ path: PATH, body });
      const side = (base: string) => (durationMs: number) => hammer(base + PATH, key, durationMs);
      const sides = { ours: side(local.baseUrl), bare: side(url) };
      note(`${CONNECTIONS} connections`);
      await sides.ours(extent.warmUpMs);
      await sides.bare(extent.warmUpMs);
      const rounds = await alternate(extent.rounds, {
        ours: () => sides.ours(extent.roundMs),
        bare: () => sides.bare(extent.roundMs),
      });
      const figures = { ours: medianFigures(rounds.ours), bare: medianFigures(rounds.bare) };
      return metricsOf("a", "whoami", figures, { "per second": { kind: "ratio at least", value: 0.35 }, p50: null, p99: null });
    } finally {
      await express.stop();
    }
  },
};
