import type { ServerResponse } from "node:http";
import { DomainError } from "@nodeloom/kernel";
import { createEgressClient, type EgressClient } from "@nodeloom/platform";
import type { identity } from "@nodeloom/proto";
import { startRecorder, type Recorder, type RecordedRequest, type Respond } from "../../../../test-support/recorder";
import { createHttpRequest } from "../../src/calls/http-request";
import { createRedaction, createSecretSending, type SendHttp } from "../../src/calls/secrets";
import type { HttpNodeCall } from "../../src/run/calls";

const VALUE = 'sk/live+"9" of=me';
let server: Recorder;
let address: string;
let egress: EgressClient;
let answer: Respond;
let requests: RecordedRequest[];
let stored: identity.ReadSecretsResponse;
let reads: identity.ReadSecretsRequest[];
let send: SendHttp;

beforeAll(async () => {
  server = await startRecorder((response, request) => {
    requests.push(request);
    answer(response, request);
  });
  ({ address } = server);
  egress = createEgressClient({ allow: [address] });
});
afterAll(async () => {
  await egress.close();
  await server.close();
});
beforeEach(() => {
  [requests, reads] = [[], []];
  stored = { values: { KEY: VALUE }, hosts: { KEY: { hosts: [address], workflows: [] } } };
  answer = (response) => void response.end("fine");
  const readSecrets = (request: identity.ReadSecretsRequest): Promise<identity.ReadSecretsResponse> => {
    reads.push(request);
    return Promise.resolve(stored);
  };
  send = createSecretSending({ readSecrets }, createHttpRequest({ egress, keepAnswer: () => Promise.resolve(undefined) }));
});

const call = (part: Partial<HttpNodeCall["call"]> = {}): HttpNodeCall => ({
  ...{ executionId: "run", userId: "user", nodeId: "web", nodeIndex: 0, item: 0, items: 1, startedAt: 0, key: "run:web:0" },
  call: { method: "POST", url: `http://${address}/`, headers: { authorization: "Bearer {{secrets.KEY}}" }, secrets: ["KEY"], ...part },
});
const sendCall = (part: Partial<HttpNodeCall["call"]> = {}) => send(call(part), new AbortController().signal);
const refusalText = async (part: Partial<HttpNodeCall["call"]> = {}): Promise<string> => {
  const error: unknown = await sendCall(part).catch((caught: unknown) => caught);
  if (!(error instanceof DomainError)) throw new Error(`not refused: ${JSON.stringify(error)}`);
  expect(error.reason).toBe("EXECUTION_FAILED");
  expect(error.message).not.toContain(VALUE);
  return error.message;
};

describe("a request with a secret", () => {
  it("has it only where it is sent, read for its runner", async () => {
    await sendCall({ url: `http://${address}/?k={{secrets.KEY}}`, body: { k: "{{secrets.KEY}}" } });
    expect(reads).toEqual([{ owner: "user", names: ["KEY"], alias: "" }]);
    expect(requests).toMatchObject([{ path: `/?k=${encodeURIComponent(VALUE)}`, headers: { authorization: `Bearer ${VALUE}` } }]);
    expect(JSON.parse(requests[0]!.body)).toEqual({ k: VALUE });
  });

  it("reads it again: a change of its value or its hosts applies to the next request", async () => {
    await sendCall();
    stored = { values: { KEY: "another value" }, hosts: { KEY: { hosts: [address], workflows: [] } } };
    await sendCall();
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${VALUE}`, "Bearer another value"]);
    stored = { ...stored, hosts: { KEY: { hosts: ["api.example.com"], workflows: [] } } };
    expect(await refusalText()).toBe(`the secret KEY may not be sent to ${address}, which is not among its hosts`);
    stored = { values: {}, hosts: {} };
    expect(await refusalText()).toBe("your secret KEY no longer exists");
    expect(requests).toHaveLength(2);
  });

  it("limited to workflows is sent only by nodes of these workflows, also if the limit is set during the run", async () => {
    const sendFrom = (workflow?: string) =>
      send({ ...call(), ...(workflow === undefined ? {} : { workflow }) }, new AbortController().signal);
    await sendFrom("other");
    stored = { values: { KEY: VALUE }, hosts: { KEY: { hosts: [address], workflows: ["shop", "billing"] } } };
    await sendFrom("billing");
    await expect(sendFrom("other")).rejects.toThrow("the secret KEY was not sent: its workflows don't include other.");
    await expect(sendFrom()).rejects.toThrow("its workflows don't include this one");
    expect(requests).toHaveLength(2);
  });

  it.each([
    ["another host", "https://evil.test/", "may not be sent to evil.test"],
    ["another port", "https://api.example.com:8443/", "may not be sent to api.example.com:8443"],
    ["a host before the real one", "https://api.example.com@evil.test/", "may not be sent to evil.test"],
    ["a name that only begins so", "https://api.example.com.evil.test/", "may not be sent to api.example.com.evil.test"],
    ["plain http", "http://api.example.com/", "the secret KEY is sent by https alone"],
    ["no URL", "https://", "the url is none"],
  ])("is not sent to %s", async (_name, url, message) => {
    stored = { ...stored, hosts: { KEY: { hosts: ["api.example.com"], workflows: [] } } };
    expect(await refusalText({ url })).toContain(message);
    expect(requests).toEqual([]);
  });

  it("isn't sent to another address that a response names", async () => {
    answer = (response, { path }) => void (path === "/" ? response.writeHead(302, { location: "/else" }) : response.writeHead(200)).end();
    expect(await sendCall()).toEqual({ status: 302, body: "" });
    expect(requests).toHaveLength(1);
  });

  it("can't break out of its header", async () => {
    stored = { ...stored, values: { KEY: "a value\r\nx-injected: yes" } };
    expect(await refusalText()).toBe("the header authorization has line breaks or characters that a header can't carry");
    expect(requests).toEqual([]);
  });

  it("returns a response with its name in place of its value", async () => {
    answer = (response, { headers }) =>
      void response
        .setHeader("content-type", "application/json")
        .end(
          JSON.stringify({ headers, url: encodeURIComponent(VALUE), base64: Buffer.from(`user:${VALUE}!`).toString("base64"), [VALUE]: 1 }),
        );
    const { body } = await sendCall();
    expect(body).toMatchObject({ headers: { authorization: "Bearer [secrets.KEY]" }, url: "[secrets.KEY]", "[secrets.KEY]": 1 });
    const text = JSON.stringify(body);
    expect(text).toContain("[secrets.KEY]");
    expect(Buffer.from((body as { base64: string }).base64, "base64").toString()).not.toContain(VALUE);
  });

  it.each<[string, string, (response: ServerResponse, secret: string) => unknown]>([
    ["a content type", "x/", (response, secret) => response.setHeader("content-type", secret).end(Buffer.from([0, 0xff]))],
    ["a charset", "", (response, secret) => response.setHeader("content-type", `text/plain; charset=${secret}`).end("x")],
    ["a content encoding", "", (response, secret) => response.setHeader("content-encoding", secret).end("x")],
  ])("fails without revealing a part of a secret of 150 characters that a response has in %s", async (_place, head, answerWith) => {
    const secret = `${head}Abcdefghi${"K9".repeat(75)}`;
    stored = { ...stored, values: { KEY: secret } };
    answer = (response) => void answerWith(response, secret);
    const message = await refusalText();
    expect(message).toMatch(/\[secrets\.KEY\]/i);
    expect(message.toLowerCase()).not.toContain("abcdefghi");
  });

  it("fails without revealing it as part of a forbidden host name, in lower case", async () => {
    stored = { values: { KEY: "MyLongSecretValue" }, hosts: { KEY: { hosts: [address], workflows: [] } } };
    expect(await refusalText({ url: "https://{{secrets.KEY}}.evil.test/" })).toContain("may not be sent to [secrets.KEY].evil.test");
  });

  it("fails without revealing it in the message", async () => {
    stored = { ...stored, values: { KEY: "application/x-key" } };
    answer = (response) => response.setHeader("content-type", "application/x-key").end(Buffer.from([0, 1, 2, 0xff]));
    expect(await refusalText()).toContain("[secrets.KEY]");
  });
});

it("reads nothing, and changes nothing in the response, if a request names no secret", async () => {
  answer = (response) => void response.end(VALUE);
  const { secrets: _, ...plain } = call({ headers: { a: "{{secrets.KEY}}" } }).call;
  expect(await send({ ...call(), call: plain }, new AbortController().signal)).toEqual({ status: 200, body: VALUE });
  expect(requests[0]!.headers.a).toBe("{{secrets.KEY}}");
  expect(reads).toEqual([]);
});

describe("a response", () => {
  const { text, deep } = createRedaction(new Map([["KEY", VALUE], ["LONGER", `${VALUE} and more`], ["PIN", "123456789"]])); // prettier-ignore

  it.each([
    [VALUE, "[secrets.KEY]"],
    [`a ${VALUE} and more`, "a [secrets.LONGER]"],
    [JSON.stringify(VALUE), '"[secrets.KEY]"'],
    [JSON.stringify(VALUE).replaceAll("/", "\\/"), '"[secrets.KEY]"'],
    [encodeURIComponent(VALUE), "[secrets.KEY]"],
    [encodeURIComponent(VALUE).replace(/%../g, (escape) => escape.toLowerCase()), "[secrets.KEY]"],
    [new URLSearchParams({ k: VALUE }).toString(), "k=[secrets.KEY]"],
    ["nothing of it", "nothing of it"],
  ])("with %j is shown as %j", (original, shownText) => expect(text(original)).toBe(shownText));

  it.each([0, 1, 2, 3, 4, 5])("with base64 after %i bytes is redacted, as with base64 for URLs", (before) => {
    for (const encoding of ["base64", "base64url"] as const)
      expect(text(Buffer.from(`${"x".repeat(before)}${VALUE}yz`).toString(encoding))).toContain("[secrets.KEY]");
  });

  it("is searched completely: names of members, lists, numbers", () => {
    expect(deep({ [VALUE]: [{ a: `<${VALUE}>` }, 123456789, 12, null, true] })).toEqual({
      "[secrets.KEY]": [{ a: "<[secrets.KEY]>" }, "[secrets.PIN]", 12, null, true],
    });
  });
});
