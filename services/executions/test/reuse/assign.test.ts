import { assign } from "../../src/reuse/earlier-calls";

const at = (nodeId: string, item: number, run = 0) => ({ nodeId, item, run });

it("gives every item of a fan-out its earlier result, and a moved item one that no other has", () => {
  const [red0, red1, blue] = [at("pic", 0), at("pic", 1), at("pic", 2)];
  const reds = [red0, red1];
  // The order red, red, blue became blue, red, red.
  expect(assign([at("pic", 0), at("pic", 1), at("pic", 2)], [[blue], reds, reds])).toEqual([blue, red1, red0]);
});

it("prefers the nearest run, then the node's own calls, and shares a call if there are too few", () => {
  const [near, far, other] = [at("pic", 0, 1), at("pic", 0, 2), at("copy", 0, 1)];
  expect(assign([at("pic", 0)], [[near, far]])).toEqual([near]);
  expect(assign([at("pic", 3)], [[other, near]])).toEqual([near]);
  expect(assign([at("pic", 0), at("pic", 1)], [[near], [near]])).toEqual([near, near]);
  expect(assign([at("new", 0)], [[]])).toEqual([undefined]);
});
