/** Apps: pages of a workflow for visitors, edited by its owner. */
import type { AppSettings } from "@nodeloom/client";
import { queryOptions } from "@tanstack/react-query";
import { request } from "../../api/client";
import { APP_NAME, budgetsQuery } from "../../parts/budgets/budgets";

/** Initial settings of an app. */
export const NEW_APP: AppSettings = {
  ...{ published: false, payer: "owner", dailyCredits: 100, perVisitorPerDay: 10 },
  ...{ title: "", cover: null, theme: "auto", origins: [] },
};

export const appQuery = (slug: string) =>
  queryOptions({
    queryKey: ["app", slug],
    queryFn: async ({ signal }) => (await request("getWorkflow", { params: { slug }, signal })).body.app ?? null,
  });

/** A published app for visitors, with its owner. */
export const shownAppQuery = (slug: string) =>
  queryOptions({
    queryKey: ["app", slug, "shown"],
    queryFn: async ({ signal }) => (await request("getApp", { params: { slug }, signal })).body,
  });

/** Budget of an app, which exists after its first run. */
export const appBudgetQuery = (slug: string) =>
  queryOptions({
    ...budgetsQuery,
    select: (budgets) => budgets.find(({ metadata }) => metadata?.name === APP_NAME && metadata.value === slug),
  });

/** Visitors pay only for runs of public playgrounds. */
export const saveApp = (slug: string, app: AppSettings): Promise<unknown> =>
  request("updateWorkflow", {
    params: { slug },
    body: { app, ...(app.published && app.payer === "runner" ? { publicPlayground: true } : {}) },
  });

export const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/[\s,]+/)
      .map((line) => line.replace(/(?<!\/)\/+$/, ""))
      .filter((line) => line !== ""),
  ),
];

export const embedCode = (slug: string): string => `<script src="${location.origin}/embed.js" data-app="${slug}" async></script>`;
