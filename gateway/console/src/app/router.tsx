import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, createRouter, type StaticDataRouteOption } from "@tanstack/react-router";
import {
  Bot,
  Boxes,
  Building2,
  CalendarClock,
  ChartColumn,
  CircleUser,
  Coins,
  History,
  Images,
  KeyRound,
  Layers,
  LockKeyhole,
  ShieldCheck,
  Table2,
  UserCheck,
  Wallet,
  Webhook,
  Workflow,
} from "lucide-react";
import { Failure, Loading, NotFoundPage } from "../parts/error-pages";
import { Frame } from "./frame";
import { pageOf } from "../parts/page-code";
import { Shell } from "./shell";
import { WaitingCount } from "./waiting-count";
import { COMMON } from "../messages/common";
import { ROUTER } from "../messages/app";

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Frame,
  notFoundComponent: NotFoundPage,
  errorComponent: Failure,
});
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });

type Parser = (value: unknown) => unknown;
/** Parses search parameters and drops invalid values. */
const search =
  <Parsers extends Readonly<Record<string, Parser>>>(parsers: Parsers) =>
  (searchParams: Record<string, unknown>): { [Name in keyof Parsers]?: ReturnType<Parsers[Name]> } =>
    Object.fromEntries(Object.entries(parsers).map(([name, parse]) => [name, parse(searchParams[name])])) as never;

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
/** A calendar day: `2026-05-04`. */
const day = (value: unknown): string | undefined =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;
const pageNumber = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value > 1 ? value : undefined;

/** A page in the menu without parameters. */
const pageAt = <const Path extends `/${string}`, Module extends Record<string, unknown>, Name extends keyof Module & string>(
  path: Path,
  load: () => Promise<Module>,
  name: Name,
  staticData: StaticDataRouteOption = {},
) => createRoute({ getParentRoute: () => shell, path, staticData, component: pageOf(load, name) });

const dashboard = createRoute({
  getParentRoute: () => shell,
  path: "/",
  staticData: { title: COMMON.workflows, icon: Workflow, order: 1 },
  validateSearch: search({ q: text, folder: text, tag: text, show: text }),
  component: pageOf(() => import("../features/workflows/dashboard-page"), "DashboardPage"),
});
const canvas = createRoute({
  getParentRoute: () => shell,
  path: "/workflows/$slug",
  validateSearch: search({ run: text, node: text, panel: text }),
  component: pageOf(() => import("../editor/editor-page"), "EditorPage"),
});
const triggers = pageAt("/workflows/$slug/triggers", () => import("../features/triggers/triggers-page"), "TriggersPage");
const executions = createRoute({
  getParentRoute: () => shell,
  path: "/executions",
  staticData: { title: COMMON.runs, icon: History, order: 2 },
  validateSearch: search({ status: text, workflow: text, meta: text, from: day, to: day, cursor: text }),
  component: pageOf(() => import("../features/executions/list-page"), "ExecutionsPage"),
});
const approvals = pageAt("/approvals", () => import("../features/approvals/pages"), "ApprovalsPage", {
  title: COMMON.approvals,
  icon: UserCheck,
  order: 4,
  Aside: WaitingCount,
});
const execution = pageAt("/executions/$id", () => import("../features/executions/detail-page"), "ExecutionPage");
const erasures = createRoute({
  getParentRoute: () => shell,
  path: "/erasures",
  validateSearch: search({ erasure: text }),
  component: pageOf(() => import("../features/erasures/erasures-page"), "ErasuresPage"),
});
const files = pageAt("/files", () => import("../features/files/files-page"), "FilesPage", { title: COMMON.files, icon: Images, order: 3 });
const batches = createRoute({
  getParentRoute: () => shell,
  path: "/batches",
  staticData: { title: COMMON.batches, icon: Table2, order: 5 },
  validateSearch: search({ cursor: text, workflow: text }),
  component: pageOf(() => import("../features/batches/batches-page"), "BatchesPage"),
});
const batch = createRoute({
  getParentRoute: () => shell,
  path: "/batches/$id",
  validateSearch: search({ cursor: text }),
  component: pageOf(() => import("../features/batches/batch-page"), "BatchPage"),
});
const allTriggers = pageAt("/triggers", () => import("../features/triggers/all-triggers-page"), "AllTriggersPage", {
  title: COMMON.schedulesAndHooks,
  icon: CalendarClock,
  order: 6,
});
const usage = createRoute({
  getParentRoute: () => shell,
  path: "/usage",
  staticData: { title: COMMON.usage, icon: ChartColumn, order: 8 },
  validateSearch: search({ status: text, model: text, workflow: text, page: pageNumber }),
  component: pageOf(() => import("../features/usage/usage-page"), "UsagePage"),
});
const budgets = pageAt("/budgets", () => import("../features/budgets/budgets-page"), "BudgetsPage", {
  title: COMMON.budgets,
  icon: Wallet,
  order: 9,
});
const keys = pageAt("/keys", () => import("../features/keys/keys-page"), "KeysPage", { title: COMMON.apiKeys, icon: KeyRound, order: 10 });
const key = createRoute({
  getParentRoute: () => shell,
  path: "/keys/$id",
  component: pageOf(() => import("../features/keys/key-page"), "KeyPage"),
});
const serviceAccounts = pageAt("/service-accounts", () => import("../features/keys/service-accounts-page"), "ServiceAccountsPage");
const webhooks = createRoute({
  getParentRoute: () => shell,
  path: "/webhooks",
  staticData: { title: COMMON.webhooks, icon: Webhook, order: 11 },
  validateSearch: search({ account: text }),
  component: pageOf(() => import("../features/webhooks/webhooks-page"), "WebhooksPage"),
});
const webhook = createRoute({
  getParentRoute: () => shell,
  path: "/webhooks/$id",
  validateSearch: search({ cursor: text }),
  component: pageOf(() => import("../features/webhooks/endpoint-page"), "EndpointPage"),
});
const secrets = pageAt("/secrets", () => import("../features/secrets/secrets-page"), "SecretsPage", {
  title: COMMON.secrets,
  icon: LockKeyhole,
  order: 12,
});
const agents = pageAt("/agents", () => import("../features/agents/agents-page"), "AgentsPage", {
  title: COMMON.agents,
  icon: Bot,
  order: 13,
});
const models = createRoute({
  getParentRoute: () => shell,
  path: "/models",
  staticData: { title: COMMON.models, icon: Boxes, order: 7 },
  validateSearch: search({ open: text }),
  component: pageOf(() => import("../features/models/models-page"), "ModelsPage"),
});
const model = pageAt("/models/$internalName", () => import("../features/models/model-page"), "ModelPage");
const plans = pageAt("/plans", () => import("../features/billing/plans-page"), "PlansPage", {
  title: COMMON.plans,
  icon: Layers,
  order: 4,
  inAccountMenu: true,
});
const balance = createRoute({
  getParentRoute: () => shell,
  path: "/balance",
  staticData: { title: COMMON.balance, icon: Coins, order: 2, inAccountMenu: true },
  validateSearch: search({ session: text }),
  component: pageOf(() => import("../features/billing/balance-page"), "BalancePage"),
});
const history = createRoute({
  getParentRoute: () => shell,
  path: "/history",
  validateSearch: search({ kind: text }),
  component: pageOf(() => import("../features/billing/history-page"), "HistoryPage"),
});
const account = pageAt("/account", () => import("../features/account/account-page"), "AccountPage", {
  title: COMMON.account,
  icon: CircleUser,
  order: 1,
  inAccountMenu: true,
});
const organizations = pageAt("/organizations", () => import("../features/organizations/organizations-page"), "OrganizationsPage", {
  title: COMMON.organizations,
  icon: Building2,
  order: 3,
  inAccountMenu: true,
});
const organization = pageAt("/organizations/$id", () => import("../features/organizations/organization-page"), "OrganizationPage");
const invitation = pageAt("/invitation", () => import("../features/organizations/invitation-page"), "InvitationPage");
const admin = createRoute({
  getParentRoute: () => shell,
  path: "/admin/$section",
  staticData: { title: ROUTER.administration, icon: ShieldCheck, order: 14, to: "/admin/users", forAdmins: true },
  validateSearch: search({ q: text, cursor: text }),
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
  component: pageOf(() => import("../features/account/mail/pages"), "ForgotPage"),
});
const unsubscribe = createRoute({
  getParentRoute: () => root,
  path: "/unsubscribe",
  component: pageOf(() => import("../features/account/mail/pages"), "UnsubscribePage"),
});
const decide = createRoute({
  getParentRoute: () => root,
  path: "/decide",
  component: pageOf(() => import("../features/approvals/pages"), "DecidePage"),
});
const verifyFile = createRoute({
  getParentRoute: () => root,
  path: "/verify",
  component: pageOf(() => import("../features/verify/verify-page"), "VerifyPage"),
});
const verify = pageAt("/verify-address", () => import("../features/account/mail/pages"), "VerifyPage");
const kitchen = createRoute({
  getParentRoute: () => root,
  path: "/kitchen",
  component: pageOf(() => import("../features/kitchen/kitchen-page"), "KitchenPage"),
});

const tree = root.addChildren([
  shell.addChildren([
    ...[dashboard, canvas, triggers, allTriggers, executions, execution, erasures, files, approvals, batches, batch],
    ...[usage, budgets, keys, key, serviceAccounts, webhooks, webhook, secrets, agents, models, model],
    ...[plans, balance, history, account, verify, admin],
    ...[organizations, organization, invitation],
  ]),
  playground,
  reset,
  forgot,
  unsubscribe,
  decide,
  verifyFile,
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
