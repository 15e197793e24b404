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

/** The payer and the remaining amount. */
const Terms = ({ today }: { today: AppToday | undefined }) => {
  if (!today) return <p className="mt-3 text-xs text-faint">The owner of this app pays for it.</p>;
  const { runsLeft, creditsLeft, dailyCredits, resetsAt } = today;
  const left =
    dailyCredits > 0 ? `, and the app has ${creditNumber(creditsLeft)} of ${creditNumber(dailyCredits)} credits left for everybody` : "";
  return (
    <p className="mt-3 text-xs text-faint" aria-live="polite">
      The owner of this app pays for it. You have {runsLeft} {runsLeft === 1 ? "run" : "runs"} left today{left}. A new day begins at{" "}
      {dateTime(resetsAt)}.
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
  const shown = state.is === "over" ? state.execution.executionId : "";
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
          {isBusy ? "Running…" : "Run"}
        </button>
        <Terms today={today} />
      </form>
      <RunStateView state={state} />
      {earlier.filter(({ executionId }) => executionId !== shown).length > 0 && (
        <section className="mt-8" aria-label="Your earlier runs">
          <h2 className="mb-3 text-sm font-semibold">Your earlier runs</h2>
          <ul className="m-0 flex list-none flex-col gap-3 p-0">
            {earlier
              .filter(({ executionId }) => executionId !== shown)
              .map((execution) => (
                <li key={execution.executionId}>
                  <details className="rounded-xl border bg-surface p-3">
                    <summary className="text-sm">{execution.createdAt === null ? "A run" : dateTime(execution.createdAt)}</summary>
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

/** Visitors who pay use it as a playground after signing in. */
const VisitorPays = ({ app }: { app: App }) => (
  <div className="mt-6 rounded-2xl border bg-surface p-5">
    <p className="mb-4 text-sm">Each visitor pays for this app with credits of their own: it asks you to sign in.</p>
    <a href={`/p/${app.slug}`} {...(isEmbedded ? { target: "_blank", rel: "noopener" } : {})} className={PRIMARY}>
      Open the app
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
    beginVisit(slug).then((begun) => {
      showTheme(begun.app);
      document.title = begun.app.title;
      setVisit(begun);
    }, setError);
  }, [slug]);
  if (error !== undefined)
    return <Failure title={error instanceof NodeloomError && error.status === 404 ? "There is no such app" : "The app can't be shown"} />;
  if (!visit) return <p role="status">Loading…</p>;
  return (
    <>
      <Head app={visit.app} />
      {visit.app.payer === "owner" ? <OwnerPays visit={visit} /> : <VisitorPays app={visit.app} />}
      {!isEmbedded && (
        <footer className="mt-10 text-xs text-faint">
          <a href={`/apps/${visit.app.ownerId}`} className="underline underline-offset-2">
            More apps of this account
          </a>
        </footer>
      )}
    </>
  );
};
