"use strict";
/*
 * Preloaded with node --require in every process of a platform. In the executions process it counts calls of functions, in the main thread
 * and in each worker. GET to the address in NODELOOM_PROBE returns the calls of each thread since the previous request: [{"url": …,
 * "functions": [{"name": …, "offset": …, "count": …}]}].
 */
const { createServer } = require("node:http");
const { Session } = require("node:inspector");
const { BroadcastChannel, isMainThread, threadId } = require("node:worker_threads");

const OURS = /\/services\/executions\/dist\/|workflow-bundle/;
/** A thread that has ended doesn't answer. */
const ANSWER_MS = 2_000;

/** @typedef {{ url: string, functions: { name: string, offset: number, count: number }[] }} Script */

const startCounting = () => {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  /** Functions that this thread called since the previous request. @returns {Promise<Script[]>} */
  return () =>
    new Promise((resolve, reject) => {
      session.post("Profiler.takePreciseCoverage", (error, { result } = { result: [] }) => {
        if (error) return reject(error);
        const called = result
          .filter(({ url }) => OURS.test(url))
          .map(({ url, functions }) => ({
            url,
            functions: functions.flatMap(({ functionName, ranges: [range] }) =>
              range && range.count > 0 ? [{ name: functionName, offset: range.startOffset, count: range.count }] : [],
            ),
          }));
        resolve(called.filter(({ functions }) => functions.length > 0));
      });
    });
};

/** @param {() => Promise<Script[]>} take @param {BroadcastChannel} channel */
const answerMain = (take, channel) => {
  channel.onmessage = (/** @type {any} */ { data }) => {
    if (data.ask !== undefined) void take().then((scripts) => channel.postMessage({ answer: data.ask, threadId, scripts }));
  };
  channel.postMessage({ started: threadId });
};

/** @param {() => Promise<Script[]>} take @param {BroadcastChannel} channel @param {string} address */
const answerHttp = (take, channel, address) => {
  /** @type {Set<number>} */
  const threads = new Set();
  let askedCount = 0;
  /** @type {(data: any) => void} */
  let onAnswer = () => {};
  channel.onmessage = (/** @type {any} */ { data }) => {
    if (data.started !== undefined) threads.add(data.started);
    if (data.answer === askedCount) onAnswer(data);
  };
  /** @returns {Promise<Script[]>} */
  const askThreads = () =>
    new Promise((resolve) => {
      askedCount += 1;
      const waiting = new Set(threads);
      /** @type {Script[]} */
      const ownScripts = [];
      const finish = () => {
        clearTimeout(timer);
        for (const thread of waiting) threads.delete(thread);
        resolve(ownScripts);
      };
      const timer = setTimeout(finish, ANSWER_MS);
      onAnswer = ({ threadId: from, scripts }) => {
        ownScripts.push(...scripts);
        waiting.delete(from);
        if (waiting.size === 0) finish();
      };
      if (waiting.size === 0) finish();
      else channel.postMessage({ ask: askedCount });
    });
  const server = createServer(async (_request, response) => {
    const scripts = [...(await askThreads()), ...(await take())];
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(scripts));
  });
  server.listen(Number(address.split(":")[1]), address.split(":")[0]).unref();
};

const address = process.env.NODELOOM_PROBE;
if (address !== undefined && /services.executions/.test(process.argv[1] ?? "")) {
  const channel = new BroadcastChannel("nodeloom-probe");
  const take = startCounting();
  if (isMainThread) answerHttp(take, channel, address);
  else answerMain(take, channel);
  channel.unref();
}
