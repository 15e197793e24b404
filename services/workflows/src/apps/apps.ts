import { APP_BOUNDS, DomainError, isOrigin } from "@nodeloom/kernel";
import { storedNumber } from "../approval";
import type { AppRow, WorkflowStore } from "../definition/storage";
import { newest, type SchemaPart } from "../definition/workflow";
import type { Pictures } from "../pictures/pictures";
import type { VersionStore } from "../definition/storage";
import type { App } from "./app";

/** A published app as its visitors have it. */
export interface PublishedApp {
  slug: string;
  ownerId: string;
  settings: App;
  schema: Pick<SchemaPart, "name" | "description" | "fieldsJson" | "valuesJson">;
}

export type AppCard = Pick<App, "title" | "cover" | "payer" | "publishedBy" | "publishedAt"> & { slug: string; description: string };

/** Published apps. Those of suspended owners, and of templates that were taken down, are hidden. */
export interface Apps {
  /** @throws NOT_FOUND unless it is published */
  get(slug: string): Promise<PublishedApp>;
  list(ownerId: string): Promise<AppCard[]>;
  /** Whether any of them may be used from an origin. */
  hasOrigin(origin: string): Promise<boolean>;
}

export interface AppsDeps {
  store: Pick<WorkflowStore, "app" | "apps" | "hasAppOrigin">;
  versions: Pick<VersionStore, "get">;
  pictures: Pick<Pictures, "isOurs">;
}

const appNotFound = (): DomainError => new DomainError("not_found", "NOT_FOUND", "app not found");

export const createApps = ({ store, versions, pictures }: AppsDeps): Apps => {
  const shown = ({ app, name, createdBy, createdAt }: AppRow): App => ({
    // The person who published an app of 1.0.0 was not kept.
    ...{ publishedBy: createdBy, publishedAt: createdAt },
    ...app,
    title: app.title || name,
    cover: pictures.isOurs(app.cover) ? app.cover : "",
  });

  return {
    get: async (slug) => {
      const row = await store.app(slug);
      if (!row) throw appNotFound();
      // Visitors who pay run what the workflow runs.
      const number = row.approved && row.app.payer === "owner" ? storedNumber(row.approved) : newest(row);
      const stored = number === 0 ? row : await versions.get(row.creationId, number);
      if (!stored) throw appNotFound();
      const { name, description, createdBy: ownerId } = row;
      const { fieldsJson, valuesJson } = stored;
      return { slug, ownerId, settings: shown(row), schema: { name, description, fieldsJson, valuesJson } };
    },
    list: async (ownerId) => {
      const rows = await store.apps(ownerId, APP_BOUNDS.listed);
      return rows.map((row) => {
        const { title, cover, payer, publishedBy, publishedAt } = shown(row);
        return { slug: row.slug, title, cover, payer, publishedBy, publishedAt, description: row.description };
      });
    },
    hasOrigin: async (origin) => origin.length <= APP_BOUNDS.originChars && isOrigin(origin) && store.hasAppOrigin(origin),
  };
};
