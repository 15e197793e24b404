/** A moderation hook on loopback. It decides on the test's command and verifies requests. */
import { Webhook } from "standardwebhooks";
import type { Question } from "../../src/moderation/hook";
import { startRecordingServer, type RecordedRequest, type RecordingServer, type Reply } from "../../../../test-support/recording-server";

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

export interface ModerationHook {
  url: string;
  address: string;
  /** Questions, including retries. */
  questions: Question[];
  /** Body of the answer, or the whole response. */
  decide: (question: Question) => object | Promise<object>;
  /** Failed verifications: a wrong signature or an unmet expectation. */
  failures: unknown[];
  respond: ((request: RecordedRequest) => Reply | Promise<Reply>) | undefined;
  reset(): void;
  stop: RecordingServer["stop"];
}

export const ALLOW = { decision: "allow" } as const;

export const startModerationHook = async (): Promise<ModerationHook> => {
  const server = await startRecordingServer();
  const hook: ModerationHook = {
    url: `${server.url}/moderate`,
    address: server.address,
    questions: [],
    failures: [],
    decide: () => ALLOW,
    respond: undefined,
    reset: () => {
      hook.questions = [];
      hook.failures = [];
      hook.decide = () => ALLOW;
      hook.respond = undefined;
    },
    stop: server.stop,
  };
  const answer = async (request: RecordedRequest): Promise<Reply> => {
    const question = new Webhook(SECRET).verify(request.bytes.toString(), request.headers as Record<string, string>) as Question;
    hook.questions.push(question);
    if (hook.respond) return hook.respond(request);
    return { json: await hook.decide(question) };
  };
  server.answer = (request) =>
    answer(request).catch((error: unknown) => {
      hook.failures.push(error);
      return { status: 400 };
    });
  return hook;
};
