import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { routes } from "../../src/endpoints";

/** Every route that writes, and the actions of its audit rows. A new route joins this list or the exceptions. */
const AUDITED: Record<string, readonly string[]> = {
  createWorkflow: ["workflow.create"],
  updateWorkflow: ["workflow.update", "workflow.app-publish", "workflow.app-unpublish"],
  moveWorkflow: ["workflow.move"],
  deleteWorkflow: ["workflow.delete"],
  cloneWorkflow: ["workflow.clone"],
  publishVersion: ["workflow.publish"],
  restoreVersion: ["workflow.restore"],
  confirmWorkflow: ["workflow.confirm"],
  setAlias: ["workflow.alias"],
  deleteAlias: ["workflow.alias-delete"],
  importBundle: ["bundle.import"],
  exportBundle: ["bundle.export"],
  createSchedule: ["schedule.create"],
  updateSchedule: ["schedule.update"],
  deleteSchedule: ["schedule.delete"],
  createHook: ["hook.create"],
  deleteHook: ["hook.delete"],
  decideExecution: ["execution.decide"],
  decideByLink: ["execution.decide"],
  deleteExecution: ["execution.delete"],
  createErasure: ["erasure.create"],
  deleteAccount: ["account.delete"],
  restoreAccount: ["account.restore"],
  exportAccount: ["account.export"],
  downloadAccountExport: ["account.export-read"],
  deleteOrganization: ["organization.delete"],
  restoreOrganization: ["organization.restore"],
  register: ["account.create", "session.create"],
  login: ["session.create"],
  completeLogin: ["session.create", "recovery-code.use"],
  finishOidc: ["session.create", "oidc.link"],
  unlinkOidc: ["oidc.unlink"],
  logout: ["session.delete", "session.delete-all"],
  changePassword: ["password.change"],
  redeemPasswordReset: ["password.reset"],
  confirmSecondFactor: ["second-factor.enable"],
  disableSecondFactor: ["second-factor.disable"],
  verifyAddress: ["address.verify"],
  createOrganization: ["organization.create"],
  renameOrganization: ["organization.rename"],
  changeMember: ["member.change"],
  removeMember: ["member.remove", "member.leave"],
  createServiceAccount: ["service-account.create"],
  updateServiceAccount: ["service-account.update"],
  deleteServiceAccount: ["service-account.delete"],
  createInvitation: ["invitation.create"],
  deleteInvitation: ["invitation.delete"],
  acceptInvitation: ["member.join"],
  exportOrganizationAudit: ["audit.export"],
  createKey: ["key.create"],
  updateKey: ["key.update"],
  revokeKey: ["key.revoke"],
  rotateKey: ["key.rotate"],
  setKeyWebhook: ["key.webhook-set"],
  deleteKeyWebhook: ["key.webhook-delete"],
  rotateWebhookSecret: ["webhook-secret.rotate"],
  createWebhookEndpoint: ["webhook-endpoint.create"],
  updateWebhookEndpoint: ["webhook-endpoint.update"],
  deleteWebhookEndpoint: ["webhook-endpoint.delete"],
  rotateWebhookEndpointSecret: ["webhook-endpoint.rotate"],
  putSecret: ["secret.put"],
  deleteSecret: ["secret.delete"],
  setKeyBudget: ["budget.set"],
  deleteKeyBudget: ["budget.delete"],
  setWorkflowBudget: ["budget.set"],
  deleteWorkflowBudget: ["budget.delete"],
  setMetadataBudget: ["budget.set"],
  deleteBudget: ["budget.delete"],
  updateMedia: ["media.publish", "media.unpublish"],
  deleteMedia: ["media.delete"],
};

/** Routes of administrators, with the actions in the log of administrators. */
const BY_ADMINISTRATORS: Record<string, readonly string[]> = {
  adminExportAudit: ["audit.export"],
  adminResetSecondFactor: ["user.second-factor-reset"],
  adminUpdateUser: ["user.update"],
  adminResetPassword: ["user.password-reset"],
  adminExportUser: ["user.export"],
  adminDownloadUserExport: ["user.export-read"],
  adminDeleteUser: ["user.delete"],
  adminRestoreUser: ["user.restore"],
  adminUnlinkOidc: ["user.oidc-unlink"],
  adminDeleteOrganization: ["organization.delete"],
  adminRestoreOrganization: ["organization.restore"],
  adminCreditUser: ["user.credit"],
  adminCreditOrganization: ["organization.credit"],
  adminModerateTemplate: ["template.moderate"],
  adminAddModel: ["model.add"],
  adminImportModel: ["model.import"],
  adminPutModel: ["model.replace"],
  adminDeleteModel: ["model.delete"],
  adminUpdateModel: ["model.update"],
  adminPutModelOrder: ["model-order.put"],
  adminPutProviderKey: ["provider-key.put"],
  adminDeleteProviderKey: ["provider-key.delete"],
  adminAddModelServer: ["model-server.add"],
  adminUpdateModelServer: ["model-server.update"],
  adminDeleteModelServer: ["model-server.delete"],
  adminPutServerWorkflow: ["model-server.workflow.put"],
  adminDeleteServerWorkflow: ["model-server.workflow.delete"],
  adminPutTier: ["tier.put"],
  adminDeleteTier: ["tier.delete"],
};

/** Routes that write no row, by the reason. */
const EXCEPTIONS: Record<string, readonly string[]> = {
  "a run, which names its starter": [
    ...["runTests", "runWorkflow", "runModel", "rerunExecution", "receiveHook"],
    ...["createWorkflowBatch", "createModelBatch", "resumeBatch", "rerunBatch"],
    ...["openaiGenerateImages", "openaiEditImages", "openaiSpeak", "openaiTranscribe", "openaiChat", "openaiRespond", "openaiEmbed"],
    ...["falRun", "falSubmit", "replicateCreateModelPrediction", "replicateCreatePrediction"],
  ],
  "the end of a run, which the run shows": [
    ...["cancelBatch", "cancelExecution", "cancelQueuedExecutions", "falCancel", "replicateCancelPrediction"],
  ],
  "a question without an effect": [
    ...[
      "quoteWorkflow",
      "quoteModel",
      "quoteWorkflowBatch",
      "quoteModelBatch",
      "quoteTests",
      "quoteRerun",
      "verifyFile",
      "readDecisionLink",
    ],
    ...["adminTestProviderKey", "adminTestModelServer", "adminInspectServerWorkflow"],
  ],
  "a message that is sent, which the delivery shows": [
    "redeliverWebhook",
    "redeliverToWebhookEndpoint",
    "testKeyWebhook",
    "testWebhookEndpoint",
  ],
  "a first step, whose completion has a row": ["enrolSecondFactor", "linkOidc", "requestPasswordReset", "requestVerification"],
  "the order of lists": ["createFolder", "renameFolder", "deleteFolder"],
  "a file, which names its origin": [
    ...["uploadMedia", "keepMedia", "replicateCreateFile", "replicateDeleteFile"],
    ...["falInitiateUpload", "falInitiateMultipartUpload", "falUpload"],
  ],
  "the choice of notices": ["updateMailSettings", "unsubscribe"],
  "a payment, which the ledger shows": ["createCheckout", "receivePaymentEvent"],
  "a token of a visitor, whose runs name the visitor": ["createVisitorToken", "createAppToken"],
  "requests that call other routes": ["mcp"],
};

const sourcesBelow = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(folder, path), "utf8"))
    .join("\n");

const ROOT = join(__dirname, "../../..");
const declared = { ...AUDITED, ...BY_ADMINISTRATORS };
const exceptions = Object.values(EXCEPTIONS).flat();

describe("the audit log", () => {
  it("has rows of every route that writes, except of the named ones", () => {
    const writing = routes.filter(({ method }) => method !== "GET").map(({ operationId }) => operationId);
    const knownActions = new Set([...Object.keys(declared), ...exceptions]);
    expect(writing.filter((name) => !knownActions.has(name))).toEqual([]);
    const all = new Set(routes.map(({ operationId }) => operationId));
    expect([...knownActions].filter((name) => !all.has(name))).toEqual([]);
    expect(exceptions.filter((name) => name in declared)).toEqual([]);
  });

  it("has only declared actions, and rows of each of them", () => {
    const sources = [join(ROOT, "gateway/src"), join(ROOT, "services/identity/src/audit")].map(sourcesBelow).join("\n");
    const actions = new Set([...Object.values(declared).flat(), "request.refused", "payment.refused"]);
    expect([...actions].filter((action) => !sources.includes(`"${action}"`))).toEqual([]);
    const writtenActions = [...sources.matchAll(/\baction: "([a-z-]+\.[a-z.-]+)"/g)].map(([, action]) => action!);
    expect(writtenActions.length).toBeGreaterThan(50);
    expect(writtenActions.filter((action) => !actions.has(action))).toEqual([]);
  });

  it("of an account is documented, action by action", () => {
    const page = readFileSync(join(ROOT, "docs/guide/organizations.md"), "utf8");
    const ofAdministrators = ["account.delete", "account.restore"];
    const missing = Object.values(AUDITED)
      .flat()
      .filter((action) => !ofAdministrators.includes(action) && !page.includes(`\`${action}\``));
    expect([...new Set(missing)]).toEqual([]);
  });
});
