import type { ReactNode } from "react";
import { Logo } from "../../../app/navigation";
import { useTitle } from "../../../ui/use-title";

const TOKEN = /^#token=(.+)$/;

/** What stands behind the # of a mailed link, where no server logs it. */
export const tokenOfLink = (): string | undefined => {
  const found = TOKEN.exec(location.hash)?.[1];
  try {
    return found === undefined ? undefined : decodeURIComponent(found);
  } catch {
    return undefined;
  }
};

/** A page of one thing, for people who may not be signed in. */
export const SmallPage = ({ title, children }: { title: string; children: ReactNode }) => {
  useTitle(title);
  return (
    <main className="flex min-h-full items-center justify-center px-4 py-10">
      <div className="w-full max-w-sm">
        <div className="mb-8 flex justify-center">
          <Logo />
        </div>
        <div className="rounded-2xl border bg-surface p-6 shadow-panel">
          <h1 className="mb-4 text-lg font-semibold">{title}</h1>
          {children}
        </div>
      </div>
    </main>
  );
};
