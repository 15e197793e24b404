import { createClient, type AppCard } from "@nodeloom/client";
import { useEffect, useState } from "react";
import { safeUrl } from "../media/url";
import { Failure } from "./parts";
import { GALLERY_PAGE } from "../messages/visitor";

const client = createClient({ baseUrl: location.origin, maxRetries: 2, maxPauseMs: 4_000 });

const Card = ({ app: { slug, title, description, cover, payer } }: { app: AppCard }) => {
  const picture = safeUrl(cover);
  return (
    <a
      href={`/a/${slug}`}
      className="flex h-full flex-col overflow-hidden rounded-2xl border bg-surface text-text no-underline hover:bg-hover"
    >
      {picture === undefined ? (
        <span className="h-32 bg-sunken" />
      ) : (
        <img src={picture} alt="" loading="lazy" className="h-32 w-full object-cover" />
      )}
      <span className="flex flex-col gap-1 p-4">
        <span className="font-semibold wrap-anywhere">{title}</span>
        <span className="line-clamp-3 text-sm text-muted wrap-anywhere">{description}</span>
        <span className="text-xs text-faint">{payer === "owner" ? GALLERY_PAGE.freeForYou : GALLERY_PAGE.youPay}</span>
      </span>
    </a>
  );
};

/** `/apps/<account>`: an account's published apps. */
export const GalleryPage = ({ owner }: { owner: string }) => {
  const [apps, setApps] = useState<readonly AppCard[]>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    document.title = GALLERY_PAGE.apps;
    client.request("getAppGallery", { query: { owner } }).then(
      ({ body }) => setApps(body),
      () => setFailed(true),
    );
  }, [owner]);
  if (failed) return <Failure title={GALLERY_PAGE.cantShow} />;
  if (!apps) return <p role="status">{GALLERY_PAGE.loading}</p>;
  return (
    <>
      <h1 className="mb-6 text-2xl font-semibold tracking-tight">{GALLERY_PAGE.apps}</h1>
      {apps.length === 0 && <p className="text-sm text-muted">{GALLERY_PAGE.empty}</p>}
      <ul className="m-0 grid list-none grid-cols-[repeat(auto-fill,minmax(15rem,1fr))] gap-4 p-0">
        {apps.map((app) => (
          <li key={app.slug}>
            <Card app={app} />
          </li>
        ))}
      </ul>
    </>
  );
};
