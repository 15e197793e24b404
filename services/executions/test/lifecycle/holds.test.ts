import { estimateOf } from "../../src/lifecycle/holds";
import type { HeldItem } from "../../src/run/types";

const item = (key: string, maxMillicredits: number, alternativeTo?: string) => ({
  ...{ key, model: "painter", maxMillicredits },
  ...(alternativeTo === undefined ? {} : { alternativeTo }),
});
const heldItem = (key: string, millicredits: number, source: HeldItem["source"] = "credits"): HeldItem => ({ key, source, millicredits });

it("estimates a run at the most expensive of its alternative calls, without calls paid by trial runs", () => {
  const holds = [item("a:0", 3_000), item("a:0~1", 5_000, "a:0"), item("b:0", 2_000), item("c:0", 7_000)];
  const all = [heldItem("a:0", 3_000), heldItem("a:0~1", 5_000), heldItem("b:0", 2_000), heldItem("c:0", 0, "grant")];
  expect(estimateOf({ holds, held: all })).toBe(7_000);
  expect(estimateOf({ holds: [], held: [] })).toBe(0);
});
