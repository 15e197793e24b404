import { expect, test, type BrowserContext, type Page, type Route } from "@playwright/test";
import { eventually, type Account } from "../../../test-support/client";
import { setStage } from "./support/stage";

/** `npm run drill console`: the editor while the service rejects, is busy, fails or is unavailable, for every kind of request. */

interface Failure {
  name: string;
  answer: { status: number; headers?: Record<string, string>; contentType?: string; body: string } | "cut" | "none";
  /** Text that the user reads. */
  text: RegExp;
  isSignedOut?: boolean;
}

const json = (status: number, code: string, headers: Record<string, string> = {}, more: object = {}): Failure => ({
  name: `${status} ${code}`,
  answer: { status, headers, contentType: "application/json", body: JSON.stringify({ error: `Status is ${status}.`, code, ...more }) },
  text: new RegExp(`Status is ${status}\\.`),
});

const CUT: Failure = { name: "a lost network", answer: "cut", text: /[Cc]an.t reach the service/ };
const PORTAL: Failure = {
  name: "200 of a network's sign-in page",
  answer: { status: 200, contentType: "text/html", body: "<h1>Welcome to our guests</h1>" },
  text: /[Cc]an.t reach the service/,
};
const SILENCE: Failure = { name: "a connection that hangs", answer: "none", text: /[Cc]an.t reach the service/ };
const SIGNED_OUT: Failure = { ...json(401, "UNAUTHENTICATED"), text: /Sign in again/, isSignedOut: true };
const REFUSALS: readonly Failure[] = [
  json(403, "ACCOUNT_NOT_APPROVED"),
  json(409, "IDEMPOTENCY_MISMATCH"),
  json(422, "WORKFLOW_INVALID", {}, { issues: [{ nodeId: "words", message: "Status is 422." }] }),
  json(429, "RATE_LIMIT_EXCEEDED", { "retry-after": "60" }),
  json(500, "INTERNAL"),
  json(503, "SERVICE_UNAVAILABLE", { "retry-after": "0" }),
  { name: "502 of a proxy", answer: { status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" }, text: /answered 502/ },
  CUT,
  PORTAL,
  SIGNED_OUT,
];
const STALE = json(412, "PRECONDITION_FAILED");
/** Time limit for a click on an enabled button. */
const PRESSED_MS = 5_000;

const stage = setStage();
let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});

interface Editor {
  page: Page;
  context: BrowserContext;
  slug: string;
  /**
   * Makes all requests of a method and path fail in one way.
   * @returns a function that ends this
   */
  fail(method: string, path: RegExp, failure: Failure): Promise<() => Promise<void>>;
  /** Signs in if the page asks for it. */
  signIn(): Promise<void>;
}

/** @param calledOff aborts pending requests, which hang until then */
const answerWith =
  ({ answer }: Failure, calledOff: Promise<void>) =>
  async (route: Route): Promise<void> => {
    if (answer === "none") {
      await calledOff;
      // The page can have cancelled the request.
      return route.abort().catch(() => undefined);
    }
    await (answer === "cut" ? route.abort("connectionfailed") : route.fulfill(answer));
  };
/** Time limit for the automatic retry of a failed save. */
const TRIED_MS = 5_000;
/** Shortens waits of a minute to a second. */
const HURRY = "{ const wait = AbortSignal.timeout.bind(AbortSignal); AbortSignal.timeout = (ms) => wait(ms / 60); }";

const inEditor = (name: string, act: (editor: Editor) => Promise<void>, withFile = false): void =>
  test(name, async () => {
    const nodes = [
      {
        id: "in",
        type: "request-input",
        position: { x: -400, y: 0 },
        data: { fields: [{ name: "topic", type: "text", label: "Topic" }] },
      },
      { id: "words", type: "text-box", position: { x: 0, y: 0 }, data: { text: "first {{topic}}" } },
      ...(withFile ? [{ id: "file", type: "media-upload", position: { x: 0, y: 300 }, data: {} }] : []),
      { id: "end", type: "response-output", position: { x: 400, y: 0 }, data: {} },
    ];
    const edges = [
      { id: "t", source: "in", sourceHandle: "topic", target: "words", targetHandle: "topic" },
      { id: "e", source: "words", sourceHandle: "text", target: "end", targetHandle: "text" },
    ];
    const reply = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name, nodes, edges } });
    const slug = String(reply.body.slug);
    const { page, context, complaints } = await stage.signedIn(account);
    const fail: Editor["fail"] = async (method, path, failure) => {
      let callOff = (): void => undefined;
      const answer = answerWith(failure, new Promise((resolve) => (callOff = resolve)));
      const handler = (route: Route): Promise<void> => (route.request().method() === method ? answer(route) : route.fallback());
      await page.route((url) => path.test(url.pathname), handler);
      return async () => {
        callOff();
        await page.unrouteAll({ behavior: "wait" });
      };
    };
    const signIn = async (): Promise<void> => {
      const dialog = page.getByRole("dialog", { name: "Sign in again" });
      await dialog.getByLabel("Password").fill(account.password);
      await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await act({ page, context, slug, fail, signIn });
    expect(complaints).toEqual([]);
    await context.close();
  });

const open = async ({ page, slug }: Editor, node = "words"): Promise<void> => {
  await page.goto(`/workflows/${slug}?node=${node}`);
  await page.locator(".react-flow__node").first().waitFor();
};
/** Resolves when the message is visible anywhere on the page. */
const reads = (page: Page, { text }: Failure): Promise<void> => page.getByText(text).first().waitFor();

test.describe("whatever the service returns,", () => {
  inEditor("a workflow that can't be loaded shows the reason, and loads on retry", async (editor) => {
    const { page, slug, fail, signIn } = editor;
    await page.goto("/kitchen");
    for (const failure of REFUSALS) {
      await page.goto("/models");
      await page.getByRole("heading", { level: 1 }).waitFor();
      const mend = await fail("GET", new RegExp(`^/api/workflows/${slug}$`), failure);
      await page.evaluate(`history.pushState({}, "", "/workflows/${slug}?node=words"); dispatchEvent(new PopStateEvent("popstate"))`);
      await reads(page, failure);
      await mend();
      if (failure.isSignedOut) await signIn();
      else await page.getByRole("button", { name: "Try again" }).click();
      await page.locator(".react-flow__node").first().waitFor();
    }
  });

  inEditor("a change that can't be saved is kept, reported, and saved on retry", async (editor) => {
    const { page, slug, fail, signIn } = editor;
    await open(editor);
    await page.evaluate(HURRY);
    const text = page.getByRole("textbox", { name: "Text", exact: true });
    for (const failure of [...REFUSALS, SILENCE]) {
      const typed = `typed before ${failure.name}`;
      const mend = await fail("PUT", /^\/api\/workflows\//, failure);
      await text.fill(typed);
      await reads(page, failure);
      if (!failure.isSignedOut) await page.getByText("Your changes are kept in this browser.").waitFor();
      expect(await text.inputValue()).toBe(typed);
      await mend();
      if (failure.isSignedOut) await signIn();
      // The retry is automatic, so there can be no button to click.
      else
        await page
          .getByRole("button", { name: "Try now" })
          .click({ timeout: TRIED_MS })
          .catch(() => undefined);
      await page.getByText("Saved", { exact: true }).waitFor();
      expect((await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key })).text).toContain(typed);
    }
  });

  inEditor("a revision that keeps changing never interrupts typing, and is saved in the end", async (editor) => {
    const { page, slug, fail } = editor;
    await open(editor);
    const mend = await fail("PUT", /^\/api\/workflows\//, STALE);
    await page.getByRole("textbox", { name: "Text", exact: true }).fill("beside others");
    await page.getByText("Others are saving this workflow").waitFor();
    await mend();
    await page.getByRole("button", { name: "Try now" }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    expect((await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key })).text).toContain("beside others");
  });

  inEditor("unsaved work survives closing the page that could not save it", async (editor) => {
    const { page, fail } = editor;
    await open(editor);
    const mend = await fail("PUT", /^\/api\/workflows\//, CUT);
    await page.getByRole("textbox", { name: "Text", exact: true }).fill("through a crash");
    await reads(page, CUT);
    page.on("dialog", (dialog) => void dialog.accept());
    await page.reload();
    await mend();
    await page.getByText("Restored unsaved changes of your last visit.").waitFor();
    await page.getByText("Saved", { exact: true }).waitFor();
    expect(await page.getByRole("textbox", { name: "Text", exact: true }).inputValue()).toBe("through a crash");
  });

  inEditor("a run that can't start shows the reason, keeps its inputs, and starts on retry", async (editor) => {
    const { page, fail, signIn } = editor;
    await open(editor);
    await page.keyboard.press("Control+Enter");
    await page.evaluate(HURRY);
    const topic = page.getByLabel("Topic");
    for (const failure of [...REFUSALS, STALE, SILENCE]) {
      const typed = `boats before ${failure.name}`;
      await topic.fill(typed);
      const mend = await fail("POST", /\/run$/, failure);
      await page.getByTestId("run").click();
      await reads(page, failure);
      expect(await topic.inputValue()).toBe(typed);
      await mend();
      if (failure.isSignedOut) await signIn();
      await page.getByTestId("run").click();
      await page.locator("section[aria-label=Run]").getByText(`first ${typed}`).waitFor();
      await page.getByRole("button", { name: "Clear from canvas" }).click();
    }
  });

  inEditor("a run with an unknown start is the same run when it is started again", async (editor) => {
    const { page, slug } = editor;
    await open(editor);
    await page.keyboard.press("Control+Enter");
    await page.getByLabel("Topic").fill("a boat");
    const keys: (string | undefined)[] = [];
    await page.route(
      (url) => url.pathname.endsWith("/run"),
      async (route) => {
        keys.push(route.request().headers()["idempotency-key"]);
        // The service starts the work, but its response is lost.
        await route.fetch();
        await route.abort("connectionreset");
      },
    );
    await page.getByTestId("run").click();
    await reads(page, CUT);
    await page.unrouteAll({ behavior: "wait" });
    await page.getByTestId("run").click();
    await page.locator("section[aria-label=Run]").getByText("first a boat").waitFor();
    expect(new Set(keys).size).toBe(1);
    const listed = await stage.http.call("GET", `/api/executions?workflowSlug=${slug}`, { key: account.key });
    expect(listed.body.rows).toHaveLength(1);
  });

  inEditor("a run that can't be followed shows the reason, and is followed again automatically", async (editor) => {
    const { page, slug, fail, signIn } = editor;
    await open(editor);
    for (const failure of REFUSALS) {
      const body = { inputs: { topic: failure.name } };
      const ran = await stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body });
      const mend = await fail("GET", /^\/api\/executions\//, failure);
      await page.goto(`/workflows/${slug}?run=${ran.headers.get("x-execution-id")}`);
      await reads(page, failure);
      await mend();
      if (failure.isSignedOut) await signIn();
      // A permanent rejection isn't retried.
      if (failure.name.startsWith("403")) continue;
      await page.locator("section[aria-label=Run]").getByText(`first ${failure.name}`).waitFor();
    }
  });

  inEditor("a publication that fails shows the reason, keeps its note, and succeeds on retry", async (editor) => {
    const { page, slug, fail, signIn } = editor;
    await open(editor);
    const dialog = page.getByRole("dialog", { name: "Versions" });
    const failures = [...REFUSALS, STALE];
    for (const [index, failure] of failures.entries()) {
      await page.getByRole("textbox", { name: "Text", exact: true }).fill(`to publish before ${failure.name}`);
      await page.getByText("Saved", { exact: true }).waitFor();
      await page.getByRole("heading", { level: 1 }).click();
      await page.keyboard.press("Escape");
      await page.locator('.react-flow__node[data-id="words"]').click();
      await page.getByRole("button", { name: index === 0 ? /^Publish$/ : /^Version/ }).click();
      await dialog.getByLabel("Note").fill(failure.name);
      const mend = await fail("POST", /\/versions$/, failure);
      await dialog.getByRole("button", { name: /^Publish version/ }).click();
      await reads(page, failure);
      expect(await dialog.getByLabel("Note").inputValue()).toBe(failure.name);
      await mend();
      if (failure.isSignedOut) await signIn();
      // If the console has retried meanwhile, everything is published and the button is disabled.
      const again = dialog.getByRole("button", { name: /^Publish version/ });
      await again.click({ timeout: PRESSED_MS }).catch(() => undefined);
      await dialog.getByRole("button", { name: new RegExp(failure.name) }).waitFor();
      await dialog.getByRole("button", { name: "Close" }).click();
    }
    const listed = await stage.http.call("GET", `/api/workflows/${slug}/versions`, { key: account.key });
    expect((listed.body as unknown as { rows: unknown[] }).rows).toHaveLength(failures.length);
  });

  inEditor("publishing can't be pressed again until its version is read, so that one press creates one version", async (editor) => {
    const { page, slug } = editor;
    await open(editor);
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Versions" });
    const publish = dialog.getByRole("button", { name: /^Publish version/ });
    let letRead = (): void => undefined;
    const mayRead = new Promise<void>((resolve) => (letRead = resolve));
    await page.route(
      (url) => url.pathname === `/api/workflows/${slug}`,
      async (route) => {
        await mayRead;
        await route.continue();
      },
    );
    await publish.click();
    await page
      .getByText(/Published version 1/)
      .first()
      .waitFor();
    expect(await publish.isDisabled()).toBe(true);
    letRead();
    await eventually(async () => (await publish.getAttribute("aria-busy")) === null);
    expect(await publish.isDisabled()).toBe(true);
    const listed = await stage.http.call("GET", `/api/workflows/${slug}/versions`, { key: account.key });
    expect((listed.body as unknown as { rows: unknown[] }).rows).toHaveLength(1);
  });

  inEditor(
    "a file whose upload fails is named, and sent on retry",
    async (editor) => {
      const { page, fail, signIn } = editor;
      await open(editor, "file");
      const takeOut = page.getByRole("button", { name: "Remove it from File" });
      const picture = Buffer.from(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "base64",
      );
      for (const failure of [...REFUSALS, STALE]) {
        const mend = await fail("POST", /^\/api\/media$/, failure);
        await page.locator("input[type=file]").setInputFiles({ name: "boat.png", mimeType: "image/png", buffer: picture });
        await page
          .getByText(/Couldn't upload boat\.png/)
          .first()
          .waitFor();
        if (!failure.isSignedOut) await reads(page, failure);
        await mend();
        if (failure.isSignedOut) await signIn();
        const messages = page.getByRole("log", { name: "Messages" });
        await messages.getByRole("button", { name: "Try again" }).last().click();
        await takeOut.click();
        await takeOut.waitFor({ state: "detached" });
        for (const dismiss of await messages.getByRole("button", { name: "Dismiss" }).all()) await dismiss.click().catch(() => undefined);
      }
    },
    true,
  );
});
