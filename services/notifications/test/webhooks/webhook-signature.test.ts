import { createEgressClient, type EgressClient } from "@nodeloom/platform";
import { Webhook } from "standardwebhooks";
import { createSend } from "../../src/webhooks/send";
import { FIXTURE } from "../../../../test-support/webhook-fixture";
import { startReceiver, type Receiver } from "../support/webhook-support";

const { secret, id, body, signature } = FIXTURE;
const other = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;

let receiver: Receiver;
let egress: EgressClient;
beforeAll(async () => {
  receiver = await startReceiver();
  egress = createEgressClient({ allow: [receiver.address] });
  // A signature contains the time and is valid only near it.
  jest.useFakeTimers({
    now: FIXTURE.timestamp * 1_000,
    doNotFake: [
      "hrtime",
      "nextTick",
      "performance",
      "queueMicrotask",
      "setImmediate",
      "clearImmediate",
      "setInterval",
      "clearInterval",
      "setTimeout",
      "clearTimeout",
    ],
  });
});
afterAll(async () => {
  jest.useRealTimers();
  await receiver.close();
  await egress.close();
});

it("a message is signed like the Python library does, with every valid secret", async () => {
  const { type, timestamp, data } = JSON.parse(body) as { type: string; timestamp: string; data: unknown };
  await createSend(egress)({ url: receiver.url, secrets: [other, secret] }, { id, type, timestamp: new Date(timestamp), data });
  const [delivery] = receiver.deliveries as [(typeof receiver.deliveries)[0]];
  expect(delivery.body).toBe(body);
  expect(delivery.headers).toMatchObject({ "webhook-id": id, "webhook-timestamp": String(FIXTURE.timestamp) });
  expect(delivery.headers["webhook-signature"].split(" ")).toEqual([expect.stringMatching(/^v1,/), signature]);
});

it("a message signed by the Python library is accepted only with its secret", () => {
  const headers = { "webhook-id": id, "webhook-timestamp": String(FIXTURE.timestamp), "webhook-signature": signature };
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(other).verify(body, headers)).toThrow("No matching signature found");
});
