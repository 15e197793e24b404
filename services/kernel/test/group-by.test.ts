import { groupBy } from "@nodeloom/kernel";

it("keeps items in their order, within their groups and between them", () => {
  const groups = groupBy(["banana", "apple", "blueberry", "avocado"], ([first]) => first);
  expect([...groups]).toEqual([
    ["b", ["banana", "blueberry"]],
    ["a", ["apple", "avocado"]],
  ]);
});
