import { Webhook } from "standardwebhooks";
import { startRecorder } from "../../../../test-support/recorder";

/** A request to the hook. */
export interface Question {
  id: string;
  kind: "input" | "output";
  executionId: string;
  node: string | null;
  texts: string[];
  files: { url: string; contentType: string; sha256: string }[];
}

export interface ModerationHook {
  env: Record<string, string>;
  questions: Question[];
  /** `host:port` for the platform's egress exceptions. */
  address: string;
  /** Address of a webhook receiver on the same server, and the requests it received. */
  webhookUrl: string;
  webhooks: string[];
  /** Decides on a request; approves everything by default. */
  decide: (question: Question) => object | Promise<object>;
  /** True to return only errors from now on. */
  isDown: boolean;
  close(): Promise<void>;
}

const PATH = "/moderate";

/** A moderation hook on loopback that accepts only signed requests. */
export const startModeration = async (): Promise<ModerationHook> => {
  const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
  const { address, url, close } = await startRecorder((response, { path, headers, body }) => {
    if (path !== PATH) {
      hook.webhooks.push(body);
      return void response.writeHead(204).end();
    }
    const answer = async (): Promise<void> => {
      const question = new Webhook(secret).verify(body, headers as Record<string, string>) as Question;
      hook.questions.push(question);
      if (hook.isDown) return void response.writeHead(503).end();
      response.setHeader("content-type", "application/json").end(JSON.stringify(await hook.decide(question)));
    };
    answer().catch(() => response.writeHead(401).end());
  });
  const hook: ModerationHook = {
    address,
    webhookUrl: `${url}/webhook`,
    webhooks: [],
    env: { MODERATION_URL: `${url}${PATH}`, MODERATION_SECRET: secret, MODERATION_TIMEOUT_MS: "1000" },
    questions: [],
    decide: () => ({ decision: "allow" }),
    isDown: false,
    close,
  };
  return hook;
};
