import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** The signed-in person, and deviations of the ID token. */
export interface Person {
  sub: string;
  claims: Record<string, unknown>;
  /** Replaces claims of the ID token. */
  token?: Record<string, unknown>;
  /** True to sign with another provider's key. */
  otherKey?: boolean;
}

export interface TestProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  become(person: Person): Promise<void>;
  stop(): Promise<void>;
}

/** A real provider (oidc-provider) in a separate process. */
export const startProvider = async (): Promise<TestProvider> => {
  const child = spawn(process.execPath, [join(__dirname, "oidc-provider-process.mjs")], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  const failedStart = once(child, "exit").then(() => Promise.reject(new Error(`the provider did not start: ${output}`)));
  const [line] = (await Promise.race([once(child.stdout, "data"), failedStart])) as [Buffer];
  failedStart.catch(() => undefined);
  const issuer = line.toString("utf8").trim();
  return {
    issuer,
    clientId: "nodeloom",
    clientSecret: "a secret of the client",
    become: async (person) => {
      const { status } = await fetch(`${issuer}/person`, { method: "PUT", body: JSON.stringify(person) });
      if (status !== 204) throw new Error(`the provider answered ${status}`);
    },
    stop: async () => {
      const exit = once(child, "exit");
      child.kill();
      await exit;
    },
  };
};

const MAX_HOPS = 10;

/** Follows redirects like a new browser. @returns the first URL that starts with `until`, without requesting it */
export const browse = async (start: string, until: string): Promise<string> => {
  const cookies = new Map<string, string>();
  let url = start;
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const answer = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get("location");
    if (location === null) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
    url = new URL(location, url).href;
    if (url.startsWith(until)) return url;
  }
  throw new Error(`more than ${MAX_HOPS} redirects`);
};
