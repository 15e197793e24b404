import { createClient, NodeloomError, type App, type AppToday, type Client } from "@nodeloom/client";

/** A visit of an app, with this browser as its visitor. */
export interface Visit {
  app: App;
  client: Client;
  /** Loads the remaining runs and credits of today. */
  today(): Promise<AppToday>;
}

const open = createClient({ baseUrl: location.origin, maxRetries: 2, maxPauseMs: 4_000 });

const keyOf = (slug: string): string => `nodeloom.visitor.${slug}`;

/** Without storage, each page load is a new visitor. */
const remembered = (slug: string): string | undefined => {
  try {
    return localStorage.getItem(keyOf(slug)) ?? undefined;
  } catch {
    return undefined;
  }
};
const remember = (slug: string, token: string): void => {
  try {
    localStorage.setItem(keyOf(slug), token);
  } catch {
    // The token lasts until the page is closed.
  }
};

const INVALID = 400;

/** @throws NodeloomError 404 if the app doesn't exist */
export const beginVisit = async (slug: string): Promise<Visit> => {
  const { body: app } = await open.request("getApp", { params: { slug } });
  let earlier = remembered(slug);

  const renew = async (): Promise<{ token: string; today: AppToday }> => {
    const ask = (token: string | undefined) =>
      open.request("createVisitorToken", { params: { slug }, body: token === undefined ? {} : { token } });
    const { body } = await ask(earlier).catch((error: unknown) => {
      if (earlier === undefined || !(error instanceof NodeloomError) || error.status !== INVALID) throw error;
      // The token expired too long ago, or belonged to an earlier app with this slug.
      return ask(undefined);
    });
    earlier = body.token;
    remember(slug, body.token);
    return body;
  };

  const client = createClient({
    baseUrl: location.origin,
    token: async () => (await renew()).token,
    maxRetries: 2,
    maxPauseMs: 4_000,
    placeTimeoutMs: 0,
  });
  return { app, client, today: async () => (await renew()).today };
};
