import type { Page } from "@playwright/test";
import type { Hand } from "./hand";

export { edge } from "../../../../test-support/graphs";

export const NODE = ".react-flow__node";

export interface Point {
  x: number;
  y: number;
}

/** A node at a position of the canvas. */
export const nodeAt = (id: string, type: string, position: Point, data: object = {}): object => ({ id, type, position, data });

/** Waits until this many nodes are on the canvas. */
export const nodes = (page: Page, count: number): Promise<void> =>
  page
    .locator(NODE)
    .nth(count - 1)
    .waitFor();

export const saved = (page: Page): Promise<void> => page.getByText("Saved", { exact: true }).waitFor();

/** Screen position of the middle of the first matching element. */
export const middleOf = async (page: Page, selector: string): Promise<Point> => {
  const box = (await page.locator(selector).first().boundingBox())!;
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
};

/** Builds a workflow with an input, a picture and a result, from the dashboard and only by keyboard. */
export const buildThree = async ({ press, type }: Hand, page: Page, name: string): Promise<void> => {
  await press("n");
  await page.getByRole("dialog", { name: "New workflow" }).waitFor();
  await type(name);
  await press("Enter");
  await page.getByRole("button", { name: "Add your first node" }).waitFor();
  for (const [index, [open, words]] of [["/", "inputs"] as const, ["a", "image"] as const, ["a", "results"] as const].entries()) {
    await press(open);
    await type(words);
    await press("Enter");
    await nodes(page, index + 1);
  }
};
