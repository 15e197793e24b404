import { randomBytes } from "node:crypto";
import { expecting } from "../support/api.mjs";
import { pause } from "../support/platform.mjs";
import { graph } from "./account.mjs";

const RUN_MS = 120_000;

/**
 * An organization whose only owner is the account, with the account's word in a key, a secret, a workflow, a run and credits.
 * @param {{ api: ReturnType<typeof import("../support/api.mjs").createApi>, adminKey: string, account: { word: string, cookie: string,
 *   inputs: object } }} options
 */
export const createOrganization = async ({ api, adminKey, account: { word, cookie, inputs } }) => {
  const expected = expecting(api.call);
  const idempotencyKey = randomBytes(8).toString("hex");
  const { id } = (await expected(201, "POST", "/api/organizations", { cookie, body: { name: `Looms of ${word}` } })).body;
  const asOwner = { cookie, organization: id };
  const { body: created } = await expected(201, "POST", "/api/keys", {
    ...asOwner,
    body: { name: `Shared ${word}`, preset: "full-deploy" },
  });
  await expected(200, "PUT", "/api/secrets/SHARED", { ...asOwner, body: { value: `shared-${word}`, hosts: ["api.example.com"] } });
  const credits = { kind: "topup", amount: 100, note: `Shared ${word}` };
  await expected(200, "POST", `/api/admin/organizations/${id}/credits`, { key: adminKey, body: credits, idempotencyKey });
  const { key, id: keyId } = created;
  const shared = graph(word, `shared-${randomBytes(6).toString("hex")}`);
  const { slug } = (await expected(201, "POST", "/api/workflows", { key, body: shared })).body;
  const submission = await expected(202, "POST", `/api/workflows/${slug}/run`, { key, body: { inputs }, prefer: "respond-async" });
  const { executionId } = submission.body;
  for (const end = Date.now() + RUN_MS; ; await pause(300)) {
    const { status } = (await expected(200, "GET", `/api/executions/${executionId}`, { key })).body;
    if (status === "completed") break;
    if (status !== "processing" || Date.now() > end) throw new Error(`a run of the organization is ${status}`);
  }
  return { id, key, keyId, slug, executionId };
};
