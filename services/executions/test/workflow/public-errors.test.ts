import { DomainError, publicError } from "@nodeloom/kernel";
import { BindError } from "@nodeloom/kernel/graph";
import { afterFailure, final, QUOTES_ADDRESS } from "../../src/calls/failures";
import { ProviderError } from "@nodeloom/providers";
import { runError } from "../../src/workflow/workflows/calls/failures";
import { itemEndOf } from "../../src/run/batch";
import type { ExecutionView } from "../../src/run/record";
import type { NodeState } from "../../src/run/types";
import { runErrorOf, type NodeCall } from "../../src/workflow/step-failures";

const node = { nodeId: "n", label: "Fetch", item: 0, items: 1 };
const http = { ...node, call: { url: "https://db.internal/?key=k" } } as unknown as NodeCall;
const model = { ...node, model: "a-model" } as unknown as NodeCall & { model: string };
const file = { ...node, port: "result", reference: "https://db.internal/a.png" } as unknown as NodeCall;
const publicText = (error: DomainError, call: NodeCall): string => {
  const { message, publicMessage } = runErrorOf(error, call);
  expect(message).toBe(`node "Fetch" (n): ${error.message}`);
  return publicMessage ?? message;
};
const provider = (kind: ProviderError["kind"], message: string): DomainError =>
  afterFailure(model as never, new ProviderError(kind, message, 400), false, { triesUntil: () => 0 } as never) as DomainError;

it("shows users who can't read a graph the failed node, but no host, address or header of its request", () => {
  const expectedText = 'node "Fetch" (n): its call failed; the workflow\'s author can read why';
  for (const message of ["refused to call db.internal", "the header x-token has line breaks", "the address answered with status 500"])
    expect(publicText(final("EXECUTION_FAILED", message), http)).toBe(expectedText);
  expect(publicText(final("EXECUTION_FAILED", "result: db.internal refused"), file)).toBe(expectedText);
  const ofModel = expectedText.replace("its call", "a-model: its call");
  expect(publicText(final("EXECUTION_FAILED", "a-model: input image: db.internal refused", QUOTES_ADDRESS), model)).toBe(ofModel);
  expect(publicText(provider("unreachable", "the provider could not be called: db.internal refused"), model)).toBe(ofModel);
  expect(publicText(provider("refused", "the provider answered 400: can't read https://db.internal/a.png"), model)).toBe(ofModel);
});

it("shows them that a text isn't a number, without the text, also in the rows of a batch", () => {
  const node = { id: "n", label: "Fetch" } as NodeState;
  const error = runError(new BindError('seed: must be a number, but is the text "a secret"', "seed: must be a number"), node, "async");
  expect(error).toMatchObject({
    message: 'node "Fetch" (n): seed: must be a number, but is the text "a secret"',
    publicMessage: 'node "Fetch" (n): seed: must be a number',
  });
  const row = { status: "failed", millicredits: 0, error } as ExecutionView;
  expect(itemEndOf(0, { ...row, graphHidden: true }).error).toEqual({ code: error.code, message: error.publicMessage });
  expect(itemEndOf(0, row).error).toEqual({ code: error.code, message: error.message });
});

it.each([
  ['node "Fetch" (n): "x/internal?api_key=k" is not a URL: https://db.internal/?key=k', 'node "Fetch" (n): '],
  ["node n: refused to call db.internal", "node n: "],
  ["node n: 10.0.0.7:8080 could not be reached", "node n: "],
  ["node n: the header x-token has line breaks", "node n: "],
  ['node n: seed: must be a number, but is the text "a secret"', "node n: "],
  ["refused to call localhost:9000", ""],
  ['node "db.internal" (n): the provider did not finish in time', ""],
])("hides addresses in the error of a row of 1.0.0: %s", (message, place) => {
  const expectedText = `${place}it failed; the workflow's author can read why`;
  const error = { code: "EXECUTION_FAILED" as const, message, nodeId: "n" };
  expect(publicError({ ...error, providerBody: "at db.internal" })).toEqual({ ...error, message: expectedText });
  expect(itemEndOf(0, { status: "failed", millicredits: 0, error, graphHidden: true } as ExecutionView).error?.message).toBe(expectedText);
});

it("shows them the rest of the errors in rows of 1.0.0", () => {
  for (const message of ["node n: gemini-2.5-flash: its output was refused", "the provider did not finish in time. Try again"])
    expect(publicError({ message }).message).toBe(message);
});

it("shows them a provider's own message for a model's rejection", () => {
  const words = "the provider answered 400: its content policy does not allow this";
  expect(publicText(provider("refused", words), model)).toBe(`node "Fetch" (n): a-model: ${words}`);
  expect(publicText(new DomainError("failed", "CONTENT_REFUSED", "its output was refused"), model)).toContain("its output was refused");
});
