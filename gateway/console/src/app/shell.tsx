import { useQuery } from "@tanstack/react-query";
import { Outlet, useRouterState } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { codeOf } from "../api/client";
import { meQuery } from "../api/queries";
import { LoadFailure, Loading } from "../parts/error-pages";
import { Sidebar, TopBar } from "./navigation";
import { complain } from "../ui/overlays/toast";
import { takeFailure } from "../parts/sign-in/outcome";
import { SignInAgain } from "./sign-in-again";
import { SHELL } from "../messages/app";

const SignInPage = lazy(async () => ({ default: (await import("../features/account/sign-in-page")).SignInPage }));
const UnverifiedNotice = lazy(async () => ({ default: (await import("../features/account/mail/unverified-notice")).UnverifiedNotice }));
const LeavingNotice = lazy(async () => ({
  default: (await import("../features/organizations/leaving/leaving-notice")).LeavingNotice,
}));

const PlacesDialog = lazy(async () => ({ default: (await import("../features/workflows/places-dialog")).PlacesDialog }));

/** Ctrl+K opens the palette. The canvas has its own, with its nodes and commands. */
const usePaletteKey = (isOn: boolean, open: () => void): void => {
  useEffect(() => {
    if (!isOn) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
      if (key.toLowerCase() !== "k" || !(ctrlKey || metaKey) || altKey || shiftKey || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      open();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [isOn, open]);
};

/** Pages for signed-in users, beside the navigation. Others see the sign-in page under the same address. */
export const Shell = () => {
  const me = useQuery(meQuery);
  const [menuOpen, setMenuOpen] = useState(false);
  const isSignedIn = Boolean(me.data);
  // Result of linking the account to a provider.
  useEffect(() => {
    const failure = isSignedIn ? takeFailure() : undefined;
    if (failure !== undefined) complain(failure);
  }, [isSignedIn]);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const wide = path.startsWith("/workflows/") && !path.endsWith("/triggers");
  const [searching, setSearching] = useState(false);
  const search = useCallback((): void => {
    setMenuOpen(false);
    setSearching(true);
  }, []);
  usePaletteKey(isSignedIn && !wide, search);
  if (me.isPending) return <Loading />;
  const isSuspended = me.data === undefined && codeOf(me.error) === "ACCOUNT_SUSPENDED";
  if (me.data === undefined && !isSuspended)
    return (
      <main className="mx-auto max-w-2xl px-4 py-16">
        <LoadFailure error={me.error} retry={() => void me.refetch()} />
      </main>
    );
  // A suspended account can't be retried, but another account can use this browser.
  if (!me.data)
    return (
      <Suspense fallback={<Loading />}>
        <SignInPage suspended={isSuspended} />
      </Suspense>
    );
  const { organization } = me.data;
  return (
    <div className="flex h-full">
      <a
        href="#main"
        className="sr-only z-80 rounded-lg bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:absolute focus:top-2 focus:left-2"
      >
        {SHELL.skipToContent}
      </a>
      <Sidebar me={me.data} compact={wide} open={menuOpen} onSearch={search} onClose={() => setMenuOpen(false)} />
      <div className="flex min-w-0 flex-1 flex-col">
        {!wide && <TopBar me={me.data} onMenu={() => setMenuOpen(true)} onSearch={search} />}
        <main
          id="main"
          tabIndex={-1}
          className={wide ? "relative min-h-0 flex-1 outline-none" : "min-h-0 flex-1 overflow-y-auto outline-none"}
        >
          {!wide && organization?.erasesAt !== undefined && (
            <Suspense>
              <LeavingNotice organization={{ ...organization, erasesAt: organization.erasesAt }} className="mx-4 mt-4 sm:mx-6" />
            </Suspense>
          )}
          {path === "/" && (
            <Suspense>
              <UnverifiedNotice className="mx-4 mt-4 sm:mx-6" />
            </Suspense>
          )}
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <SignInAgain />
      {searching && (
        <Suspense>
          <PlacesDialog onClose={() => setSearching(false)} />
        </Suspense>
      )}
    </div>
  );
};
