import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, createRouter } from "@tanstack/react-router";
import {
  Bot,
  Boxes,
  Building2,
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
  Workflow,
} from "lucide-react";
import { Failure, Loading, NotFoundPage } from "../parts/error-pages";
import { Frame } from "./frame";
import { pageOf } from "../parts/page-code";
import { Shell } from "./shell";
import { WaitingCount } from "./waiting-count";

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Frame,
  notFoundComponent: NotFoundPage,
  errorComponent: Failure,
});
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });

type Parser = (value: unknown) => unknown;
/** Search parameters by their parsers; what a parser refuses is left out. */
const search =
  <Parsers extends Readonly<Record<string, Parser>>>(parsers: Parsers) =>
  (given: Record<string, unknown>): { [Name in keyof Parsers]?: ReturnType<Parsers[Name]> } =>
    Object.fromEntries(Object.entries(parsers).map(([name, parse]) => [name, parse(given[name])])) as never;

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
/** Of a calendar: `2026-05-04`. */
const day = (value: unknown): string | undefined =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;
const pageNumber = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value > 1 ? value : undefined;
const runPanel = (value: unknown): "run" | undefined => (value === "run" ? "run" : undefined);

const dashboard = createRoute({
  getParentRoute: () => shell,
  path: "/",
  staticData: { title: "Workflows", icon: Workflow, order: 1 },
  validateSearch: search({ q: text, folder: text, tag: text, show: text }),
  component: pageOf(() => import("../features/workflows/dashboard-page"), "DashboardPage"),
});
const canvas = createRoute({
  getParentRoute: () => shell,
  path: "/workflows/$slug",
  validateSearch: search({ run: text, node: text, panel: runPanel }),
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
  staticData: { title: "Runs", icon: History, order: 2 },
  validateSearch: search({ status: text, workflow: text, meta: text, from: day, to: day, cursor: text }),
  component: pageOf(() => import("../features/executions/list-page"), "ExecutionsPage"),
});
const approvals = createRoute({
  getParentRoute: () => shell,
  path: "/approvals",
  staticData: { title: "Approvals", icon: UserCheck, order: 4, Aside: WaitingCount },
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
  staticData: { title: "Files", icon: Images, order: 3 },
  component: pageOf(() => import("../features/files/files-page"), "FilesPage"),
});
const batches = createRoute({
  getParentRoute: () => shell,
  path: "/batches",
  staticData: { title: "Batches", icon: Table2, order: 5 },
  validateSearch: search({ cursor: text, workflow: text }),
  component: pageOf(() => import("../features/batches/batches-page"), "BatchesPage"),
});
const batch = createRoute({
  getParentRoute: () => shell,
  path: "/batches/$id",
  validateSearch: search({ cursor: text }),
  component: pageOf(() => import("../features/batches/batch-page"), "BatchPage"),
});
const usage = createRoute({
  getParentRoute: () => shell,
  path: "/usage",
  staticData: { title: "Usage", icon: ChartColumn, order: 7 },
  validateSearch: search({ status: text, model: text, workflow: text, page: pageNumber }),
  component: pageOf(() => import("../features/usage/usage-page"), "UsagePage"),
});
const budgets = createRoute({
  getParentRoute: () => shell,
  path: "/budgets",
  staticData: { title: "Budgets", icon: Wallet, order: 8 },
  component: pageOf(() => import("../features/budgets/budgets-page"), "BudgetsPage"),
});
const keys = createRoute({
  getParentRoute: () => shell,
  path: "/keys",
  staticData: { title: "API keys", icon: KeyRound, order: 9 },
  component: pageOf(() => import("../features/keys/keys-page"), "KeysPage"),
});
const secrets = createRoute({
  getParentRoute: () => shell,
  path: "/secrets",
  staticData: { title: "Secrets", icon: LockKeyhole, order: 10 },
  component: pageOf(() => import("../features/secrets/secrets-page"), "SecretsPage"),
});
const agents = createRoute({
  getParentRoute: () => shell,
  path: "/agents",
  staticData: { title: "Agents", icon: Bot, order: 11 },
  component: pageOf(() => import("../features/agents/agents-page"), "AgentsPage"),
});
const models = createRoute({
  getParentRoute: () => shell,
  path: "/models",
  staticData: { title: "Models", icon: Boxes, order: 6 },
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
  staticData: { title: "Plans", icon: Layers, order: 4, inAccountMenu: true },
  component: pageOf(() => import("../features/billing/plans-page"), "PlansPage"),
});
const balance = createRoute({
  getParentRoute: () => shell,
  path: "/balance",
  staticData: { title: "Balance", icon: Coins, order: 2, inAccountMenu: true },
  validateSearch: search({ session: text }),
  component: pageOf(() => import("../features/billing/balance-page"), "BalancePage"),
});
const history = createRoute({
  getParentRoute: () => shell,
  path: "/history",
  validateSearch: search({ kind: text }),
  component: pageOf(() => import("../features/billing/history-page"), "HistoryPage"),
});
const account = createRoute({
  getParentRoute: () => shell,
  path: "/account",
  staticData: { title: "Account", icon: CircleUser, order: 1, inAccountMenu: true },
  component: pageOf(() => import("../features/account/account-page"), "AccountPage"),
});
const organizations = createRoute({
  getParentRoute: () => shell,
  path: "/organizations",
  staticData: { title: "Organizations", icon: Building2, order: 3, inAccountMenu: true },
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
  staticData: { title: "Administration", icon: ShieldCheck, order: 12, to: "/admin/users", forAdmins: true },
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
