import { NodeloomError, type App, type AppToday } from "@nodeloom/client";
import { useCallback, useEffect, useState } from "react";
import { safeUrl } from "../media/url";
import { creditNumber, dateTime } from "../ui/format";
import { AppForm, firstValues, missing, sentValues } from "./app-form";
import { isEmbedded } from "./frame";
import { Failure, PRIMARY } from "./parts";
import { RunOutcome, RunStateView } from "./progress";
import { useRun } from "./use-run";
import { beginVisit, type Visit } from "./visit";
import { APP_PAGE } from "../messages/visitor";

/** The payer and the remaining amount. */
const Terms = ({ today }: { today: AppToday | undefined }) => {
  if (!today) return <p className="mt-3 text-xs text-faint">{APP_PAGE.ownerPays}</p>;
  const { runsLeft, creditsLeft, dailyCredits, resetsAt } = today;
  return (
    <p className="mt-3 text-xs text-faint" aria-live="polite">
      {APP_PAGE.ownerPays} {APP_PAGE.runsLeft(runsLeft)}{" "}
      {dailyCredits > 0 && `${APP_PAGE.creditsLeft(creditNumber(creditsLeft), creditNumber(dailyCredits))} `}
      {APP_PAGE.resets(dateTime(resetsAt))}
    </p>
  );
};

const Head = ({ app }: { app: App }) => {
  const cover = safeUrl(app.cover);
  return (
    <header>
      {cover !== undefined && <img src={cover} alt="" className="mb-5 max-h-60 w-full rounded-2xl object-cover" />}
      <h1 className="text-2xl font-semibold tracking-tight wrap-anywhere">{app.title}</h1>
      {app.description !== "" && <p className="mt-2 text-sm whitespace-pre-line text-muted wrap-anywhere">{app.description}</p>}
    </header>
  );
};

const OwnerPays = ({ visit }: { visit: Visit }) => {
  const { app } = visit;
  const [values, setValues] = useState(firstValues(app));
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map());
  const [today, setToday] = useState<AppToday>();
  const askToday = useCallback(() => void visit.today().then(setToday, () => undefined), [visit]);
  const { state, earlier, start } = useRun(visit, askToday);
  const isBusy = state.is === "starting" || state.is === "running";
  const shownId = state.is === "over" ? state.execution.executionId : "";
  const send = (): void => {
    const problems = missing(app, values);
    setErrors(problems);
    if (problems.size === 0) start(sentValues(values));
  };
  return (
    <>
      <form
        className="mt-6 rounded-2xl border bg-surface p-4 sm:p-5"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <AppForm app={app} values={values} errors={errors} onChange={setValues} />
        <button type="submit" disabled={isBusy || today?.runsLeft === 0} aria-busy={isBusy || undefined} className={`${PRIMARY} mt-5`}>
          {isBusy ? APP_PAGE.running : APP_PAGE.run}
        </button>
        <Terms today={today} />
      </form>
      <RunStateView state={state} />
      {earlier.filter(({ executionId }) => executionId !== shownId).length > 0 && (
        <section className="mt-8" aria-label={APP_PAGE.earlier}>
          <h2 className="mb-3 text-sm font-semibold">{APP_PAGE.earlier}</h2>
          <ul className="m-0 flex list-none flex-col gap-3 p-0">
            {earlier
              .filter(({ executionId }) => executionId !== shownId)
              .map((execution) => (
                <li key={execution.executionId}>
                  <details className="rounded-xl border bg-surface p-3">
                    <summary className="text-sm">{execution.createdAt === null ? APP_PAGE.run : dateTime(execution.createdAt)}</summary>
                    <div className="mt-3">
                      <RunOutcome execution={execution} />
                    </div>
                  </details>
                </li>
              ))}
          </ul>
        </section>
      )}
    </>
  );
};

/** Visitors who pay for their runs use the app as a playground after signing in. */
const VisitorPays = ({ app }: { app: App }) => (
  <div className="mt-6 rounded-2xl border bg-surface p-5">
    <p className="mb-4 text-sm">{APP_PAGE.signIn}</p>
    <a href={`/p/${app.slug}`} {...(isEmbedded ? { target: "_blank", rel: "noopener" } : {})} className={PRIMARY}>
      {APP_PAGE.openApp}
    </a>
  </div>
);

const showTheme = ({ theme }: App): void => {
  if (theme !== "auto") document.documentElement.dataset.theme = theme;
};

/** `/a/<slug>`: an app for visitors. */
export const AppPage = ({ slug }: { slug: string }) => {
  const [visit, setVisit] = useState<Visit>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    beginVisit(slug).then((startedVisit) => {
      showTheme(startedVisit.app);
      document.title = startedVisit.app.title;
      setVisit(startedVisit);
    }, setError);
  }, [slug]);
  if (error !== undefined)
    return <Failure title={error instanceof NodeloomError && error.status === 404 ? APP_PAGE.appNotFound : APP_PAGE.cantShow} />;
  if (!visit) return <p role="status">{APP_PAGE.loading}</p>;
  return (
    <>
      <Head app={visit.app} />
      {visit.app.payer === "owner" ? <OwnerPays visit={visit} /> : <VisitorPays app={visit.app} />}
      {!isEmbedded && (
        <footer className="mt-10 text-xs text-faint">
          <a href={`/apps/${visit.app.ownerId}`} className="underline underline-offset-2">
            {APP_PAGE.moreApps}
          </a>
        </footer>
      )}
    </>
  );
};
