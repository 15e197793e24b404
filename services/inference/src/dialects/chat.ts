import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Availability } from "@nodeloom/platform";
import { Router, type Response } from "express";
import type { EngineResult } from "../engines/engine";
import { asProviderError, requireReady } from "../http/failures";
import { parseBody, ProviderError } from "../http/provider-error";
import { CHAT_MODELS, type LocalModel } from "../models";
import { ownAvailability, type OwnModels } from "../own/own-models";
import type { Pool } from "../pool/pool";
import { chatInputs, chatSchema, type ChatRequest } from "./chat-request";

export interface ChatDialectOptions {
  pool: Pool;
  /** Folder for temporary files. */
  directory: string;
  availability: (model: LocalModel) => Promise<Availability>;
  /** Models from the operator's files. */
  own: OwnModels;
  maxWaitMs: number;
}

interface Answer {
  id: string;
  created: number;
  model: string;
}

const usageOf = ({ usage = { inputTokens: 0, outputTokens: 0 } }: EngineResult) => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
});
const finishOf = ({ isCut }: EngineResult): "length" | "stop" => (isCut ? "length" : "stop");

const answerWhole = (response: Response, answer: Answer, result: EngineResult): void => {
  const choice = {
    index: 0,
    message: { role: "assistant", content: result.text ?? "", refusal: null },
    logprobs: null,
    finish_reason: finishOf(result),
  };
  response.json({ ...answer, object: "chat.completion", choices: [choice], usage: usageOf(result) });
};

/** Writes server-sent events. The first event waits for the model's first output, so that earlier errors can still set the status. */
const createStream = (response: Response, answer: Answer, withUsage: boolean) => {
  const send = (members: object): void => {
    response.write(`data: ${JSON.stringify({ ...answer, object: "chat.completion.chunk", ...members })}\n\n`);
  };
  const choose = (delta: object, finish: string | null = null): void => send({ choices: [{ index: 0, delta, finish_reason: finish }] });
  const begin = (): void => {
    if (response.headersSent) return;
    response.type("text/event-stream").set("cache-control", "no-cache");
    choose({ role: "assistant", content: "" });
  };
  return {
    piece: (content: string): void => {
      begin();
      choose({ content });
    },
    end: (result: EngineResult): void => {
      begin();
      choose({}, finishOf(result));
      if (withUsage) send({ choices: [], usage: usageOf(result) });
      response.end("data: [DONE]\n\n");
    },
  };
};

/** OpenAI-compatible chat completions, complete or streamed. */
export const chatDialect = ({ pool, directory, availability, own, maxWaitMs }: ChatDialectOptions): Router => {
  const router = Router();

  /** @throws ProviderError 404, 503 */
  const check = async ({ model: name }: ChatRequest): Promise<LocalModel> => {
    if (Object.hasOwn(CHAT_MODELS, name)) {
      const model = CHAT_MODELS[name]!;
      requireReady(name, await availability(model));
      return model;
    }
    const owned = await own();
    const ownModel = owned.find((one) => one.name === name);
    if (!ownModel) {
      const names = [...Object.keys(CHAT_MODELS), ...owned.map((one) => one.name)].join(", ");
      throw new ProviderError(404, "model_not_found", `no such model: ${name.slice(0, 100)}; there are ${names}`, { param: "model" });
    }
    requireReady(name, await ownAvailability(ownModel, availability));
    return ownModel.model;
  };

  router.post("/v1/chat/completions", async (request, response) => {
    const body = parseBody(chatSchema, request.body);
    const model = await check(body);
    const answer = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1_000), model: body.model };
    const stream = body.stream ? createStream(response, answer, body.stream_options?.include_usage === true) : undefined;
    const disconnect = new AbortController();
    response.once("close", () => disconnect.abort(new Error("the client has gone")));
    const folder = await mkdtemp(join(directory, "request-"));
    try {
      const report = { progress: () => undefined, text: (piece: string) => stream?.piece(piece) };
      const begin = () => Promise.resolve({ inputs: { ...chatInputs(body) }, files: {}, folder });
      const result = await pool.run(body.model, model, begin, { report, signal: disconnect.signal, maxWaitMs });
      if (!stream) return answerWhole(response, answer, result);
      stream.end(result);
    } catch (error) {
      if (disconnect.signal.aborted) return;
      // In a stream, closing the connection is the only way to report an error.
      if (response.headersSent) return void response.destroy();
      throw asProviderError(body.model, error) ?? error;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  router.get("/v1/models", async (_request, response) => {
    const names = [...Object.keys(CHAT_MODELS), ...(await own()).map(({ name }) => name)];
    const data = names.map((id) => ({ id, object: "model", created: 0, owned_by: "nodeloom-local" }));
    response.json({ object: "list", data });
  });

  return router;
};
