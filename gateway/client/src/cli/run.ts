import type { Quote } from "../api-types";
import type { Client } from "../client";
import { failureOf, selectionOf, textFollower, type Delta, type Target } from "../runs";
import { targetOf } from "./arguments";
import { FILES, readInputs, type InputTypes } from "./inputs";
import { EXIT, Refusal } from "./outcome";
import { saveFiles } from "./results";
import type { Outcome, Terminal } from "./terminal";

export interface RunOptions {
  /** Only prints the price. */
  quote?: boolean;
  output?: string;
  maxCredits?: number;
  until?: string;
  alias?: string;
  idempotencyKey?: string;
  webhook?: string;
  webhookEvents?: string;
}

/** Undefined without `--webhook`. @throws Refusal for events without an address */
export const webhookOf = ({ webhook: url, webhookEvents }: RunOptions): { url: string; events?: string[] } | undefined => {
  if (url === undefined && webhookEvents !== undefined) throw new Refusal("--webhook-events needs --webhook");
  if (url === undefined) return undefined;
  return { url, ...(webhookEvents === undefined ? {} : { events: webhookEvents.split(",") }) };
};

export const typesOf = async (client: Client, target: Target): Promise<InputTypes> => {
  if ("workflow" in target) {
    const { fields } = await client.workflows.schema(target.workflow, { alias: target.alias });
    return new Map(fields.map(({ name, type, multiple }) => [name, multiple === true ? FILES : type]));
  }
  const { inputSchema } = await client.models.get(target.model);
  const properties = (inputSchema as { properties?: Record<string, { type?: string }> }).properties ?? {};
  return new Map(Object.entries(properties).flatMap(([name, { type }]) => (type === undefined ? [] : [[name, type]])));
};

/** Credits above this number are shown without decimals. */
const SHOWN_WHOLE = 10;
const credits = (amount: number): string => `${amount >= SHOWN_WHOLE ? Math.round(amount) : Math.round(amount * 1_000) / 1_000} credits`;

/**
 * Cancels the run when the command is interrupted.
 * @returns `stop`, and `ending`: the result of the cancellation after an interrupt
 */
const cancelOnInterrupt = (client: Client, executionId: string, terminal: Terminal) => {
  let ending: Promise<void> | undefined;
  const cancel = (): void => {
    terminal.note("cancelling");
    ending = client.cancel(executionId).then(
      (status) => terminal.end(EXIT.interrupted, `execution ${executionId}: ${status}`),
      (error: unknown) => terminal.end(EXIT.interrupted, `execution ${executionId} may go on: ${(error as Error).message}`),
    );
  };
  process.once("SIGINT", cancel);
  return { ending: () => ending, stop: (): void => void process.off("SIGINT", cancel) };
};

/**
 * Shows an execution until it ends.
 * @param isText whether its result is the text that it streams
 * @throws NodeloomError if it failed or was cancelled
 */
export const follow = async (client: Client, executionId: string, terminal: Terminal, isText = false): Promise<Outcome> => {
  const follower = textFollower(undefined);
  for await (const { type, data } of client.events(executionId)) {
    terminal.event(type, data);
    const piece = isText && type === "node.delta" ? follower.piece(data as unknown as Delta) : undefined;
    if (piece !== undefined) terminal.piece(piece);
  }
  const execution = await client.executions.get(executionId);
  const { status, result = {}, creditsCost, durationMs } = execution;
  if (status !== "completed") throw failureOf(execution);
  terminal.note(`completed in ${(durationMs / 1_000).toFixed(1)} s, ${credits(creditsCost)}`);
  return { executionId, result, cost: creditsCost, ms: durationMs };
};

const bodyOf = (inputs: string, more: Readonly<Record<string, unknown>>): string => {
  const members = JSON.stringify(more).slice(1, -1);
  return `{"inputs":${inputs}${members === "" ? "" : ","}${members}}`;
};

/** Quotes a run. @param text body of the request */
const quote = async (client: Client, target: Target, text: string): Promise<Quote> => {
  const { body } =
    "workflow" in target
      ? await client.requestText("quoteWorkflow", { text, params: { slug: target.workflow }, query: selectionOf(target) })
      : await client.requestText("quoteModel", { text, params: { internalName: target.model } });
  return JSON.parse(body) as Quote;
};

/**
 * Starts a run without waiting.
 * @param text body of the request
 * @returns its execution id
 */
const start = async (client: Client, target: Target, text: string, idempotencyKey: string | undefined): Promise<string> => {
  const request = { text, idempotencyKey, headers: { prefer: "respond-async" } };
  const { headers } =
    "workflow" in target
      ? await client.requestText("runWorkflow", { ...request, params: { slug: target.workflow }, query: selectionOf(target) })
      : await client.requestText("runModel", { ...request, params: { internalName: target.model } });
  return headers.get("x-execution-id") ?? "";
};

/** Quotes and starts a run, follows it to the end and saves its files. With `quote`, only quotes it. */
export const run = async (
  client: Client,
  name: string,
  parts: readonly string[],
  options: RunOptions,
  terminal: Terminal,
): Promise<void> => {
  const { output, maxCredits, until, alias, idempotencyKey } = options;
  const target = targetOf(name, { until, alias });
  const webhook = webhookOf(options);
  const inputs = await readInputs(client, parts, await typesOf(client, target));
  const quotation = await quote(client, target, bodyOf(inputs, { until }));
  const { estimatedCreditCost, maxCreditCost, exact } = quotation;
  const most = maxCreditCost ?? 0;
  const about = estimatedCreditCost ?? 0;
  const estimate = about === most ? "" : `about ${credits(about)}, `;
  const price = exact ? credits(most) : `${estimate}at most ${credits(most)}`;
  if (options.quote) return terminal.value(quotation, price);
  terminal.note(price);
  const executionId = await start(client, target, bodyOf(inputs, { maxCredits, until, webhook }), idempotencyKey);
  terminal.note(`execution ${executionId}`);
  const interrupt = cancelOnInterrupt(client, executionId, terminal);
  try {
    const outcome = await follow(client, executionId, terminal, "model" in target);
    const files = output === undefined ? [] : await saveFiles(outcome.result, output);
    terminal.result({ ...outcome, ...(output === undefined ? {} : { files }) }, files);
  } catch (error) {
    // The run ends because the user cancelled it, which isn't a failure.
    await interrupt.ending();
    throw error;
  } finally {
    interrupt.stop();
  }
};
