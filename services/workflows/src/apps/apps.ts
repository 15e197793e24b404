import { APP_BOUNDS, DomainError, isOrigin, PRODUCTION } from "@nodeloom/kernel";
import { storedNumber } from "../approval";
import type { AppRow, WorkflowStore } from "../definition/storage";
import { aliasOf, inProduction, type SchemaPart } from "../definition/workflow";
import type { Pictures } from "../definition/pictures";
import type { VersionStore } from "../definition/storage";
import type { App } from "../definition/app";

/** A published app as visitors see it. */
export interface PublishedApp {
  slug: string;
  ownerId: string;
  settings: App;
  schema: Pick<SchemaPart, "name" | "description" | "fieldsJson" | "valuesJson">;
}

export type AppCard = Pick<App, "title" | "cover" | "payer" | "publishedBy" | "publishedAt"> & { slug: string; description: string };

/** The person responsible for an app of an account, and since when. */
export interface Publication {
  ownerId: string;
  publishedBy: string;
  publishedAt: Date;
}

/** Published apps, except those of suspended owners and of templates that were removed from lists. */
export interface Apps {
  /** @throws NOT_FOUND if the app isn't published */
  get(slug: string): Promise<PublishedApp>;
  list(ownerId: string): Promise<AppCard[]>;
  /** Returns publications of apps that allow the origin. */
  publicationsOf(origin: string): Promise<Publication[]>;
}

export interface AppsDeps {
  store: Pick<WorkflowStore, "app" | "apps" | "appsOfOrigin">;
  versions: Pick<VersionStore, "get">;
  pictures: Pick<Pictures, "isOurs">;
}

const appNotFound = (): DomainError => new DomainError("not_found", "NOT_FOUND", "app not found");

export const createApps = ({ store, versions, pictures }: AppsDeps): Apps => {
  const appView = ({ app, name, createdBy, createdAt }: AppRow): App => ({
    // Apps of version 1.0.0 have no publisher.
    ...{ publishedBy: createdBy, publishedAt: createdAt },
    ...app,
    title: app.title || name,
    cover: pictures.isOurs(app.cover) ? app.cover : "",
  });

  return {
    get: async (slug) => {
      const row = await store.app(slug);
      if (!row) throw appNotFound();
      // If visitors pay, they run the graph of normal runs.
      const approved = row.app.payer === "owner" && !aliasOf(row, PRODUCTION) ? row.approved : undefined;
      const number = approved ? storedNumber(approved) : inProduction(row);
      const stored = number === 0 ? row : await versions.get(row.creationId, number);
      if (!stored) throw appNotFound();
      const { name, description, createdBy: ownerId } = row;
      const { fieldsJson, valuesJson } = stored;
      return { slug, ownerId, settings: appView(row), schema: { name, description, fieldsJson, valuesJson } };
    },
    list: async (ownerId) => {
      const rows = await store.apps(ownerId, APP_BOUNDS.listed);
      return rows.map((row) => {
        const { title, cover, payer, publishedBy, publishedAt } = appView(row);
        return { slug: row.slug, title, cover, payer, publishedBy, publishedAt, description: row.description };
      });
    },
    publicationsOf: async (origin) => {
      if (origin.length > APP_BOUNDS.originChars || !isOrigin(origin)) return [];
      const publications = (await store.appsOfOrigin(origin, APP_BOUNDS.listed)).map((row): Publication => {
        const { publishedBy = row.createdBy, publishedAt = row.createdAt } = appView(row);
        return { ownerId: row.createdBy, publishedBy, publishedAt };
      });
      return [...new Map(publications.map((one) => [`${one.ownerId} ${one.publishedBy} ${one.publishedAt.getTime()}`, one])).values()];
    },
  };
};
