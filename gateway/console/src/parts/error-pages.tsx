import { Link, type ErrorComponentProps } from "@tanstack/react-router";
import { Compass, FileQuestion } from "lucide-react";
import type { ReactNode } from "react";
import { codeOf, isNotFound, isOffline, messageOf } from "../api/client";
import { Button, buttonClasses } from "../ui/button";
import { Empty, Notice, Skeleton } from "../ui/notice";
import { useTitle } from "../ui/use-title";
import { reloadIfReachable } from "./page-code";
import { COMMON } from "../messages/common";
import { ERROR_PAGES } from "../messages/parts";

export const Loading = () => (
  <div className="mx-auto w-full max-w-6xl px-4 py-8 sm:px-8">
    <Skeleton lines={6} />
  </div>
);

const NO_PAGE = ERROR_PAGES.pageNotFound;
export const NotFoundPage = () => {
  useTitle(NO_PAGE);
  return (
    <main className="mx-auto w-full max-w-2xl px-4 py-16">
      <Empty
        isPage
        icon={Compass}
        title={NO_PAGE}
        actions={
          <Link to="/" className={buttonClasses("primary")}>
            {ERROR_PAGES.goToWorkflows}
          </Link>
        }
      >
        {ERROR_PAGES.notFoundHint}
      </Empty>
    </main>
  );
};

/** An error that the page doesn't handle: message, code and retry. */
export const Failure = ({ error, reset }: ErrorComponentProps) => (
  <div className="mx-auto w-full max-w-2xl px-4 py-10">
    <LoadFailure error={error} retry={isOffline(error) ? () => void reloadIfReachable() : reset} />
  </div>
);

export const LoadFailure = ({ error, retry }: { error: unknown; retry?: () => void }) => (
  <Notice
    kind="bad"
    title={ERROR_PAGES.loadFailed}
    actions={
      retry && (
        <Button size="sm" onClick={retry}>
          {COMMON.tryAgain}
        </Button>
      )
    }
  >
    {messageOf(error)}
    {codeOf(error) !== undefined && <code className="mt-1 block font-mono text-xs">{codeOf(error)}</code>}
  </Notice>
);

export interface NotThereProps {
  /** Null: its list was loaded without it. */
  error: unknown;
  retry: () => void;
  /** Title of the page while the resource is missing. */
  title: string;
  /** List of these resources. */
  list: { to: "/" | "/executions" | "/batches" | "/keys" | "/models" | "/webhooks"; title: string };
  children?: ReactNode;
}

/** Shows a link to the list if the resource is missing, or else the reason why it couldn't be loaded. */
export const NotThere = ({ error, retry, title, list, children }: NotThereProps) => {
  const isMissing = error === null || isNotFound(error);
  useTitle(isMissing ? title : undefined);
  return (
    <div className="mx-auto max-w-2xl px-4 py-16">
      {isMissing ? (
        <Empty
          isPage
          icon={FileQuestion}
          title={title}
          actions={
            <Link to={list.to} className={buttonClasses("primary")}>
              {list.title}
            </Link>
          }
        >
          {children}
        </Empty>
      ) : (
        <LoadFailure error={error} retry={retry} />
      )}
    </div>
  );
};
