import type { ReactNode } from "react";
import { classes } from "../ui/classes";
import { useTitle } from "../ui/use-title";
import { Logo } from "./logo";

const TOKEN = /^#token=(.+)$/;

/** Token of an emailed link. It follows the #, so that no server logs it. */
export const tokenOfLink = (): string | undefined => {
  const hashToken = TOKEN.exec(location.hash)?.[1];
  try {
    return hashToken === undefined ? undefined : decodeURIComponent(hashToken);
  } catch {
    return undefined;
  }
};

interface SmallPageProps {
  title: string;
  lead?: ReactNode;
  /** Shown below the card. */
  foot?: ReactNode;
  /** Shown beside the card on wide screens. */
  beside?: ReactNode;
  /** True for content that needs more than the width of a form. */
  isWide?: boolean;
  children: ReactNode;
}

/** A page with a single purpose. It can be open to people who aren't signed in. */
export const SmallPage = ({ title, lead, foot, beside, isWide = false, children }: SmallPageProps) => {
  useTitle(title);
  return (
    <main className="flex min-h-full items-stretch justify-center">
      {beside !== undefined && (
        <div className="hidden flex-1 items-center justify-center border-r bg-(--board) p-12 lg:flex">
          <div className="w-full max-w-2xl">{beside}</div>
        </div>
      )}
      <div className={classes("m-auto w-full flex-none px-4 py-10 lg:px-8", isWide ? "max-w-2xl" : "max-w-sm lg:max-w-md")}>
        <div className="mb-8 flex justify-center">
          <Logo />
        </div>
        <div className="rounded-2xl border bg-surface p-6 shadow-panel">
          <h1 className="text-lg font-semibold wrap-anywhere">{title}</h1>
          {lead !== undefined && <p className="mt-1 text-sm text-muted wrap-anywhere">{lead}</p>}
          <div className={lead === undefined ? "mt-4" : "mt-5"}>{children}</div>
        </div>
        {foot !== undefined && <p className="mt-5 text-center text-sm text-muted">{foot}</p>}
      </div>
    </main>
  );
};
