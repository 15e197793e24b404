import { useQuery, queryOptions } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { FileQuestion } from "lucide-react";
import { useState, type ReactNode } from "react";
import { LoadFailure, Loading } from "../../parts/error-pages";
import { Logo } from "../../parts/logo";
import { isNotFound, api } from "../../api/client";
import { meQuery } from "../../api/queries";
import { RunForm } from "../../runs/run-form";
import { initialValues, sentInputs } from "../../runs/sent-inputs";
import { TryIt } from "../../runs/try-it";
import { Button } from "../../ui/button";
import { Empty, Notice } from "../../ui/notice";
import { useTitle } from "../../ui/use-title";
import { PLAYGROUND_PAGE } from "../../messages/playground";

const publicSchemaQuery = (slug: string) =>
  queryOptions({ queryKey: ["public-schema", slug], queryFn: ({ signal }) => api.workflows.publicSchema(slug, { signal }), retry: false });

const route = getRouteApi("/p/$slug");

/** Inputs by slug, kept while the person signs in. */
const typedHere = new Map<string, Record<string, unknown>>();

const Playground = ({ slug, onSignIn }: { slug: string; onSignIn: () => void }) => {
  const schema = useQuery(publicSchemaQuery(slug));
  const me = useQuery(meQuery);
  const [touched, setTouched] = useState<Record<string, unknown>>(typedHere.get(slug) ?? {});
  useTitle(schema.data?.name);
  if (schema.isPending || me.isPending) return <Loading />;
  if (schema.isError)
    return isNotFound(schema.error) ? (
      <Empty isPage icon={FileQuestion} title={PLAYGROUND_PAGE.playgroundNotFound}>
        {PLAYGROUND_PAGE.notFoundHint}
      </Empty>
    ) : (
      <LoadFailure error={schema.error} retry={() => void schema.refetch()} />
    );
  const { name, description, fields, values: saved } = schema.data;
  const change = (values: Record<string, unknown>): void => {
    typedHere.set(slug, values);
    setTouched(values);
  };
  const values = { ...initialValues(fields, saved), ...touched };
  return (
    <>
      <h1 className="text-2xl font-semibold tracking-tight wrap-anywhere">{name}</h1>
      {description !== "" && <p className="mt-2 text-sm whitespace-pre-line text-muted wrap-anywhere">{description}</p>}
      <div className="mt-6 rounded-2xl border bg-surface p-5">
        <RunForm fields={fields} values={values} onChange={change} mayUpload={me.data?.user.approved === true} />
        <div className="mt-5">
          {me.data ? (
            <>
              {!me.data.user.approved && (
                <Notice kind="warn" className="mb-4">
                  {PLAYGROUND_PAGE.awaitsApproval}
                </Notice>
              )}
              <p className="mb-3 text-xs text-faint">{PLAYGROUND_PAGE.costHint}</p>
              <TryIt target={{ workflow: slug }} inputs={sentInputs(fields, values)} mayRun={me.data.user.approved} />
            </>
          ) : (
            <Notice
              title={PLAYGROUND_PAGE.signInTitle}
              actions={
                <Button variant="primary" size="sm" onClick={onSignIn}>
                  {PLAYGROUND_PAGE.signInOrCreateAccount}
                </Button>
              }
            >
              {PLAYGROUND_PAGE.signInHint}
            </Notice>
          )}
        </div>
      </div>
    </>
  );
};

/**
 * A public playground: everyone can read it, and signed-in accounts can run it.
 * @param signIn sign-in page for this address
 */
export const PlaygroundPage = ({ signIn }: { signIn: ReactNode }) => {
  const { slug } = route.useParams();
  const me = useQuery(meQuery);
  const [signingIn, setSigningIn] = useState(false);
  if (signingIn && !me.data) return signIn;
  return (
    <div className="min-h-full">
      <header className="border-b bg-surface px-4 py-2.5 sm:px-8">
        <Link to="/" aria-label={PLAYGROUND_PAGE.nodeloom}>
          <Logo />
        </Link>
      </header>
      <main className="mx-auto w-full max-w-2xl px-4 py-8">
        <Playground key={slug} slug={slug} onSignIn={() => setSigningIn(true)} />
      </main>
    </div>
  );
};
