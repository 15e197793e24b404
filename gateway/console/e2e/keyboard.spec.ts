import { expect, test } from "@playwright/test";
import { buildThree, nodes } from "./support/canvas";
import { handOf } from "./support/hand";
import { setStage } from "./support/stage";

/** `npm run drill console`: from sign-in to a result without a pointer. */
/** Maximum number of key presses from the dashboard to the result, without letters of texts. */
const MOST_PRESSES = 20;

const stage = setStage();

test("a pipeline of three nodes is created and run, and its picture viewed, only by keyboard and in few presses", async () => {
  const account = await stage.http.account({ tier: "pro" });
  const { page, context, complaints } = await stage.visit();
  const hand = handOf(page);
  const { press, type, effort } = hand;
  await page.goto("/");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await type(account.email);
  await press("Tab");
  await type(account.password);
  await press("Enter");
  await page.getByRole("button", { name: "New workflow" }).waitFor();
  const signedIn = effort.presses;

  await buildThree(hand, page, "By keyboard");
  expect(await page.locator(".react-flow__edge").count()).toBe(2);

  // Opens the settings and goes back.
  await press("Alt+ArrowLeft", "Enter");
  await page.locator("aside :focus").waitFor();
  await press("Escape");
  expect(await page.evaluate("document.activeElement === document.body")).toBe(true);

  await press("Control+Enter");
  await page.locator("form[data-run] :focus").waitFor();
  await type("a paper boat");
  await press("Control+Enter");
  await page.locator("section[aria-label=Run] img").waitFor();
  await page.locator("section[aria-label=Run]").getByText("Completed", { exact: true }).first().waitFor();
  process.stdout.write(`${effort.presses - signedIn} presses from the dashboard to the picture\n`);
  expect(effort.presses - signedIn).toBeLessThanOrEqual(MOST_PRESSES);
  expect(complaints).toEqual([]);
  await context.close();
});

test("the list of nodes is one tab stop, and its arrow keys move between nodes", async () => {
  const account = await stage.http.account({ tier: "pro" });
  const graph = {
    nodes: Array.from({ length: 40 }, (_, index) => ({
      id: `n${index}`,
      type: "text-box",
      position: { x: index * 300, y: 0 },
      data: { text: "x", label: `n${index}` },
    })),
    edges: Array.from({ length: 39 }, (_, index) => ({ id: `e${index}`, source: `n${index}`, target: `n${index + 1}` })),
  };
  const reply = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Forty", ...graph } });
  const { page, context } = await stage.signedIn(account);
  await page.goto(`/workflows/${String(reply.body.slug)}`);
  await nodes(page, 40);
  const stops: string[] = [];
  for (let tabs = 0; tabs < 60; tabs += 1) {
    await page.keyboard.press("Tab");
    const place = (await page.evaluate(
      `document.activeElement.closest("nav[aria-label=Nodes]") ? "nodes" : document.activeElement.closest(".react-flow") ? "canvas" : document.activeElement === document.body ? "out" : "other"`,
    )) as string;
    stops.push(place);
    if (place === "out") break;
  }
  expect(stops.filter((place) => place === "nodes")).toHaveLength(1);
  expect(stops).not.toContain("canvas");
  await page.locator("nav[aria-label=Nodes] button[tabindex='0']").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  expect(await page.evaluate(`document.querySelector("nav[aria-label=Nodes] [aria-pressed=true]").textContent.split(",")[0]`)).toBe("n2");
  await context.close();
});
