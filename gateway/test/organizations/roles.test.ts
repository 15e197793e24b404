import { PLANS, ROLES, roleReaches, withinRole, type Role } from "@nodeloom/kernel";
import { identity } from "@nodeloom/proto";
import { memberCaller, requireApproved, toCallerUser, toOrganizationAccount } from "../../src/auth/caller";
import { routes } from "../../src/endpoints";

const ANY = new Proxy<Record<string, string>>({}, { get: () => "any" });
const table = routes.map((route) => {
  const capabilities = [route.capability ?? []].flat().map((one) => {
    if (typeof one === "object") return one.anyOf[0]!;
    return typeof one === "function" ? one(ANY) : one;
  });
  return { route, needed: route.role, capabilities };
});
const inOrganizations = table.filter(({ needed }) => needed !== "self");
const operationIds = (rows: typeof table): string[] => rows.map(({ route }) => route.operationId).sort();

/** Required role per operation, independent of the routes, so that a route with a changed role fails here. */
const OPERATIONS: Readonly<Record<Role, string>> = {
  owner: `
      createCheckout createErasure deleteBudget deleteKeyBudget deleteWorkflowBudget getErasure getWebhookSecret listErasures listMyLedger rotateWebhookSecret setKeyBudget setMetadataBudget setWorkflowBudget
  `,
  editor: `
      cloneWorkflow createFolder createHook createKey createSchedule createWebhookEndpoint createWorkflow deleteAlias
      deleteExecution deleteFolder deleteHook deleteKeyWebhook deleteMedia deleteSchedule deleteSecret deleteWebhookEndpoint
      deleteWorkflow falInitiateMultipartUpload falInitiateUpload importBundle keepMedia listKeyRequests listKeys listSecrets listWebhookEndpointDeliveries listWebhookEndpoints
      moveWorkflow publishVersion putSecret redeliverToWebhookEndpoint renameFolder replicateCreateFile replicateDeleteFile
      restoreVersion revokeKey rotateKey rotateWebhookEndpointSecret setAlias setKeyWebhook testKeyWebhook
      testWebhookEndpoint updateKey updateMedia updateSchedule updateWebhookEndpoint updateWorkflow uploadMedia
  `,
  runner: `
      cancelBatch cancelExecution cancelQueuedExecutions confirmWorkflow createAppToken createModelBatch createWorkflowBatch
      decideExecution falCancel falRun falSubmit openaiChat openaiEditImages openaiEmbed openaiGenerateImages openaiRespond
      openaiSpeak openaiTranscribe quoteModel quoteModelBatch quoteRerun quoteTests quoteWorkflow quoteWorkflowBatch redeliverWebhook
      replicateCancelPrediction replicateCreateModelPrediction replicateCreatePrediction rerunBatch rerunExecution resumeBatch
      runModel runTests runWorkflow
  `,
  viewer: `
      countWaitingExecutions exportBundle falResult falStatus falStatusStream getAlias getBatch getBatchResults getBilling getExecution
      getExecutionGraph getKeyBudget getLocalModels getMedia getMediaProvenance getModel getSchedule getTestRun getUsageSummary getVersion getWorkflow
      getWorkflowBudget getWorkflowSchema listAliases listAllHooks listAllSchedules listBatches listBudgets listExecutions listFolders listHooks listMedia
      listModels listNodeKinds listSchedules listTasks listTestRuns listUsage listUsageModels listVersions listWorkflows mcp me openaiGetModel
      openaiGetWorkflow openaiListModels replicateGetFile replicateGetModel replicateGetPrediction replicateGetVersion
      replicateListFiles replicateListModels replicateListPredictions replicateListVersions replicateStreamPrediction watchExecution
      whoami
  `,
};

describe("the roles that routes need", () => {
  it("match their capabilities: every sufficient role has them", () => {
    const without = inOrganizations.flatMap(({ route, needed, capabilities }) =>
      needed === "self"
        ? []
        : ROLES.filter((role) => roleReaches(role, needed) && withinRole(capabilities, role).length < capabilities.length).map(
            () => route.operationId,
          ),
    );
    expect(without).toEqual([]);
  });

  it.each(ROLES)("match the independent table: %s", (role) => {
    expect(operationIds(inOrganizations.filter(({ needed }) => needed === role))).toEqual(OPERATIONS[role].trim().split(/\s+/));
  });

  it("let a viewer change nothing unless a capability allows it", () => {
    const changing = inOrganizations.filter(({ route, capabilities }) => capabilities.length === 0 && route.method !== "GET");
    // Requests of agents are checked one by one.
    expect(operationIds(changing.filter(({ needed }) => needed === "viewer"))).toEqual(["mcp"]);
  });

  it("exclude only routes about the person or the platform, and routes without a caller", () => {
    const others = table.filter(({ needed, route }) => needed === "self" && route.auth !== "none" && route.auth !== "hook");
    expect(new Set(others.map(({ route }) => route.tag))).toEqual(new Set(["Identity", "Organizations", "Admin"]));
    const ofPeople = others.filter(
      ({ route }) => route.tag !== "Admin" && !/^\/api\/(?:auth|me|organizations|invitations)\b/.test(route.path),
    );
    expect(operationIds(ofPeople)).toEqual([]);
  });
});

describe("a member as the caller of an organization", () => {
  const user = (part: Partial<identity.User> = {}) =>
    identity.User.fromPartial({ id: "person", tier: "enterprise", approved: true, ...part });
  const account = (part: Partial<identity.User> = {}) =>
    user({ id: "organization", organization: { name: "Loom Works", tierOf: "owner" }, ...part });
  const caller = (role: string, person = user(), organization = account()) =>
    memberCaller(toCallerUser(person), toOrganizationAccount(organization, role));

  it("has the capabilities of the organization's tier within the role, and none of an administrator", () => {
    expect(caller("viewer").capabilities).toEqual(["workflow:read", "execution:read", "members:read", "usage:read"]);
    expect(caller("runner").capabilities).not.toContain("workflow:write");
    expect(caller("editor").capabilities).toContain("workflow:write");
    const byAdmin = caller("owner", user({ role: "admin" }));
    expect(byAdmin.isAdmin).toBe(false);
    expect(byAdmin.capabilities).not.toContain("*");
    expect(caller("owner", user(), account({ tier: "free" })).user.plan).toMatchObject({ base: PLANS.free.base });
  });

  it("is approved if both the person and the organization's account are, and neither is scheduled for erasure", () => {
    expect(() => requireApproved(caller("editor"))).not.toThrow();
    expect(() => requireApproved(caller("editor", user({ approved: false })))).toThrow(/approv/);
    expect(() => requireApproved(caller("editor", user(), account({ approved: false })))).toThrow(/approv/);
    expect(() => requireApproved(caller("editor", user({ erasesAt: new Date() })))).toThrow(/eras|delet/);
  });

  it("rejects a role that does not exist", () => {
    expect(() => caller("superuser")).toThrow(/identity answered/);
    expect(() => memberCaller(toCallerUser(user()), toOrganizationAccount(user(), "owner"))).toThrow();
  });
});
