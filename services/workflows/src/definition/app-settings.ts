/** Validates app settings. */
import { APP_BOUNDS, APP_PAYERS, APP_THEMES, isLonger, isOrigin, type Issue } from "@nodeloom/kernel";
import type { Pictures } from "./pictures";
import type { Workflow } from "./workflow";
import type { App } from "./app";

const oneOf = (path: string, value: string, values: readonly string[]): Issue[] =>
  values.includes(value) ? [] : [{ path, message: `must be one of: ${values.join(", ")}` }];

const isCount = (value: number, maximum: number): boolean => Number.isSafeInteger(value) && value >= 0 && value <= maximum;

const originIssues = (origins: readonly string[]): Issue[] => {
  if (origins.length > APP_BOUNDS.origins) return [{ path: "app.origins", message: `must have at most ${APP_BOUNDS.origins} elements` }];
  return origins.flatMap((origin, index) =>
    origin.length <= APP_BOUNDS.originChars && isOrigin(origin)
      ? []
      : [{ path: `app.origins[${index}]`, message: "must be an origin as browsers send it, such as https://example.com" }],
  );
};

/** Problems of the app's own settings. */
export const appIssues = (app: App): Issue[] => {
  const { payer, theme, title, dailyMillicredits, perVisitorPerDay, origins } = app;
  return [
    ...oneOf("app.payer", payer, APP_PAYERS),
    ...oneOf("app.theme", theme, APP_THEMES),
    ...(isLonger(title, APP_BOUNDS.titleChars)
      ? [{ path: "app.title", message: `must have at most ${APP_BOUNDS.titleChars} characters` }]
      : []),
    ...(isCount(dailyMillicredits, Number.MAX_SAFE_INTEGER) ? [] : [{ path: "app.dailyCredits", message: "must not be negative" }]),
    ...(isCount(perVisitorPerDay, APP_BOUNDS.visitorRuns) && perVisitorPerDay > 0
      ? []
      : [{ path: "app.perVisitorPerDay", message: `must be between 1 and ${APP_BOUNDS.visitorRuns}` }]),
    ...originIssues(origins),
  ];
};

/** Problems of the app in combination with its workflow. */
export const appIssuesWithin = (
  { app, publicPlayground }: Pick<Workflow, "app" | "publicPlayground">,
  current: Pick<Workflow, "app"> | undefined,
  pictures: Pick<Pictures, "isOurs">,
): Issue[] => {
  if (!app) return [];
  const { cover, published, payer } = app;
  const isKnown = cover === "" || cover === current?.app?.cover;
  return [
    ...(isKnown || (cover.length <= APP_BOUNDS.coverChars && pictures.isOurs(cover))
      ? []
      : [{ path: "app.cover", message: "must be the address of an uploaded picture (POST /api/media)" }]),
    ...(published && payer === "runner" && !publicPlayground
      ? [{ path: "app.payer", message: "visitors can only pay for runs of a public playground: also set publicPlayground" }]
      : []),
  ];
};

/** Records the publisher, who is responsible for the app. The app ends when the publisher loses access. */
export const publishedBy = (app: App, personId: string): App =>
  app.published ? { ...app, publishedBy: personId, publishedAt: new Date() } : app;

const canonical = (app: App | null | undefined): string =>
  app
    ? JSON.stringify([
        ...[app.published, app.payer, app.dailyMillicredits, app.perVisitorPerDay],
        ...[app.title, app.cover, app.theme, app.origins],
      ])
    : "";

export const isSameApp = (one: App | null | undefined, other: App | null | undefined): boolean => canonical(one) === canonical(other);
