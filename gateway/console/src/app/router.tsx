import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Failure, Loading, NotFoundPage } from "./error-pages";
import { Frame } from "./frame";
import { Shell } from "./shell";

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Frame,
  notFoundComponent: NotFoundPage,
  errorComponent: Failure,
});
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

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
  component: lazyRouteComponent(() => import("../features/workflows/dashboard-page"), "DashboardPage"),
});
const canvas = createRoute({
  getParentRoute: () => shell,
  path: "/workflows/$slug",
  validateSearch: (search: Record<string, unknown>): { run?: string | undefined; node?: string | undefined } => ({
    run: text(search.run),
    node: text(search.node),
  }),
  component: lazyRouteComponent(() => import("../features/editor/editor-page"), "EditorPage"),
});

const tree = root.addChildren([shell.addChildren([dashboard, canvas])]);

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
