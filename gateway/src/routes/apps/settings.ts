import { APP_BOUNDS, APP_PAYERS, APP_THEMES, creditLimit, isOrigin, toCredits, type AppPayer, type AppTheme } from "@nodeloom/kernel";
import { workflows } from "@nodeloom/proto";
import { z } from "zod";
import { line, MAX_CREDITS } from "../../http/schemas";

/** The `app` member of a workflow, for its owner. */

const DEFAULT_VISITOR_RUNS = 10;

const origin = z
  .string()
  .max(APP_BOUNDS.originChars)
  .refine(isOrigin, "must be an origin as browsers send it, such as https://example.com")
  .meta({ example: "https://example.com" });

export const appSettings = z
  .strictObject({
    published: z.boolean().meta({ description: "True if others can use it at `/a/{slug}`" }),
    payer: z
      .enum(APP_PAYERS)
      .default("owner")
      .meta({ description: "`runner`: visitors sign in and pay themselves; the workflow must be a public playground" }),
    dailyCredits: z
      .number()
      .min(0)
      .max(MAX_CREDITS)
      .meta({ description: "Daily budget (UTC) of the owner's credits for the runs of all visitors" }),
    perVisitorPerDay: z
      .number()
      .int()
      .min(1)
      .max(APP_BOUNDS.visitorRuns)
      .default(DEFAULT_VISITOR_RUNS)
      .meta({ description: "Runs per visitor and day (UTC)" }),
    title: line(APP_BOUNDS.titleChars).normalize().default("").meta({ description: "Empty: the workflow's name" }),
    cover: z
      .string()
      .max(APP_BOUNDS.coverChars)
      .nullable()
      .default(null)
      .meta({ description: "Address of a stored picture", example: "https://example.com/media/cover.png" }),
    theme: z.enum(APP_THEMES).default("auto"),
    origins: z
      .array(origin)
      .max(APP_BOUNDS.origins)
      .default([])
      .meta({ description: "Origins whose pages can embed the app and use its tokens" }),
    publishedBy: z
      .string()
      .nullish()
      .meta({ readOnly: true, description: "The person who published it or last changed its settings. The app stops if they lose access" }),
  })
  .meta({ id: "AppSettings" });

export type AppSettings = z.infer<typeof appSettings>;

export const toApp = ({ cover, dailyCredits, publishedBy: _, ...app }: AppSettings): workflows.App =>
  workflows.App.fromPartial({ ...app, cover: cover ?? "", dailyMillicredits: creditLimit(dailyCredits) });

export const appSettingsView = ({ cover, dailyMillicredits, payer, theme, ...app }: workflows.App): AppSettings => ({
  ...{ published: app.published, payer: payer as AppPayer, dailyCredits: toCredits(dailyMillicredits) },
  ...{ perVisitorPerDay: app.perVisitorPerDay, title: app.title, cover: cover || null, theme: theme as AppTheme, origins: app.origins },
  publishedBy: app.publishedBy || null,
});
