import { NODE_KINDS } from "@nodeloom/kernel/graph";
import { OPERATION_ICONS } from "../../src/canvas/operation-icons";

it("each file operation has its own icon", () => {
  const icons = NODE_KINDS.media.operations!.map(({ name }) => OPERATION_ICONS[name]);
  expect(icons).not.toContain(undefined);
  expect(new Set(icons).size).toBe(icons.length);
});
