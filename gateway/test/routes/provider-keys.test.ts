import { DomainError } from "@nodeloom/kernel";
import { unary } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import { startFakeService } from "../../../test-support/fake-service";
import { startPlatform, type Platform } from "../support/platform";
import { soon } from "../../../test-support/eventually";

const VALUE = "sk-proj-0123456789abcdefWXYZ";
const OTHER = "sk-proj-another-value-00009876";
const NAME = "OPENAI_API_KEY";
interface Key extends Record<string, unknown> {
  name: string;
}
interface Model extends Record<string, unknown> {
  internalName: string;
  status: string;
  statusReason: string | null;
}

/** The executions service's answer about a key. */
let tried: (name: string) => executions.TestProviderKeyResponse;
let platform: Platform;
let service: Awaited<ReturnType<typeof startFakeService>>;

beforeAll(async () => {
  service = await startFakeService(executions.ExecutionsServiceService, {
    testProviderKey: unary(({ name }: executions.TestProviderKeyRequest) => Promise.resolve(tried(name))),
  });
  platform = await startPlatform({ EXECUTIONS_ADDRESS: service.address });
});
afterAll(async () => {
  await platform?.stop();
  service?.stop();
});

const asAdmin = (path: string, method = "GET", json?: unknown) =>
  platform.send(path, { method, ...(json === undefined ? {} : { json }), headers: platform.bySession(platform.admin) });
const keys = async (): Promise<Map<string, Key>> => {
  const { body } = await asAdmin("/api/admin/provider-keys");
  return new Map((body.keys as unknown as Key[]).map((key) => [key.name, key]));
};
const put = (value: string, name = NAME) => asAdmin(`/api/admin/provider-keys/${name}`, "PUT", { value });
const models = async (): Promise<Map<string, Model>> => {
  const { body } = await asAdmin("/api/models");
  return new Map((body as unknown as Model[]).map((model) => [model.internalName, model]));
};
/** Time within which a new or removed key must take effect. */
const KNOWN_MS = 1_000;
const needing = async (name: string): Promise<string> => ((await keys()).get(name)!.models as string[])[0]!;

describe("keys of providers", () => {
  it("are listed with the models that need them, set or not", async () => {
    const key = (await keys()).get(NAME)!;
    expect(key).toMatchObject({ account: "OpenAI", source: null, hint: null, setAt: null, setBy: null, testable: true });
    expect(key.models).not.toEqual([]);
    expect((await keys()).get("FAL_KEY")).toMatchObject({ account: "fal", testable: false });
    expect((await keys()).has("SANDBOX_API_KEY")).toBe(false);
  });

  it("make their models ready within a second after they are set, and unready within a second after they are removed", async () => {
    const model = await needing(NAME);
    const statusOf = async () => (await models()).get(model)?.status;
    expect((await models()).get(model)).toMatchObject({
      status: "needs-key",
      enabled: false,
      statusReason: `add ${NAME} under Models, or set it in the environment`,
    });
    expect((await put(VALUE)).status).toBe(200);
    await soon(statusOf, (status) => status === "ready", KNOWN_MS);
    expect((await keys()).get(NAME)).toMatchObject({
      source: "console",
      hint: "WXYZ",
      setBy: { id: platform.admin.id, email: platform.admin.email },
    });
    expect((await asAdmin(`/api/admin/provider-keys/${NAME}`, "DELETE")).status).toBe(204);
    await soon(statusOf, (status) => status === "needs-key", KNOWN_MS);
    expect((await keys()).get(NAME)).toMatchObject({ source: null, hint: null });
  });

  it("never appear in responses or in the audit, which records who set and removed them", async () => {
    const answers = [await put(VALUE), await put(OTHER), await asAdmin("/api/admin/provider-keys")];
    await asAdmin(`/api/admin/provider-keys/${NAME}`, "DELETE");
    const audit = await asAdmin("/api/admin/audit?limit=500");
    for (const { text } of [...answers, audit]) for (const value of [VALUE, OTHER]) expect(text).not.toContain(value);
    const rows = (audit.body.rows as Record<string, unknown>[]).filter(({ target }) => target === NAME);
    expect(rows.slice(0, 3)).toMatchObject([
      { action: "provider-key.delete", before: { source: "console", hint: "9876" }, outcome: "done", actor: platform.admin.id },
      { action: "provider-key.put", before: { source: "console", hint: "WXYZ" }, after: { source: "console", hint: "9876" } },
      { action: "provider-key.put", before: { source: null }, after: { source: "console", hint: "WXYZ" } },
    ]);
  });

  it("are only for signed-in administrators, neither for their keys nor for other people", async () => {
    const user = await platform.createUser({ tier: "business" });
    const path = "/api/admin/provider-keys";
    expect(await platform.send(path, { headers: platform.byKey(platform.admin) })).toMatchObject({
      status: 403,
      body: { code: "SESSION_REQUIRED" },
    });
    expect(await platform.send(path, { headers: platform.bySession(user) })).toMatchObject({
      status: 403,
      body: { code: "CAPABILITY_DENIED" },
    });
    expect((await platform.send("/api/models", { headers: platform.bySession(user) })).text).not.toContain("needs-key");
  });

  it("are not stored if no model needs them", async () => {
    for (const name of ["NO_SUCH_KEY", "not-a-name", "MONGODB_URI"]) expect((await put(VALUE, name)).status).toBe(404);
  });

  it.each(["", "two\nlines", "k".repeat(9_000)])("with an invalid form are rejected (%#)", async (value) => {
    expect(await put(value)).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
  });

  it("can be tested; the provider's response is passed on", async () => {
    tried = (name) => ({ outcome: name === NAME ? "refused" : "works", message: "the provider answered 401", providerStatus: 401 });
    const answer = await asAdmin(`/api/admin/provider-keys/${NAME}/test`, "POST");
    expect(answer.body).toEqual({ outcome: "refused", message: "the provider answered 401", providerStatus: 401 });
    tried = () => {
      throw new DomainError("precondition", "NOT_CONFIGURED", "OPENAI_API_KEY can't be read");
    };
    expect(await asAdmin(`/api/admin/provider-keys/${NAME}/test`, "POST")).toMatchObject({ status: 501, body: { code: "NOT_CONFIGURED" } });
  });
});

it("a key set in the environment can't be set in the console, which shows the reason", async () => {
  // The registry's files name more variables that the models service reads from its environment.
  process.env.FAL_KEY = "fal-key-of-the-environment";
  const other = await startPlatform();
  try {
    const headers = other.bySession(other.admin);
    const list = await other.send("/api/admin/provider-keys", { headers });
    expect((list.body.keys as unknown as Key[]).find(({ name }) => name === "FAL_KEY")).toMatchObject({
      source: "environment",
      hint: null,
    });
    expect(list.text).not.toContain("fal-key-of-the-environment");
    const answer = await other.send("/api/admin/provider-keys/FAL_KEY", { method: "PUT", json: { value: VALUE }, headers });
    expect(answer).toMatchObject({ status: 409, body: { code: "ALREADY_EXISTS" } });
    expect(String(answer.body.error)).toContain("environment");
  } finally {
    delete process.env.FAL_KEY;
    await other.stop();
  }
});

it("an installation without SECRETS_KEYS names the missing setting", async () => {
  const other = await startPlatform({ SECRETS_KEYS: "" });
  try {
    const headers = other.bySession(other.admin);
    expect((await other.send("/api/admin/provider-keys", { headers })).body).toMatchObject({ configured: false });
    const answer = await other.send("/api/admin/provider-keys/FAL_KEY", { method: "PUT", json: { value: VALUE }, headers });
    expect(answer).toMatchObject({ status: 501, body: { code: "NOT_CONFIGURED" } });
    expect(String(answer.body.error)).toContain("SECRETS_KEYS");
  } finally {
    await other.stop();
  }
});
