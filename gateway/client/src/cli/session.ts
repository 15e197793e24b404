import { createClient, type Client } from "../client";
import { ask } from "./prompt";
import { readBaseUrl } from "./settings";

/** What a signed-in person may do and a key may not: signed in for the time of one command, which keeps nothing of it. */

const signIn = [
  { label: "E-mail: ", isSecret: false },
  { label: "Password: ", isSecret: true },
] as const;

/** Signs in with what is asked for, works, and signs out. @throws NodeloomError where the sign-in is refused */
export const withSession = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
  const baseUrl = await readBaseUrl();
  const [email = "", password = ""] = await ask(signIn);
  let cookie = "";
  const withCookie: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("origin", new URL(baseUrl).origin);
    if (cookie !== "") headers.set("cookie", cookie);
    const response = await fetch(input, { ...init, headers });
    const set = response.headers.getSetCookie().map((one) => one.split(";")[0]!);
    if (set.length > 0) cookie = set.join("; ");
    return response;
  };
  const client = createClient({ baseUrl, fetch: withCookie });
  await client.request("login", { body: { email: email.trim(), password } });
  try {
    return await work(client);
  } finally {
    // The session ends by itself, too.
    await client.request("logout", {}).catch(() => undefined);
  }
};
