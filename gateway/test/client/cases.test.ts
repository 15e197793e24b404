import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, NodeloomError, type Client, type Target } from "@nodeloom/client";
import { startScripted, type Script, type ScriptedService } from "./server";

interface Case {
  name: string;
  script: Script[];
  call: {
    method: string;
    workflow?: string;
    model?: string;
    inputs?: Record<string, unknown>;
    maxCredits?: number;
    until?: string;
    alias?: string;
    version?: number;
  };
  maxRetries?: number;
  result?: unknown;
  error?: { status: number; code: string | null; message: string };
  sent?: { method: string; path: string; json?: unknown }[];
  sentCount?: number;
  oneKey?: boolean;
}

const { about, cases } = JSON.parse(readFileSync(join(__dirname, "cases.json"), "utf8")) as { about: string; cases: Case[] };

let service: ScriptedService;
afterEach(() => service.stop());

const perform = (
  client: Client,
  { method, workflow = "", model, inputs = {}, maxCredits, until, ...selection }: Case["call"],
): Promise<unknown> => {
  const { alias = "", version = 0 } = selection;
  const target: Target = model === undefined ? { workflow, until, ...selection } : { model };
  switch (method) {
    case "run":
      return client.run(target, inputs, { maxCredits });
    case "quote":
      return client.quote(target, inputs);
    case "get":
      return client.workflows.get(workflow);
    case "delete":
      return client.workflows.delete(workflow);
    case "setAlias":
      return client.workflows.setAlias(workflow, alias, { version });
    case "whoami":
      return client.whoami();
    default:
      throw new Error(`no such method: ${method}`);
  }
};

describe(about, () => {
  it.each(cases.map((one) => [one.name, one] as const))("%s", async (_name, one) => {
    service = await startScripted(...one.script);
    const client = createClient({ baseUrl: service.baseUrl, apiKey: "nl_test", maxRetries: one.maxRetries });
    const outcome = await perform(client, one.call).catch((error: unknown) => error);
    if (one.error) {
      expect(outcome).toBeInstanceOf(NodeloomError);
      const { status, code = null, message } = outcome as NodeloomError;
      // An error without a response has the request's address and the reason.
      expect({ status, code, message }).toEqual({ ...one.error, message: expect.stringContaining(one.error.message) as string });
    } else if (one.result === undefined) expect(outcome).toBeUndefined();
    else expect(outcome).toMatchObject(one.result as object);
    expect(service.received).toHaveLength(one.sentCount ?? one.sent!.length);
    for (const [at, { method, path, json }] of (one.sent ?? []).entries()) {
      expect(service.received[at]).toMatchObject({ method, path });
      if (json !== undefined) expect(JSON.parse(service.received[at]!.body)).toEqual(json);
    }
    if (one.oneKey) expect(new Set(service.received.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  });
});
