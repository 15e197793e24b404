import { startRecorder, type RecordedRequest } from "../../../test-support/recorder";

/**
 * One response of a scripted service. `cut` ends it in the middle. `drop` closes the connection instead, before or after the request was
 * read.
 */
export type Script = { status: number; headers?: Record<string, string>; json?: unknown; text?: string; cut?: boolean } | "drop";

export interface ScriptedService {
  baseUrl: string;
  received: RecordedRequest[];
  stop(): Promise<void>;
}

/** A service that returns scripted responses in order and repeats the last one, for faults that no real service produces on demand. */
export const startScripted = async (...script: Script[]): Promise<ScriptedService> => {
  const recorder = await startRecorder((response) => {
    const answer = script[Math.min(recorder.requests.length, script.length) - 1]!;
    if (answer === "drop") return void response.destroy();
    const text = answer.text ?? (answer.json === undefined ? "" : JSON.stringify(answer.json));
    response.writeHead(answer.status, { "content-type": "application/json; charset=utf-8", ...answer.headers });
    if (answer.cut) response.write(text, () => setImmediate(() => response.destroy()));
    else response.end(text);
  });
  return { baseUrl: recorder.url, received: recorder.requests, stop: recorder.close };
};
