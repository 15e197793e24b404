import { randomUUID } from "node:crypto";
import { addresses, executions } from "@nodeloom/proto";
import { makeCertificates } from "../../../../test-support/certificates";
import { createContents } from "../../src/mail/content";
import { createDeliver } from "../../src/mail/deliver";
import { MAIL_LIMITS, pauseAfter, type Mail } from "../../src/mail/mails";
import { mailSettings, type MailConfig } from "../../src/mail/settings";
import { createMailTransport } from "../../src/mail/transport";
import { createWriter } from "../../src/mail/write";
import { logger, openStores, type Stores } from "../support/index";
import { headersOf, refusal, startMailServer, type MailServer } from "../../../../test-support/mail-server";

const KEY = "ab".repeat(32);
const RESET: Mail = { kind: "passwordReset", email: "ada@example.com" };
const ALERT: Mail = {
  kind: "budgetAlert",
  userId: "u1",
  alert: {
    scope: "workflow",
    subject: "posters",
    percent: 80,
    credits: 100,
    used: 81.5,
    window: "month",
    resetsAt: "2026-06-01T00:00:00.000Z",
  },
};

let stores: Stores;
let stop: () => Promise<void>;
const servers: MailServer[] = [];
beforeAll(async () => void ({ stores, stop } = await openStores()));
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await stop();
});

const serve = async (...options: Parameters<typeof startMailServer>): Promise<MailServer> => {
  const server = await startMailServer(...options);
  servers.push(server);
  return server;
};

const contents = createContents([KEY]);
let tokens = 0;
const account = (part: Partial<addresses.GetAddressResponse> = {}): addresses.GetAddressResponse =>
  addresses.GetAddressResponse.fromPartial({
    email: "ada@example.com",
    verifiedAt: new Date(0),
    unsubscribeTokens: { lowCredits: "u1.lowCredits.1", budgetAlerts: "u1.budgetAlerts.2" },
    ...part,
  });

interface Setup {
  config?: MailConfig;
  of?: Partial<addresses.GetAddressResponse>;
  link?: executions.DecisionLink;
  store?: Stores["mails"];
}

/** Deliveries of one process. */
const deliverTo = ({ port }: MailServer, { config, of, link, store = stores.mails }: Setup = {}) => {
  const settings = mailSettings({
    SMTP_URL: `smtp://localhost:${port}`,
    SMTP_TLS: "optional",
    MAIL_FROM: "Nodeloom <mail@example.com>",
    ...config,
  })!;
  const write = createWriter({
    baseUrl: "https://loom.example",
    executions: { createDecisionLink: async () => executions.CreateDecisionLinkResponse.fromPartial({ link }) },
    addresses: {
      createMailedReset: async ({ email }) =>
        addresses.CreateMailedResetResponse.fromPartial(
          email.startsWith("nobody") ? {} : { mailed: { email, token: `token-${(tokens += 1)}`, expiresAt: new Date() } },
        ),
      createVerification: async () => addresses.CreateVerificationResponse.fromPartial({}),
      getAddress: async () => account(of),
    },
  });
  return createDeliver({ store, contents, write, transport: createMailTransport(settings), settings, logger });
};

const queued = async (mail: Mail, createdAt = new Date()): Promise<string> => {
  const id = randomUUID();
  const record = { _id: id, kind: mail.kind, ...contents.seal(id, mail), carried: true, end: null, createdAt };
  await stores.mails.insert(record);
  return id;
};

it("sends an email with a link, as text and as HTML without external content, and keeps none of its content", async () => {
  const server = await serve();
  const id = await queued(RESET);
  expect(JSON.stringify(await stores.mails.find(id))).not.toContain("ada@example.com");
  expect(await deliverTo(server)(id, 1)).toEqual({ end: "sent" });
  const [mail] = server.received;
  expect(mail).toMatchObject({ from: "mail@example.com", to: ["ada@example.com"] });
  expect(headersOf(mail!)).toMatchObject({ subject: ["Set a new password"], "auto-submitted": ["auto-generated"] });
  const readable = mail!.text.replace(/=\r\n/g, "").replace(/=3D/g, "=");
  const link = `https://loom.example/reset-password#token=token-${tokens}`;
  expect(readable.split(link).length - 1).toBeGreaterThanOrEqual(3);
  expect(readable).not.toMatch(/<(img|link|script|iframe)|url\(/i);
  expect(await stores.mails.find(id)).toMatchObject({ end: "sent", content: Buffer.alloc(0) });
});

it("sends nothing if an address has no account", async () => {
  const server = await serve();
  expect(await deliverTo(server)(await queued({ kind: "passwordReset", email: "nobody@example.com" }), 1)).toEqual({ end: "not wanted" });
  expect(server.received).toEqual([]);
});

it("retries after a temporary rejection with a new link, and ends at once after a permanent one", async () => {
  const server = await serve({ message: (count) => (count === 1 ? refusal(451) : undefined) });
  const id = await queued(RESET);
  const deliver = deliverTo(server);
  expect(await deliver(id, 1)).toEqual({ pauseMs: MAIL_LIMITS.firstPause });
  expect(await deliver(id, 2)).toEqual({ end: "sent" });
  expect(await deliver(id, 3)).toEqual({ end: "sent" });
  expect(server.received).toHaveLength(1);
  expect(server.received[0]!.text).toContain(`token-${tokens}`);

  const refusing = await serve({ recipient: () => refusal(550) });
  expect(await deliverTo(refusing)(await queued(RESET), 1)).toEqual({ end: "refused" });
  const permanent = await serve({ message: () => refusal(554) });
  expect(await deliverTo(permanent)(await queued(RESET), 1)).toEqual({ end: "refused" });
});

it("drops an email that is too old, and doubles its pauses until then", async () => {
  const away = await serve();
  await away.stop();
  const createdAt = new Date(Date.now() - 3 * 24 * 3_600_000);
  expect(await deliverTo(away)(await queued(ALERT, createdAt), 40)).toEqual({ end: "given up" });
  expect(await deliverTo(away)(await queued(ALERT), 3)).toEqual({ pauseMs: 4 * MAIL_LIMITS.firstPause });
  expect(pauseAfter("approval", 20, 0)).toBe(MAIL_LIMITS.longestPause);
  expect(pauseAfter("passwordReset", 1, MAIL_LIMITS.triedFor.passwordReset)).toBeNull();
});

it("is sent under one Message-ID, even if a process dies before it records that the email was accepted", async () => {
  const server = await serve();
  const id = await queued(RESET);
  const dead = new Promise<never>(() => undefined);
  const reached = new Promise<void>((resolve) => {
    const dies = (): Promise<never> => {
      resolve();
      return dead;
    };
    void deliverTo(server, { store: { ...stores.mails, end: dies } })(id, 1);
  });
  await reached;
  expect(await deliverTo(server)(id, 2)).toEqual({ end: "sent" });
  const [first, second] = server.received.map((mail) => headersOf(mail)["message-id"]);
  expect(first).toEqual([expect.stringMatching(/^<[0-9a-f]{32}@example\.com>$/)]);
  expect(second).toEqual(first);
  expect(server.received).toHaveLength(2);
});

it.each<[string, Parameters<typeof startMailServer>]>([
  ["the recipient", [{ recipient: () => refusal(451) }]],
  ["the sender", [{}, { onMailFrom: (_address, _session, callback) => callback(refusal(451)) }]],
])("doesn't treat an email as sent until the server has accepted %s", async (_whom, options) => {
  const server = await serve(...options);
  const id = await queued(RESET);
  expect(await deliverTo(server)(id, 1)).toEqual({ pauseMs: MAIL_LIMITS.firstPause });
  expect(await stores.mails.find(id)).toMatchObject({ end: null });
});

it.each([
  ["a line break", "Acme\r\nBcc: eve@example.com"],
  ["a bare one", "Acme\nBcc: eve@example.com\n\n<b>body</b>"],
  ["an encoded word", "=?utf-8?Q?Acme=0D=0ABcc:_eve@example.com?="],
])("creates no header and no recipient from %s in a name", async (_what, name) => {
  const server = await serve();
  const mail: Mail = {
    ...{ kind: "invitation", userId: "u1", to: "bob@example.com", link: "https://loom.example/join#token=x" },
    ...{ organizationName: name, inviterName: name },
  };
  expect(await deliverTo(server)(await queued(mail), 1)).toEqual({ end: "sent" });
  const [received] = server.received;
  expect(received!.to).toEqual(["bob@example.com"]);
  const headers = headersOf(received!);
  expect(headers).not.toHaveProperty("bcc");
  expect([headers.subject, headers.to].map((values) => values?.length)).toEqual([1, 1]);
  expect(received!.text.split("Content-Type: text/html")[1]).not.toContain("<b>");
});

it("sends notices only to confirmed addresses that subscribe to them, with a one-click unsubscribe", async () => {
  const server = await serve();
  for (const part of [{ verifiedAt: undefined }, { mutedNotices: ["budgetAlerts"] }, { suspended: true }]) {
    expect(await deliverTo(server, { of: part })(await queued(ALERT), 1)).toEqual({ end: "not wanted" });
  }
  expect(await deliverTo(server, { of: { mutedNotices: ["lowCredits"] } })(await queued(ALERT), 1)).toEqual({ end: "sent" });
  const headers = headersOf(server.received[0]!);
  expect(headers["list-unsubscribe"]).toEqual(["<https://loom.example/api/mail/unsubscribe?token=u1.budgetAlerts.2>"]);
  expect(headers["list-unsubscribe-post"]).toEqual(["List-Unsubscribe=One-Click"]);
});

it("asks an approver by a link of its own, and sends nothing once the run no longer waits", async () => {
  const server = await serve();
  const request = { ownerId: "o1", executionId: "e1", nodeId: "review", personId: "", address: "legal@example.com" };
  const mail: Mail = { kind: "decisionRequest", ...request };
  expect(await deliverTo(server)(await queued(mail), 1)).toEqual({ end: "not wanted" });
  const link = {
    ...{ token: "secret-token", title: "Good to send?\r\nBcc: eve@example.com", workflowSlug: "campaign", accountName: "Loom Works" },
    ...{ until: new Date("2026-12-31T12:00:00Z"), onTimeout: "reject" },
  };
  const id = await queued(mail);
  expect(await deliverTo(server, { link })(id, 1)).toEqual({ end: "sent" });
  const [received] = server.received;
  expect(received!.to).toEqual([request.address]);
  expect(headersOf(received!)).not.toHaveProperty("bcc");
  const readable = received!.text.replace(/=\r\n/g, "").replace(/=3D/g, "=");
  expect(readable).toContain("https://loom.example/decide#token=secret-token");
  expect(readable).toContain("2026-12-31 12:00 UTC");
  expect(JSON.stringify(await stores.mails.find(id))).not.toContain("legal@example.com");
});

it("names the day, the successor and workflows of a model that is shut down, and can be disabled", async () => {
  const server = await serve();
  const workflows = ["Films", "Posters"];
  const retiring = { model: "old-film", retiresOn: "2026-12-31", successor: "new-film", workflows, workflowCount: 5 };
  const mail: Mail = { kind: "modelRetiring", userId: "u1", retiring };
  expect(await deliverTo(server, { of: { mutedNotices: ["retiringModels"] } })(await queued(mail), 1)).toEqual({ end: "not wanted" });
  expect(await deliverTo(server)(await queued(mail), 1)).toEqual({ end: "sent" });
  const [received] = server.received;
  expect(headersOf(received!).subject).toEqual(["old-film is shut down on 2026-12-31"]);
  expect(received!.text.replaceAll(/=\r\n/g, "")).toMatch(/Films.*Posters.*and 3 more[^]*Change to new-film/);
});

it("links from the mail about a disabled endpoint to the webhooks of its account", async () => {
  const server = await serve();
  const mail: Mail = { kind: "endpointDisabled", userId: "u1", endpointUrl: "https://example.com/hook" };
  for (const organization of [undefined, { id: "o1", name: "Works" }])
    expect(await deliverTo(server)(await queued({ ...mail, organization }), 1)).toEqual({ end: "sent" });
  const [own, shared] = server.received.map(({ text }) => text.replaceAll(/=\r\n/g, "").replaceAll("=3D", "="));
  expect(own).toContain("https://loom.example/webhooks?account=u1");
  expect(shared).toContain("https://loom.example/webhooks?account=o1");
});

it("names the organization in emails to owners, and announces its end whatever they have disabled", async () => {
  const server = await serve();
  const of = { verifiedAt: undefined, mutedNotices: ["lowCredits", "budgetAlerts"] };
  const about = { userId: "u1", organization: { id: "o1", name: "Loom\r\nWorks" }, erasesAt: "2026-06-01T10:00:00.000Z" };
  for (const kind of ["organizationLeaving", "organizationKept"] as const)
    expect(await deliverTo(server, { of })(await queued({ kind, personName: "ada@example.com", ...about }), 1)).toEqual({ end: "sent" });
  expect(await deliverTo(server)(await queued({ ...ALERT, organization: about.organization }), 1)).toEqual({ end: "sent" });
  const [leaving, keptMail, alert] = server.received;
  const subjects = [leaving, keptMail, alert].map((mail) => headersOf(mail!).subject);
  expect(subjects).toEqual([["Loom Works will be deleted"], ["Loom Works won't be deleted"], ["A budget of Loom Works has reached 80 %"]]);
  expect(headersOf(leaving!)).not.toHaveProperty("list-unsubscribe");
  for (const mail of server.received) expect(mail.text.replace(/=\r\n/g, "")).toContain("https://loom.example/organizations/o1");
  expect(leaving!.text).toContain("2026-06-01 10:00 UTC");
});

it("requires TLS that it can verify, unless the settings say otherwise", async () => {
  const certificates = await makeCertificates("localhost");
  const { TLS_KEY_FILE, TLS_CERT_FILE, TLS_CA_FILE } = certificates.of("localhost");
  const { readFileSync } = await import("node:fs");
  const tls = { key: readFileSync(TLS_KEY_FILE), cert: readFileSync(TLS_CERT_FILE) };
  const [plain, starting, secure] = await Promise.all([
    serve(),
    serve({}, { hideSTARTTLS: false, ...tls }),
    serve({}, { secure: true, ...tls }),
  ]);
  const required = { SMTP_TLS: "required" };
  const checked = { ...required, SMTP_TLS_CA_FILE: TLS_CA_FILE };
  const attempt = async (server: MailServer, config: MailConfig) => deliverTo(server, { config })(await queued(RESET), 1);
  const again = { pauseMs: MAIL_LIMITS.firstPause };
  expect(await attempt(plain, checked)).toEqual(again);
  expect(await attempt(starting, required)).toEqual(again);
  expect(await attempt(starting, checked)).toEqual({ end: "sent" });
  expect(await attempt(secure, { ...checked, SMTP_URL: `smtps://localhost:${secure.port}` })).toEqual({ end: "sent" });
  expect([plain.received, ...[starting, secure].map(({ received }) => received.map((mail) => mail.secure))]).toEqual([[], [true], [true]]);
  await certificates.remove();
});

const UNUSABLE: readonly [string, MailConfig][] = [
  ["a server without a sender", { SMTP_URL: "smtp://mail.example" }],
  ["a sender without a server", { MAIL_FROM: "mail@example.com" }],
  ["an authority that is not there", { SMTP_URL: "smtp://mail.example", MAIL_FROM: "a@b.example", SMTP_TLS_CA_FILE: "/nowhere" }],
];
it.each(UNUSABLE)("fails the start with %s", (_what, config) => {
  expect(() => mailSettings(config)).toThrow(/SMTP_URL and MAIL_FROM|SMTP_TLS_CA_FILE/);
});
