/**
 * `npm run drill proxies`: runs nginx and HAProxy, configured as in docs/operations/kubernetes.md, in front of a whole local platform. An
 * upload of 100 MB, a synchronous run of two minutes and an event stream longer than every time-out (STREAM_SECONDS; 3600 is an hour) must
 * pass through each. It needs both programs on PATH (Debian: nginx-light, haproxy), and affects only processes that it started.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../local/servers/ports.cjs";
import { acceptsConnections, waitUntil } from "../../local/servers/probe.mjs";
import { createApi, expecting } from "../support/api.mjs";
import { edge, node } from "../support/graph.mjs";
import { pause, readLocal, ROOT, startPlatform } from "../support/platform.mjs";
import { runDrill, seconds } from "../support/run-drill.mjs";

export const DRILL = {
  sentence: "sends a large upload, a long run and a long event stream through nginx and HAProxy with the settings of the docs",
  minutes: 6,
  builds: true,
};

const PAGE = join(ROOT, "docs", "operations", "kubernetes.md");
const UPLOAD_BYTES = 100_000_000;
const RUN_MS = 125_000;
/** Longest time until a synchronous run is answered, with its result or 202. */
const SYNC_LONGEST_MS = 120_000;
const STREAM_MS = Number(process.env.STREAM_SECONDS ?? 200) * 1_000;
/** A buffered event would arrive later, with another event or at the end. A heartbeat arrives every 15 s. */
const EVENT_AT_MOST_MS = 5_000;
const START_MS = 10_000;
const ADMIN = "/usr/sbin:/sbin";

/** @param {string} language */
const blockOfDocs = async (language) => {
  const [, block] = new RegExp(`\`\`\`${language} drill\n([^]*?)\`\`\``).exec(await readFile(PAGE, "utf8")) ?? [];
  if (block === undefined) throw new Error(`${PAGE} has no block of ${language}`);
  return block;
};

/** @param {string} folder @param {number} port @param {string} to `host:port` @param {string} settings */
const nginx = (folder, port, to, settings) => ({
  file: "nginx.conf",
  text: `daemon off; pid ${folder}/nginx.pid; error_log stderr warn; events {}
http {
  access_log off; client_body_temp_path ${folder}/bodies; proxy_temp_path ${folder}/proxied;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  server { listen 127.0.0.1:${port}; location / { proxy_pass http://${to}; ${settings} } }
}`,
  /** @param {string} file */
  args: (file) => ["-p", folder, "-c", file],
});

/** @type {typeof nginx} */
const haproxy = (_folder, port, to, settings) => ({
  file: "haproxy.cfg",
  text: `defaults\n${settings}\nfrontend public\n  bind 127.0.0.1:${port}\n  default_backend gateway\nbackend gateway\n  server gateway ${to}\n`,
  args: (file) => ["-f", file, "-db"],
});

const PROXIES = /** @type {const} */ ([
  ["nginx", nginx],
  ["haproxy", haproxy],
]);

/** @param {number} port */
const listens = async (port) => {
  if (!(await waitUntil(() => acceptsConnections("127.0.0.1", port), { deadlineMs: START_MS })))
    throw new Error(`nothing listens on port ${port}`);
};

/** @param {typeof PROXIES[number]} proxy @param {string} to @param {string} folder */
const startProxy = async ([program, configured], to, folder) => {
  const port = await freePort();
  const { file, text, args } = configured(folder, port, to, await blockOfDocs(program));
  const path = join(folder, file);
  await writeFile(path, text);
  const env = { ...process.env, PATH: `${process.env.PATH}:${ADMIN}` };
  const child = spawn(program, args(path), { stdio: ["ignore", "inherit", "inherit"], env });
  const failed = new Promise((_, reject) => {
    child.once("error", () =>
      reject(new Error(`${program} is not on PATH; Debian has it as ${program === "nginx" ? "nginx-light" : program}`)),
    );
    child.once("exit", (code) => reject(new Error(`${program} ended with ${code}`)));
  });
  failed.catch(() => {});
  await Promise.race([listens(port), failed]);
  return { name: program, baseUrl: `http://127.0.0.1:${port}`, stop: () => child.kill("SIGTERM") };
};

const input = node("in", "request-input", { fields: [{ name: "prompt", type: "text", label: "Prompt", default: "a loom" }] });
const out = node("out", "response-output");
const LONG = {
  name: "Proxies, a long run",
  nodes: [input, node("v", "generate-video", { model: "sandbox-video", inputs: { seconds: 1, sandbox: { latencyMs: RUN_MS } } }), out],
  edges: [edge("in.prompt", "v.prompt"), edge("v.video", "out.videos")],
};
const WAITING = {
  name: "Proxies, an approval",
  nodes: [input, node("ask", "approval", { title: "Go on?", timeoutHours: 2, onTimeout: "reject" }), out],
  edges: [edge("in.prompt", "ask.value"), edge("ask.approved", "out.text")],
};

/** A sound file of silence. */
const sound = () => {
  const file = Buffer.alloc(UPLOAD_BYTES);
  file.write("RIFF", 0);
  file.writeUInt32LE(UPLOAD_BYTES - 8, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(2, 22);
  file.writeUInt32LE(48_000, 24);
  file.writeUInt32LE(192_000, 28);
  file.writeUInt16LE(4, 32);
  file.writeUInt16LE(16, 34);
  file.write("data", 36);
  file.writeUInt32LE(UPLOAD_BYTES - 44, 40);
  return file;
};

/**
 * Reads an event stream to its end. @param {string} url @param {string} key
 * @param {(line: string) => void} onText receives each part when it arrives
 */
const readStream = async (url, key, onText) => {
  const response = await fetch(url, { headers: { "x-api-key": key } });
  if (response.status !== 200 || response.body === null) throw new Error(`${url} was answered ${response.status}`);
  const decoder = new TextDecoder();
  for await (const piece of response.body) onText(decoder.decode(piece, { stream: true }));
};

await runDrill("proxies", async ({ say, check, atEnd }) => {
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-proxies-"));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const platform = await startPlatform({ TRUST_PROXY: "1" });
  atEnd(platform.stop);
  const { accounts, baseUrl } = readLocal();
  const api = createApi(() => baseUrl);
  const key = accounts.enterprise.apiKey;
  const save = async (/** @type {object} */ graph) =>
    (await expecting(api.call)(201, "POST", "/api/workflows", { key, body: graph })).body.slug;
  const [long, waiting] = [await save(LONG), await save(WAITING)];

  await Promise.all(
    PROXIES.map(async (one) => {
      const proxy = await startProxy(one, new URL(baseUrl).host, folder);
      atEnd(proxy.stop);
      const through = createApi(() => proxy.baseUrl);
      say(`${proxy.name} is at ${proxy.baseUrl}`);

      const upload = async () => {
        const headers = { "x-api-key": key, "content-type": "audio/wav" };
        const response = await fetch(`${proxy.baseUrl}/api/media`, { method: "POST", headers, body: sound() });
        const detail = response.status === 201 ? "201" : `${response.status} ${await response.text()}`;
        check([`${proxy.name}: an upload of 100 MB is stored`, response.status === 201, detail]);
      };
      const run = async () => {
        const began = Date.now();
        const { status } = await through.call("POST", `/api/workflows/${long}/run`, { key, body: { inputs: {} } });
        const took = Date.now() - began;
        const isLong = took >= SYNC_LONGEST_MS - 1_000;
        check([`${proxy.name}: a run of two minutes is answered`, status === 202 && isLong, `${status} after ${seconds(took)} s`]);
      };
      const stream = async () => {
        const { body } = await through.call("POST", `/api/workflows/${waiting}/run?async=true`, { key, body: { inputs: {} } });
        let [heardAt, longestGap, text] = [Date.now(), 0, ""];
        const reading = readStream(`${proxy.baseUrl}/api/executions/${body.executionId}/events`, key, (piece) => {
          longestGap = Math.max(longestGap, Date.now() - heardAt);
          [heardAt, text] = [Date.now(), text + piece];
        });
        reading.catch(() => {});
        await Promise.race([reading, pause(STREAM_MS)]);
        const decided = Date.now();
        const decision = { nodeId: "ask", decision: "approve" };
        await expecting(through.call)(200, "POST", `/api/executions/${body.executionId}/decisions`, { key, body: decision });
        const outcome = await reading.then(
          () => "ended",
          (error) => String(error.cause ?? error),
        );
        const late = heardAt - decided;
        const isWhole = outcome === "ended" && text.includes("completed");
        check(
          [`${proxy.name}: an event stream of ${STREAM_MS / 1_000} s is whole`, isWhole, outcome],
          [`${proxy.name}: its heartbeats come through one by one`, longestGap < 20_000, `longest pause ${seconds(longestGap)} s`],
          [`${proxy.name}: its last event comes at once`, late < EVENT_AT_MOST_MS, `${seconds(late)} s after the decision`],
        );
      };
      await Promise.all([upload(), run(), stream()]);
    }),
  );
});
