import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { startChild } from "../../local/run/child.mjs";
import ports from "../../local/servers/ports.cjs";

/**
 * A Kubernetes API server on loopback with an etcd in a temporary folder. It validates and stores objects like any cluster. Controllers in
 * nodes.mjs act on them.
 */

const READY_MS = 120_000;
const LOOK_MS = 250;
const OK = 200;
const CLIENT_ERROR = 400;

/**
 * @typedef {{ status: number, body: any, warnings: string[] }} Answer
 * @typedef {object} Cluster
 * @property {string} kubeconfig path of a file
 * @property {{ accounts: string, authority: string }} keys paths: the key that signs service accounts' tokens, and the authority of the
 *   server's certificate
 * @property {(method: string, path: string, body?: object) => Promise<Answer>} call
 * @property {(method: string, path: string, body?: object) => Promise<Answer>} must throws for a rejected request
 * @property {() => Promise<void>} stop
 */

/** @param {{ url: string, ca: Buffer, token: string }} target @param {string} method @param {string} path @param {object} [body] @returns {Promise<Answer>} */
const callApi = ({ url, ca, token }, method, path, body) =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const outgoing = request(`${url}${path}`, { method, ca, headers }, (response) => {
      text(response).then((answer) => {
        const warnings = [response.headers.warning ?? []].flat().map(String);
        const isJson = String(response.headers["content-type"]).includes("json");
        resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(answer) : answer, warnings });
      }, reject);
    });
    outgoing.once("error", reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });

/** @param {string} folder @param {string} url @param {string} token */
const writeKubeconfig = async (folder, url, token) => {
  const path = join(folder, "kubeconfig");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "local", cluster: { server: url, "certificate-authority": join(folder, "apiserver.crt") } }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name: "local", context: { cluster: "local", user: "admin" } }],
    "current-context": "local",
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
};

/** @param {string} folder @param {string} token */
const writeKeys = async (folder, token) => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  await writeFile(join(folder, "accounts.key"), privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  await writeFile(join(folder, "accounts.pub"), publicKey.export({ type: "spki", format: "pem" }));
  await writeFile(join(folder, "tokens.csv"), `${token},admin,admin,system:masters\n`, { mode: 0o600 });
};

/** @param {() => Promise<boolean>} isReady @param {import("../../local/run/child.mjs").Child} child @param {string} name */
const untilReady = async (isReady, child, name) => {
  for (const end = Date.now() + READY_MS; Date.now() < end;) {
    if (await isReady().catch(() => false)) return;
    if (child.process.exitCode !== null) break;
    await delay(LOOK_MS);
  }
  throw new Error(`${name} did not start:\n${child.tail()}`);
};

/** @param {{ etcd: string, apiServer: string }} programs @returns {Promise<Cluster>} */
export const startCluster = async ({ etcd, apiServer }) => {
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-kube-"));
  const token = randomBytes(16).toString("hex");
  const [store, peers, port] = [await ports.freePort(), await ports.freePort(), await ports.freePort()];
  const [storeUrl, peersUrl, url] = [`http://127.0.0.1:${store}`, `http://127.0.0.1:${peers}`, `https://127.0.0.1:${port}`];
  await writeKeys(folder, token);
  const etcdArgs = ["--data-dir", join(folder, "etcd"), "--listen-client-urls", storeUrl, "--advertise-client-urls", storeUrl];
  const peerArgs = ["--listen-peer-urls", peersUrl, "--initial-advertise-peer-urls", peersUrl, "--initial-cluster", `default=${peersUrl}`];
  /** @type {import("../../local/run/child.mjs").Child[]} */
  const children = [];
  const stop = async () => {
    for (const child of children.reverse()) await child.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const storeChild = await startChild({ command: etcd, args: [...etcdArgs, ...peerArgs, "--unsafe-no-fsync"] });
    children.push(storeChild);
    await untilReady(async () => (await fetch(`${storeUrl}/health`)).ok, storeChild, "etcd");
    const server = await startChild({
      command: apiServer,
      args: [
        `--etcd-servers=${storeUrl}`,
        "--bind-address=127.0.0.1",
        `--secure-port=${port}`,
        `--cert-dir=${folder}`,
        `--token-auth-file=${join(folder, "tokens.csv")}`,
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--service-account-issuer=https://kubernetes.default.svc",
        `--service-account-key-file=${join(folder, "accounts.pub")}`,
        `--service-account-signing-key-file=${join(folder, "accounts.key")}`,
      ],
    });
    children.push(server);
    const target = async () => ({ url, token, ca: await readFile(join(folder, "apiserver.crt")) });
    await untilReady(async () => (await callApi(await target(), "GET", "/readyz")).status === OK, server, "kube-apiserver");
    const ready = await target();
    /** @type {Cluster["call"]} */
    const call = (method, path, body) => callApi(ready, method, path, body);
    return {
      kubeconfig: await writeKubeconfig(folder, url, token),
      keys: { accounts: join(folder, "accounts.key"), authority: join(folder, "apiserver.crt") },
      call,
      must: async (method, path, body) => {
        const answer = await call(method, path, body);
        if (answer.status >= CLIENT_ERROR)
          throw new Error(`${method} ${path} answers ${answer.status}: ${answer.body.message ?? answer.body}`);
        return answer;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
