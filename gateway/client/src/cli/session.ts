import { createClient, type Client } from "../client";
import { withPrompt } from "./prompt";
import { readBaseUrl } from "./settings";

/** Signs in for actions that keys can't do. The session lasts for one command and isn't stored. */

const EMAIL = { label: "E-mail: ", isSecret: false };
const PASSWORD = { label: "Password: ", isSecret: true };
const CODE = { label: "Code of the second factor: ", isSecret: false };

/** Sends requests like a page of the service, with cookies. */
const fetchWithCookie = (baseUrl: string): typeof fetch => {
  let cookie = "";
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("origin", new URL(baseUrl).origin);
    if (cookie !== "") headers.set("cookie", cookie);
    const response = await fetch(input, { ...init, headers });
    const set = response.headers.getSetCookie().map((one) => one.split(";")[0]!);
    if (set.length > 0) cookie = set.join("; ");
    return response;
  };
};

/** Asks for email and password, and for a code if the account has a second factor. @throws NodeloomError */
const signIn = (client: Client): Promise<void> =>
  withPrompt(async (ask) => {
    const email = (await ask(EMAIL)).trim();
    const { body } = await client.request("login", { body: { email, password: await ask(PASSWORD) } });
    if (!("pending" in body)) return;
    await client.request("completeLogin", { body: { pending: body.pending, code: (await ask(CODE)).trim() } });
  });

/** Signs in, runs the work, and signs out. @throws NodeloomError if signing in fails */
export const withSession = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
  const baseUrl = await readBaseUrl();
  const client = createClient({ baseUrl, fetch: fetchWithCookie(baseUrl) });
  await signIn(client);
  try {
    return await work(client);
  } finally {
    // If this fails, the session expires.
    await client.request("logout", {}).catch(() => undefined);
  }
};
