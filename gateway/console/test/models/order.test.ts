import { moved, orderFor } from "../../src/features/admin/orders/order";

const model = (internalName: string, runsAt: string) => ({ internalName, tasks: ["image"], runsAt, minTier: "free" });
const MODELS = [model("alpha", "provider"), model("beta", "provider"), model("local", "local"), model("sandbox", "sandbox")];
const BUILT_IN = ["alpha", "beta", "local", "sandbox"];

it.each<[string, string[], string[]]>([
  ["as they are built in is no order", BUILT_IN, []],
  ["with its last but one first is that one", ["local", "alpha", "beta", "sandbox"], ["local"]],
  ["with two changed places says no more than both", ["beta", "alpha", "local", "sandbox"], ["beta"]],
  ["with a change at its end says all before it", ["alpha", "beta", "sandbox", "local"], ["alpha", "beta", "sandbox"]],
])("a row of models %s", (_name, row, order) => {
  expect(orderFor("image", row, MODELS)).toEqual(order);
});

it("a model that moves leaves the others in their row", () => {
  expect(moved(BUILT_IN, 2, 1)).toEqual(["alpha", "local", "beta", "sandbox"]);
  expect(moved(BUILT_IN, 0, 1)).toEqual(["beta", "alpha", "local", "sandbox"]);
});
