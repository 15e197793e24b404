import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, createRouter } from "@tanstack/react-router";
import { Failure, Loading, NotFoundPage } from "../parts/error-pages";
import { Frame } from "./frame";
import { pageOf } from "../parts/page-code";
import { Shell } from "./shell";

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Frame,
  notFoundComponent: NotFoundPage,
  errorComponent: Failure,
});
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
/** Of a calendar: `2026-05-04`. */
const day = (value: unknown): string | undefined =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;
const page = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value > 1 ? value : undefined;

const dashboard = createRoute({
  getParentRoute: () => shell,
  path: "/",
  validateSearch: (
    search: Record<string, unknown>,
  ): { q?: string | undefined; folder?: string | undefined; tag?: string | undefined; show?: string | undefined } => ({
    q: text(search.q),
    folder: text(search.folder),
    tag: text(search.tag),
    show: text(search.show),
  }),
  component: pageOf(() => import("../features/workflows/dashboard-page"), "DashboardPage"),
});
const canvas = createRoute({
  getParentRoute: () => shell,
  path: "/workflows/$slug",
  validateSearch: (
    search: Record<string, unknown>,
  ): { run?: string | undefined; node?: string | undefined; panel?: "run" | undefined } => ({
    run: text(search.run),
    node: text(search.node),
    panel: search.panel === "run" ? "run" : undefined,
  }),
  component: pageOf(() => import("../editor/editor-page"), "EditorPage"),
});
const triggers = createRoute({
  getParentRoute: () => shell,
  path: "/workflows/$slug/triggers",
  component: pageOf(() => import("../features/triggers/triggers-page"), "TriggersPage"),
});
const executions = createRoute({
  getParentRoute: () => shell,
  path: "/executions",
  validateSearch: (
    search: Record<string, unknown>,
  ): Partial<Record<"status" | "workflow" | "meta" | "from" | "to" | "cursor", string | undefined>> => ({
    status: text(search.status),
    workflow: text(search.workflow),
    meta: text(search.meta),
    from: day(search.from),
    to: day(search.to),
    cursor: text(search.cursor),
  }),
  component: pageOf(() => import("../features/executions/list-page"), "ExecutionsPage"),
});
const approvals = createRoute({
  getParentRoute: () => shell,
  path: "/approvals",
  component: pageOf(() => import("../features/approvals/approvals-page"), "ApprovalsPage"),
});
const execution = createRoute({
  getParentRoute: () => shell,
  path: "/executions/$id",
  component: pageOf(() => import("../features/executions/detail-page"), "ExecutionPage"),
});
const files = createRoute({
  getParentRoute: () => shell,
  path: "/files",
  component: pageOf(() => import("../features/files/files-page"), "FilesPage"),
});
const batches = createRoute({
  getParentRoute: () => shell,
  path: "/batches",
  validateSearch: (search: Record<string, unknown>): { cursor?: string | undefined; workflow?: string | undefined } => ({
    cursor: text(search.cursor),
    workflow: text(search.workflow),
  }),
  component: pageOf(() => import("../features/batches/batches-page"), "BatchesPage"),
});
const batch = createRoute({
  getParentRoute: () => shell,
  path: "/batches/$id",
  validateSearch: (search: Record<string, unknown>): { cursor?: string | undefined } => ({ cursor: text(search.cursor) }),
  component: pageOf(() => import("../features/batches/batch-page"), "BatchPage"),
});
const usage = createRoute({
  getParentRoute: () => shell,
  path: "/usage",
  validateSearch: (
    search: Record<string, unknown>,
  ): { status?: string | undefined; model?: string | undefined; workflow?: string | undefined; page?: number | undefined } => ({
    status: text(search.status),
    model: text(search.model),
    workflow: text(search.workflow),
    page: page(search.page),
  }),
  component: pageOf(() => import("../features/usage/usage-page"), "UsagePage"),
});
const budgets = createRoute({
  getParentRoute: () => shell,
  path: "/budgets",
  component: pageOf(() => import("../features/budgets/budgets-page"), "BudgetsPage"),
});
const keys = createRoute({
  getParentRoute: () => shell,
  path: "/keys",
  component: pageOf(() => import("../features/keys/keys-page"), "KeysPage"),
});
const secrets = createRoute({
  getParentRoute: () => shell,
  path: "/secrets",
  component: pageOf(() => import("../features/secrets/secrets-page"), "SecretsPage"),
});
const agents = createRoute({
  getParentRoute: () => shell,
  path: "/agents",
  component: pageOf(() => import("../features/agents/agents-page"), "AgentsPage"),
});
const models = createRoute({
  getParentRoute: () => shell,
  path: "/models",
  component: pageOf(() => import("../features/models/models-page"), "ModelsPage"),
});
const model = createRoute({
  getParentRoute: () => shell,
  path: "/models/$internalName",
  component: pageOf(() => import("../features/models/model-page"), "ModelPage"),
});
const plans = createRoute({
  getParentRoute: () => shell,
  path: "/plans",
  component: pageOf(() => import("../features/billing/plans-page"), "PlansPage"),
});
const balance = createRoute({
  getParentRoute: () => shell,
  path: "/balance",
  validateSearch: (search: Record<string, unknown>): { session?: string | undefined } => ({ session: text(search.session) }),
  component: pageOf(() => import("../features/billing/balance-page"), "BalancePage"),
});
const history = createRoute({
  getParentRoute: () => shell,
  path: "/history",
  validateSearch: (search: Record<string, unknown>): { kind?: string | undefined } => ({ kind: text(search.kind) }),
  component: pageOf(() => import("../features/billing/history-page"), "HistoryPage"),
});
const account = createRoute({
  getParentRoute: () => shell,
  path: "/account",
  component: pageOf(() => import("../features/account/account-page"), "AccountPage"),
});
const organizations = createRoute({
  getParentRoute: () => shell,
  path: "/organizations",
  component: pageOf(() => import("../features/organizations/organizations-page"), "OrganizationsPage"),
});
const organization = createRoute({
  getParentRoute: () => shell,
  path: "/organizations/$id",
  component: pageOf(() => import("../features/organizations/organization-page"), "OrganizationPage"),
});
const invitation = createRoute({
  getParentRoute: () => shell,
  path: "/invitation",
  component: pageOf(() => import("../features/organizations/invitation-page"), "InvitationPage"),
});
const admin = createRoute({
  getParentRoute: () => shell,
  path: "/admin/$section",
  validateSearch: (search: Record<string, unknown>): { q?: string | undefined; cursor?: string | undefined } => ({
    q: text(search.q),
    cursor: text(search.cursor),
  }),
  component: pageOf(() => import("../features/admin/admin-page"), "AdminPage"),
});
const playground = createRoute({
  getParentRoute: () => root,
  path: "/p/$slug",
  component: pageOf(() => import("./playground-route"), "PlaygroundRoute"),
});
const reset = createRoute({
  getParentRoute: () => root,
  path: "/reset-password",
  component: pageOf(() => import("../features/account/reset-page"), "ResetPage"),
});
const forgot = createRoute({
  getParentRoute: () => root,
  path: "/forgot-password",
  component: pageOf(() => import("../features/account/mail/forgot-page"), "ForgotPage"),
});
const unsubscribe = createRoute({
  getParentRoute: () => root,
  path: "/unsubscribe",
  component: pageOf(() => import("../features/account/mail/unsubscribe-page"), "UnsubscribePage"),
});
const verify = createRoute({
  getParentRoute: () => shell,
  path: "/verify-address",
  component: pageOf(() => import("../features/account/mail/verify-page"), "VerifyPage"),
});
const kitchen = createRoute({
  getParentRoute: () => root,
  path: "/kitchen",
  component: pageOf(() => import("../features/kitchen/kitchen-page"), "KitchenPage"),
});

const tree = root.addChildren([
  shell.addChildren([
    ...[dashboard, canvas, triggers, executions, execution, files, approvals, batches, batch],
    ...[usage, budgets, keys, secrets, agents, models, model],
    ...[plans, balance, history, account, verify, admin],
    ...[organizations, organization, invitation],
  ]),
  playground,
  reset,
  forgot,
  unsubscribe,
  kitchen,
]);

export const createAppRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree: tree,
    context: { queryClient },
    defaultPendingComponent: Loading,
    defaultErrorComponent: Failure,
    defaultNotFoundComponent: NotFoundPage,
    defaultPreload: "intent",
    scrollRestoration: false,
  });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
