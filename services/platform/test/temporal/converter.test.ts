import { defaultPayloadConverter } from "@temporalio/common";
import { payloadConverter } from "../../src/temporal/converter";

const VALUES: unknown[] = [
  undefined,
  null,
  "",
  "ä \u{1f9f6} \u2028 \ufeff and \u0000",
  "\ud800 half of a pair",
  "\ufefffirst",
  -0,
  1.5e300,
  [undefined, () => 1],
  { a: undefined, b: [{}], ["__proto__"]: 1 },
  new Uint8Array([1, 2, 3]),
];

it.each(VALUES.map((value) => [value]))("writes the same bytes as the SDK's own, and each reads the other's: %j", (value) => {
  const [ours, theirs] = [payloadConverter.toPayload(value), defaultPayloadConverter.toPayload(value)];
  const bytes = ({ metadata, data }: typeof ours): string[] =>
    [metadata?.encoding, data].map((part) => Buffer.from(part ?? []).toString("hex"));
  expect(bytes(ours)).toEqual(bytes(theirs));
  expect(payloadConverter.fromPayload(theirs)).toEqual(defaultPayloadConverter.fromPayload(theirs));
});
