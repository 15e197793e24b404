import { expect, test } from "@playwright/test";
import { edge, nodeAt } from "./support/canvas";
import { setStage } from "./support/stage";

/** Many runs are erased after they were counted, and the page shows how far it is. */

const stage = setStage();

test("an owner counts the runs of a customer, erases them and sees the end of the erasure", async () => {
  const account = await stage.http.account({ tier: "business" });
  const nodes = [nodeAt("text", "text-box", { x: 0, y: 0 }, { text: "a boat" }), nodeAt("end", "response-output", { x: 300, y: 0 })];
  const body = { name: "Short", nodes, edges: [edge("text.text", "end.text")] };
  const { slug } = (await stage.http.call("POST", "/api/workflows", { key: account.key, body })).body;
  const run = async (customer: string): Promise<string> => {
    const metadata = { customer };
    const ran = await stage.http.call("POST", `/api/workflows/${String(slug)}/run`, { key: account.key, body: { inputs: {}, metadata } });
    return String(ran.headers.get("x-execution-id"));
  };
  const [gone, kept] = [await run("acme"), await run("other")];
  const { page, complaints, context } = await stage.signedIn(account);
  await page.goto("/executions");
  await page.getByRole("link", { name: "Erase runs" }).click();
  const erase = page.getByRole("button", { name: "Erase…" });
  await expect(page.getByRole("button", { name: "Count runs" })).toBeDisabled();
  await page.getByLabel("Metadata name").fill("customer");
  await page.getByLabel("Metadata value").fill("acm");
  await page.getByRole("button", { name: "Count runs" }).click();
  await page.getByText("No run matches").waitFor();
  await expect(erase).toBeDisabled();
  await page.getByLabel("Metadata value").fill("acme");
  await page.getByRole("button", { name: "Count runs" }).click();
  await page.getByText("1 run matches").waitFor();
  await erase.click();
  await page.getByRole("dialog").getByRole("button", { name: "Erase" }).click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  const past = page.getByRole("region", { name: "Past erasures" });
  await expect(past.getByRole("row")).toHaveCount(2);
  await past.getByRole("link", { name: "Metadata customer" }).waitFor();
  await past.getByText("completed", { exact: true }).waitFor();
  const statusOf = async (id: string) => (await stage.http.call("GET", `/api/executions/${id}`, { key: account.key })).status;
  expect([await statusOf(gone), await statusOf(kept)]).toEqual([404, 200]);
  expect(complaints).toEqual([]);
  await context.close();
});
