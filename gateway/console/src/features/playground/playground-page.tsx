import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { FileQuestion } from "lucide-react";
import { useState } from "react";
import { LoadFailure, Loading } from "../../app/error-pages";
import { Logo } from "../../app/navigation";
import { isNotFound } from "../../api/client";
import { meQuery, publicSchemaQuery } from "../../api/queries";
import { initialValues, RunForm, sentInputs } from "../../runs/run-form";
import { TryIt } from "../../runs/try-it";
import { buttonClasses } from "../../ui/button";
import { Empty, Notice } from "../../ui/notice";
import { useTitle } from "../../ui/use-title";

const route = getRouteApi("/p/$slug");

const Playground = ({ slug }: { slug: string }) => {
  const schema = useQuery(publicSchemaQuery(slug));
  const me = useQuery(meQuery);
  const [touched, setTouched] = useState<Record<string, unknown>>({});
  useTitle(schema.data?.name);
  if (schema.isPending) return <Loading />;
  if (schema.isError)
    return isNotFound(schema.error) ? (
      <Empty isPage icon={FileQuestion} title="There is no such playground">
        It was taken down, or its owner does not share it.
      </Empty>
    ) : (
      <LoadFailure error={schema.error} retry={() => void schema.refetch()} />
    );
  const { name, description, fields, values: saved } = schema.data;
  const values = { ...initialValues(fields, saved), ...touched };
  return (
    <>
      <h1 className="text-2xl font-semibold tracking-tight wrap-anywhere">{name}</h1>
      {description !== "" && <p className="mt-2 text-sm whitespace-pre-line text-muted wrap-anywhere">{description}</p>}
      <div className="mt-6 rounded-2xl border bg-surface p-5">
        <RunForm fields={fields} values={values} onChange={setTouched} mayUpload={me.data?.user.approved === true} />
        <div className="mt-5">
          {me.data ? (
            <>
              {!me.data.user.approved && (
                <Notice kind="warn" className="mb-4">
                  Your account waits for approval; running begins then.
                </Notice>
              )}
              <TryIt target={{ workflow: slug }} inputs={sentInputs(fields, values)} mayRun={me.data.user.approved} />
            </>
          ) : (
            <Notice
              title="Sign in to run this"
              actions={
                <Link to="/" className={buttonClasses("primary", "sm")}>
                  Sign in or create an account
                </Link>
              }
            >
              Runs are paid by the credits of whoever runs.
            </Notice>
          )}
        </div>
      </div>
    </>
  );
};

/** A workflow that everybody may look at. */
export const PlaygroundPage = () => {
  const { slug } = route.useParams();
  return (
    <div className="min-h-full">
      <header className="border-b bg-surface px-4 py-2.5 sm:px-8">
        <Link to="/" aria-label="Nodeloom">
          <Logo />
        </Link>
      </header>
      <main className="mx-auto w-full max-w-2xl px-4 py-8">
        <Playground key={slug} slug={slug} />
      </main>
    </div>
  );
};
