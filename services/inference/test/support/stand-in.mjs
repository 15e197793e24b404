import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Replaces a model's process. The first word of the prompt selects its behaviour. It records each request in the folder of its engines. */
let folder;
let weights;
const buffers = [];
const send = (message) => process.send?.(message);

const makeWav = (request) => {
  writeFileSync(join(request.folder, "made.wav"), `sound of ${request.inputs.prompt ?? "nothing"}`);
  return { type: "done", result: { files: [{ name: "made.wav", contentType: "audio/wav" }] } };
};

const acts = {
  crash: () => process.kill(process.pid, "SIGKILL"),
  "crash-once": (request) => {
    const mark = join(folder, "crashed");
    if (existsSync(mark)) return send(makeWav(request));
    writeFileSync(mark, "");
    process.kill(process.pid, "SIGKILL");
  },
  "deaf-once": (request) => {
    const mark = join(folder, "deaf");
    if (existsSync(mark)) return send(makeWav(request));
    writeFileSync(mark, "");
    process.removeAllListeners("disconnect");
    process.disconnect();
    setInterval(() => undefined, 1_000);
  },
  hang: () => send({ type: "progress", share: 0.25 }),
  eat: () => setInterval(() => buffers.push(Buffer.alloc(32 * 1024 * 1024, 1)), 20),
  refuse: () => send({ type: "failed", message: "prompt: it can't be done", isInput: true }),
  break: () => send({ type: "failed", message: "the engine is broken", isInput: false }),
  leave: (request) => {
    process.removeAllListeners("disconnect");
    process.send(makeWav(request), () => process.disconnect());
    setInterval(() => undefined, 1_000);
  },
  slow: (request) => setTimeout(() => send(makeWav(request)), 300),
};

const chat = ({ inputs }) => {
  const question = inputs.messages.at(-1).text;
  if (question === "break off") {
    send({ type: "text", piece: "half " });
    // Sends the piece before the process ends.
    setTimeout(() => process.kill(process.pid, "SIGKILL"), 50);
    return;
  }
  if (acts[question]) return acts[question]({ inputs: {} });
  const reply = weights ? `${basename(weights)} says ${question}` : `you said ${question}`;
  const text = inputs.schema ? JSON.stringify({ said: question }) : reply;
  for (const piece of text.match(/.{1,4}/gs)) send({ type: "text", piece });
  send({ type: "done", result: { text, isCut: false, usage: { inputTokens: 3, outputTokens: 5 } } });
};

process.on("disconnect", () => process.exit(0));
process.on("message", (message) => {
  if (message.type === "load") {
    folder = message.options.cacheFolders.engines;
    weights = message.options.weightsFile;
    return send({ type: "ready" });
  }
  const { request } = message;
  if (folder) appendFileSync(join(folder, "requests"), `${request.inputs.prompt ?? "chat"}\n`);
  if (request.inputs.messages) return chat(request);
  if (request.files.audio) {
    const words = [{ text: "hello", start: 0.5, end: 1 }];
    return send({ type: "done", result: { text: "hello", json: { text: "hello", language: "en", duration: 1, words } } });
  }
  const act = acts[String(request.inputs.prompt ?? "").split(" ")[0]];
  if (act) return act(request);
  send({ type: "progress", share: 0.5 });
  send(makeWav(request));
});
