import { createHmac, randomBytes } from "node:crypto";
import { expecting } from "../support/api.mjs";
import { node } from "../support/graph.mjs";
import { untilFinal } from "../support/invariants.mjs";

/** An account that uses every feature, with a unique word in every text. */

const PASSWORD = "a loom of many colours";
const RUNS = 6;
const END_MS = 120_000;

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const STEP_MS = 30_000;

/** Current code of an authenticator (RFC 6238). @param {string} secret */
const codeOf = (secret) => {
  const bits = [...secret].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / STEP_MS)));
  const mac = createHmac("sha1", key).update(counter).digest();
  const at = (mac.at(-1) ?? 0) & 0xf;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
};

/** @param {string} word @param {string} name */
export const graph = (word, name) => ({
  name,
  description: `About ${word}`,
  tags: [word.slice(0, 30)],
  nodes: [
    node("in", "request-input", { fields: [{ name: "prompt", type: "text", label: word, default: word }] }),
    node(`node-${word}`, "text-box", { text: `${word} {{prompt}} ${word.repeat(1_500)}` }),
    node("picture", "generate-image", { model: "sandbox-image-fast" }),
    node("out", "response-output"),
  ],
  edges: [
    { id: "a", source: "in", sourceHandle: "prompt", target: `node-${word}`, targetHandle: "prompt" },
    { id: "b", source: "in", sourceHandle: "prompt", target: "picture", targetHandle: "prompt" },
    { id: "c", source: `node-${word}`, sourceHandle: "text", target: "out", targetHandle: "text" },
    { id: "d", source: "picture", sourceHandle: "image", target: "out", targetHandle: "images" },
  ],
});

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==", "base64");

/**
 * @typedef {object} Options
 * @property {ReturnType<typeof import("../support/api.mjs").createApi>} api
 * @property {() => string} baseUrl
 * @property {string} adminKey
 * @property {string} webhookUrl
 * @property {string} hookHost host:port to which a secret can be sent
 */

/** @param {Options} options */
export const createAccount = async ({ api, baseUrl, adminKey, webhookUrl, hookHost }) => {
  const word = `zq${randomBytes(8).toString("hex")}`;
  const slugWord = `qz${randomBytes(8).toString("hex")}`;
  const email = `${word}@leaving.example`;
  const expected = expecting(api.call);
  const registered = await expected(201, "POST", "/api/auth/register", { body: { email, password: PASSWORD } });
  const userId = registered.body.user.id;
  const business = { name: `Works of ${word}`, verified: true };
  await expected(200, "PATCH", `/api/admin/users/${userId}`, { key: adminKey, body: { approved: true, tier: "enterprise", business } });
  const cookieOf = (/** @type {Headers} */ headers) =>
    headers
      .getSetCookie()
      .map((one) => one.split(";")[0])
      .join("; ");
  const credentials = { email, password: PASSWORD };
  let cookie = cookieOf((await expected(200, "POST", "/api/auth/login", { body: credentials })).headers);

  const created = await expected(201, "POST", "/api/keys", {
    cookie,
    body: { name: `Key ${word}`, preset: "full-deploy", webhook: { url: `${webhookUrl}?${word}` } },
  });
  const { key, id: keyId } = created.body;
  await expected(200, "PATCH", `/api/keys/${keyId}`, { cookie, body: { metadata: { customer: word } } });
  await expected(200, "PUT", `/api/keys/${keyId}/budget`, { cookie, body: { credits: 10_000, window: "month", alertAt: [0.001] } });
  await expected(200, "PUT", `/api/secrets/${word.toUpperCase()}`, { cookie, body: { value: `value-of-${word}`, hosts: [hookHost] } });
  await expected(200, "POST", `/api/admin/users/${userId}/credits`, {
    key: adminKey,
    body: { kind: "topup", amount: 100, note: `Note ${word}` },
    idempotencyKey: randomBytes(8).toString("hex"),
  });

  const folder = await expected(201, "POST", "/api/folders", { cookie, body: { name: `Folder ${word}` }, idempotencyKey: `f-${word}` });
  const { slug } = (await expected(201, "POST", "/api/workflows", { key, body: { ...graph(word, slugWord), folderId: folder.body.id } }))
    .body;
  await expected(201, "POST", `/api/workflows/${slug}/versions`, { key, body: { note: `Version ${word}` }, idempotencyKey: `v-${word}` });
  const saved = (await expected(200, "GET", `/api/workflows/${slug}`, { key })).body;
  await expected(200, "PUT", `/api/workflows/${slug}`, { key, body: { ...saved, isTemplate: true, description: `Template ${word}` } });

  const upload = await fetch(`${baseUrl()}/api/media`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "image/png" },
    body: Buffer.concat([PNG, Buffer.from(word)]),
  });
  if (upload.status !== 201) throw new Error(`an upload was answered ${upload.status}: ${await upload.text()}`);
  const file = /** @type {{ id: string, url: string }} */ (await upload.json());
  await fetch(`${file.url}?w=384`);

  const inputs = { prompt: `a heron of ${word}` };
  /** @type {string[]} */
  const executions = [];
  for (let run = 0; run < RUNS; run += 1) {
    const answer = await expected(202, "POST", `/api/workflows/${slug}/run`, {
      key,
      body: { inputs, metadata: { order: word } },
      prefer: "respond-async",
      idempotencyKey: `r${run}-${word}`,
    });
    executions.push(answer.body.executionId);
  }
  const batch = await expected(202, "POST", `/api/workflows/${slug}/batches`, {
    key,
    body: { inputs: [inputs, { prompt: `another of ${word}` }, inputs], metadata: { order: word } },
  });
  await expected(201, "POST", `/api/workflows/${slug}/schedules`, {
    key,
    body: { cron: "*/5 * * * *", timezone: "UTC", inputs },
    idempotencyKey: `s-${word}`,
  });
  await expected(201, "POST", `/api/workflows/${slug}/hooks`, {
    key,
    body: { expression: `{prompt: '${word}'}`, maxCredits: 10, hmac: { header: "X-Signature", secret: `signed-${word}-signed-${word}` } },
  });
  const until = (/** @type {string} */ path) => untilFinal(api, path, { key }, END_MS);
  const ends = [];
  for (const id of executions) ends.push((await until(`/api/executions/${id}`)).status);
  ends.push((await until(`/api/batches/${batch.body.batchId}`)).status);
  const rerun = await expected(202, "POST", `/api/executions/${executions[0]}/rerun`, { key, body: {}, prefer: "respond-async" });
  executions.push(rerun.body.executionId);
  await until(`/api/executions/${rerun.body.executionId}`);

  const enrolled = await expected(201, "POST", "/api/auth/second-factor", { cookie, body: { password: PASSWORD } });
  const code = codeOf(enrolled.body.secret);
  const confirmed = await expected(200, "POST", "/api/auth/second-factor/confirm", { cookie, body: { code } });
  cookie = cookieOf(confirmed.headers) || cookie;

  return {
    word,
    slugWord,
    email,
    password: PASSWORD,
    userId,
    keyId,
    key,
    cookie,
    slug,
    executions,
    batchId: batch.body.batchId,
    file,
    ends,
    inputs,
  };
};
