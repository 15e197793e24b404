import { expect, test } from "@playwright/test";
import type { Account } from "../../../test-support/client";
import { setStage } from "./support/stage";

/** `npm run drill console`: hostile texts in every field that accepts text, on every page that shows the field. */
const PAYLOADS: readonly (readonly [string, string])[] = [
  ["markup", `<img src=x onerror="window.broken='yes'"><script>window.broken='yes'</script>`],
  ["an attribute's end", `"><svg onload="window.broken='yes'">' autofocus onfocus=window.broken='yes' x='`],
  ["a template", "{{constructor.constructor('window.broken=`yes`')()}} ${window.broken='yes'} {{7*7}}"],
  ["an address", "javascript:window.broken='yes'//https://example.test/x.png"],
  ["a word without end", "W".repeat(180)],
  ["marks that turn and pile up", `\u202Egnp.exe\u202C Z\u0351\u0352\u0353\u0354\u0355\u0356\u0357\u0358algo \u200F\u2066x\u2069`],
];
/** Names in one line can't have these marks. */
const TURNING_MARKS = /[\u202a-\u202e\u2066-\u2069]/g;
const WIDTHS = [1440, 390] as const;

const stage = setStage();

/**
 * Creates an account with a text in every field that users can fill.
 * @returns the pages that show the text
 */
const plant = async (account: Account, text: string): Promise<string[]> => {
  const node = (id: string, type: string, x: number, data: object): object => ({ id, type, position: { x, y: 0 }, data });
  const graph = {
    nodes: [
      node("in", "request-input", 0, { label: text, fields: [{ name: "words", type: "text", label: text, default: text }] }),
      node("box", "text-box", 300, { label: text, text: `{{words}} ${text}` }),
      node("note", "note", 0, { text }),
      node(text.slice(0, 60), text.slice(0, 60), 600, { label: text, [text.slice(0, 60)]: text }),
      node("out", "response-output", 600, { label: text }),
    ],
    edges: [
      { id: text.slice(0, 60), source: "in", sourceHandle: "words", target: "box", targetHandle: "words" },
      { id: "e", source: "box", sourceHandle: "text", target: "out", targetHandle: "text" },
      { id: "f", source: "box", sourceHandle: "text", target: "out", targetHandle: text.slice(0, 60) },
    ],
  };
  const line = text.replaceAll(TURNING_MARKS, "");
  const body = { name: line, description: text, tags: [line.slice(0, 40)], publicPlayground: true, isTemplate: true, ...graph };
  const reply = await stage.http.call("POST", "/api/workflows", { key: account.key, body });
  if (reply.status !== 201) throw new Error(reply.text);
  const slug = String(reply.body.slug);
  await stage.http.call("POST", `/api/workflows/${slug}/versions`, { key: account.key, body: { note: text } });
  // The unknown kind would be rejected, so the run excludes it.
  const run = { inputs: { words: text }, metadata: { [text.slice(0, 40)]: text }, until: "out" };
  const ran = await stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body: run });
  if (ran.status !== 200) throw new Error(ran.text);
  await stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body: { inputs: { [text]: text } } });
  await stage.http.call("POST", "/api/folders", { key: account.key, body: { name: line } });
  await stage.http.createKey(account.cookie, {});
  return [
    "/",
    `/workflows/${slug}`,
    `/workflows/${slug}?node=box`,
    "/executions",
    `/executions/${ran.headers.get("x-execution-id")}`,
    "/usage",
    "/keys",
    "/account",
    `/p/${slug}`,
  ];
};

for (const [name, text] of PAYLOADS)
  test(`${name} is shown as text, executes nothing, and breaks no page, wide and narrow`, async () => {
    const account = await stage.http.account({ tier: "pro" });
    const paths = await plant(account, text);
    const problems: Record<string, string[]> = {};
    for (const width of WIDTHS) {
      const { page, context, complaints } = await stage.signedIn(account, { width });
      page.on("dialog", (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      const look = async (place: string): Promise<void> => {
        const tooWide = (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) as boolean;
        const isBroken = (await page.evaluate("window.broken !== undefined")) as boolean;
        const complaintsFound = [
          ...(tooWide ? ["wider than the window"] : []),
          ...(isBroken ? ["ran what it shows"] : []),
          ...complaints.splice(0),
        ];
        if (complaintsFound.length > 0) problems[`${place} ${width}`] = complaintsFound;
      };
      for (const path of paths) {
        await page.goto(path);
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        await page.waitForLoadState("networkidle");
        await look(path);
      }
      await page.goto(paths[1]!);
      await page.locator(".react-flow__node").first().waitFor();
      await page.keyboard.press("Shift+V");
      await page
        .getByRole("dialog", { name: "Versions" })
        .getByRole("button", { name: /^Version 1/ })
        .click();
      await page.getByText("No differences.").waitFor();
      await look("versions");
      await context.close();
    }
    expect(problems).toEqual({});
  });
