import { randomUUID } from "node:crypto";
import { executions } from "@nodeloom/proto";
import type { Answer, RequestOptions } from "../support/http";
import type { Platform, User } from "../support/platform";

/** An organization with a member in every role and its data, and accounts outside of the organization. */
export interface Cast {
  id: string;
  owner: User;
  editor: User;
  runner: User;
  viewer: User;
  suspended: User;
  stranger: User;
  /** A key of another organization, created by its owner. */
  otherKey: string;
  owned: OwnedThings;
}

export interface OwnedThings {
  slug: string;
  folderId: string;
  keyId: string;
  mediaId: string;
  budgetId: string;
  executionId: string;
  secret: string;
}

/** Headers of a member's request for an organization. */
export const memberOf = (platform: Platform, user: User, id: string): Record<string, string> => ({
  ...platform.bySession(user),
  "x-organization": id,
});

const created = (answer: Answer, status = 201): Answer["body"] => {
  if (answer.status !== status) throw new Error(`not made: ${answer.status} ${answer.text}`);
  return answer.body;
};

export const makeOrganization = async (platform: Platform, owner: User, name = "Loom Works"): Promise<string> =>
  String(created(await platform.send("/api/organizations", { json: { name }, headers: platform.bySession(owner) })).id);

export const invite = async (platform: Platform, owner: User, id: string, role: string): Promise<string> => {
  const options: RequestOptions = { json: { role }, headers: platform.bySession(owner) };
  return String(created(await platform.send(`/api/organizations/${id}/invitations`, options)).token);
};

export const join = async (platform: Platform, owner: User, id: string, role: string): Promise<User> => {
  const user = await platform.createUser({ tier: "free" });
  const options: RequestOptions = { json: { token: await invite(platform, owner, id, role) }, headers: platform.bySession(user) };
  created(await platform.send("/api/invitations/accept", options), 200);
  return user;
};

export const makeKey = async (platform: Platform, member: User, id: string): Promise<{ id: string; key: string }> => {
  const options: RequestOptions = { json: { name: "Deploy", preset: "full-deploy" }, headers: memberOf(platform, member, id) };
  const body = created(await platform.send("/api/keys", options));
  return { id: String(body.id), key: String(body.key) };
};

const PICTURE = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

const furnish = async (platform: Platform, owner: User, id: string): Promise<OwnedThings> => {
  const headers = memberOf(platform, owner, id);
  const { slug } = created(await platform.send("/api/workflows", { json: { name: `Poster ${randomUUID().slice(0, 8)}` }, headers }));
  const folder = created(await platform.send("/api/folders", { json: { name: "Posters" }, headers }));
  const media = created(await platform.send("/api/media", { method: "POST", body: PICTURE, headers }));
  const key = await makeKey(platform, owner, id);
  const secret = "BANK_KEY";
  const value = { value: "a value of some length", hosts: ["api.example.com"] };
  created(await platform.send(`/api/secrets/${secret}`, { method: "PUT", json: value, headers }), 200);
  const settings = { metadata: { name: "customer", value: "acme" }, credits: 5, window: "month" };
  const budget = created(await platform.send("/api/budgets", { method: "PUT", json: settings, headers }), 200);
  const ids = { folderId: String(folder.id), mediaId: String(media.id), keyId: key.id, budgetId: String(budget.id) };
  return { slug: String(slug), ...ids, secret, executionId: randomUUID() };
};

/** An execution as executions stores it. */
export const executionOf = ({ id, owned }: Pick<Cast, "id" | "owned">): executions.Execution =>
  executions.Execution.fromPartial({ executionId: owned.executionId, userId: id, status: "processing", createdAt: new Date(0) });

export const gather = async (platform: Platform): Promise<Cast> => {
  const owner = await platform.createUser({ tier: "enterprise" });
  const id = await makeOrganization(platform, owner);
  const [editor, runner, viewer, suspended] = await Promise.all(
    ["editor", "runner", "viewer", "editor"].map((role) => join(platform, owner, id, role)),
  );
  await platform.send(`/api/admin/users/${suspended!.id}`, {
    method: "PATCH",
    json: { suspended: true },
    headers: platform.bySession(platform.admin),
  });
  const stranger = await platform.createUser({ tier: "enterprise" });
  const other = await platform.createUser({ tier: "enterprise" });
  const { key: otherKey } = await makeKey(platform, other, await makeOrganization(platform, other, "Theirs"));
  const owned = await furnish(platform, owner, id);
  return { id, owner, editor: editor!, runner: runner!, viewer: viewer!, suspended: suspended!, stranger, otherKey, owned };
};
