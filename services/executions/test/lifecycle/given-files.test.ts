import { innerOwner } from "@nodeloom/kernel";
import type { media } from "@nodeloom/proto";
import { type End, withGivenFiles } from "../../src/lifecycle/end";

const OWN = "https://x.test/media/";

const endRun = async (plan: object, result: Record<string, unknown> | null) => {
  const order: unknown[] = [];
  const end = () => Promise.resolve(order.push("ended") as never);
  const giveObjects = (request: media.GiveObjectsRequest) => Promise.resolve(order.push(request) as never);
  const endWithFiles = withGivenFiles({ end } as unknown as End, { media: { giveObjects }, own: OWN });
  await endWithFiles.end({ from: "workflow", input: { userId: "u", plan } as never }, { result } as never);
  return order;
};

describe("the end of a run of a graph that its user can't read", () => {
  it("gives the user the files that the result names before the run is over, and no others", async () => {
    const result = {
      images: [{ url: `${OWN}a.png` }, { url: "https://other.test/media/b.png" }],
      text: `see ${OWN}c.wav?w=1, ${OWN}a.png`,
    };
    expect(await endRun({ hidesOutputs: true }, result)).toEqual([
      { keys: ["a.png", "c.wav"], fromOwnerId: innerOwner("u"), ownerId: "u" },
      "ended",
    ]);
  });

  it("changes nothing if no file is named, nothing was created, or the user can read the graph", async () => {
    expect(await endRun({ hidesOutputs: true }, { text: "none" })).toEqual(["ended"]);
    expect(await endRun({ hidesOutputs: true }, null)).toEqual(["ended"]);
    expect(await endRun({}, { images: [{ url: `${OWN}a.png` }] })).toEqual(["ended"]);
  });
});
