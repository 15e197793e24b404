import type { Model } from "@nodeloom/client";
import { withinCeiling } from "@nodeloom/kernel/capabilities";
import { isBaseTier } from "@nodeloom/kernel/plans";
import type { JsonSchema } from "@nodeloom/kernel/graph";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { titled } from "../../ui/format";
import { Loading, NotThere } from "../../parts/error-pages";
import { priceWords } from "../../api/prices";
import { meQuery } from "../../api/queries";
import { modelQuery } from "./queries";
import { curl } from "../../runs/snippets";
import { TryIt } from "../../runs/try-it";
import { UploadButton } from "../../media/upload-button";
import { Badge } from "../../ui/badge";
import { Code } from "../../ui/copy";
import { Notice } from "../../ui/notice";
import { Card, Facts, Page } from "../../ui/page";
import { Example, useExample } from "./examples/example";
import { runnerOf, standingOf } from "../../parts/model-facts";
import { Retirement } from "./model-card";
import { propertiesOf } from "../../ui/inputs/properties";
import { SchemaControl } from "../../ui/inputs/schema-control";
import { COMMON } from "../../messages/common";
import { MODEL_PAGE } from "../../messages/models";
import { EVERY_FILE } from "../../ui/inputs/accept";

const route = getRouteApi("/shell/models/$internalName");

const acceptOf = ({ contentMediaType }: JsonSchema): string => (typeof contentMediaType === "string" ? contentMediaType : EVERY_FILE);

const StandingLine = ({ model }: { model: Model }) => {
  const { title, tone, reason } = standingOf(model);
  return (
    <span className="flex flex-col items-start gap-1">
      <Badge tone={tone}>{title}</Badge>
      {reason !== undefined && <span className="text-xs text-muted">{reason}</span>}
    </span>
  );
};

/** Accepted values: "a whole number from 1 to 10, usually 5". */
const inputWords = ({ type, format, enum: choices, minimum, maximum, default: usual }: JsonSchema): string => {
  const what =
    format === "media"
      ? MODEL_PAGE.file
      : Array.isArray(choices)
        ? choices.map(String).join(", ")
        : (TYPE_WORDS[String(type)] ?? MODEL_PAGE.anyValue);
  const from = typeof minimum === "number" ? MODEL_PAGE.from(minimum) : "";
  const to = typeof maximum === "number" ? MODEL_PAGE.to(maximum) : "";
  const otherwise = typeof usual === "string" || typeof usual === "number" || typeof usual === "boolean" ? MODEL_PAGE.otherwise(usual) : "";
  return `${what}${from}${to}${otherwise}`;
};
const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "text",
  integer: MODEL_PAGE.wholeNumber,
  number: MODEL_PAGE.number,
  boolean: MODEL_PAGE.yesOrNo,
  object: MODEL_PAGE.object,
  array: MODEL_PAGE.list,
};

const Detail = ({ model }: { model: Model }) => {
  const { data: me } = useSuspenseQuery(meQuery);
  const [inputs, setInputs] = useState<Record<string, unknown>>({});
  const set = (name: string, value: unknown): void => {
    const { [name]: _old, ...rest } = inputs;
    setInputs(value === undefined ? rest : { ...rest, [name]: value });
  };
  const tier = me?.user.tier ?? "free";
  // The base of a custom tier is unknown here. If its models exclude this one, the service rejects the run.
  const reaches = me !== null && (!isBaseTier(tier) || withinCeiling("model:run", tier, me.user.role === "admin"));
  const example = useExample(model);
  const required = new Set(Array.isArray(model.inputSchema.required) ? (model.inputSchema.required as string[]) : []);
  return (
    <Page title={model.displayName} lead={model.description}>
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Card title={MODEL_PAGE.tryIt}>
          {me && !me.user.approved && (
            <Notice kind="warn" className="mb-4">
              {MODEL_PAGE.awaitsApproval}
            </Notice>
          )}
          {!reaches && (
            <Notice className="mb-4" title={MODEL_PAGE.planRequired}>
              {MODEL_PAGE.planHint}
            </Notice>
          )}
          <div className="mb-5 flex flex-col gap-4">
            {propertiesOf(model.inputSchema).map(([name, schema]) => {
              const title = typeof schema.title === "string" ? schema.title : name;
              return (
                <SchemaControl
                  key={name}
                  name={name}
                  label={required.has(name) ? `${title} *` : title}
                  schema={schema}
                  value={inputs[name]}
                  aside={
                    schema.format === "media" && me?.user.approved ? (
                      <UploadButton accept={acceptOf(schema)} label={COMMON.upload} onDone={({ id }) => set(name, id)} />
                    ) : undefined
                  }
                  onChange={(value) => set(name, value)}
                />
              );
            })}
          </div>
          <TryIt
            target={{ model: model.internalName }}
            inputs={inputs}
            mayRun={me?.user.approved === true && model.enabled && reaches}
            isUntouched={required.size > 0 && Object.keys(inputs).length === 0}
          />
        </Card>
        <div className="flex min-w-0 flex-col gap-5">
          <Card title={MODEL_PAGE.about}>
            <Facts
              rows={[
                [
                  COMMON.name,
                  <code key="name" className="font-mono text-xs wrap-anywhere">
                    {model.internalName}
                  </code>,
                ],
                [COMMON.status, <StandingLine key="status" model={model} />],
                [MODEL_PAGE.output, model.modality],
                [MODEL_PAGE.provider, runnerOf(model)],
                [COMMON.price, priceWords(model)],
                [MODEL_PAGE.requires, model.minTier === "free" ? MODEL_PAGE.anyPlan : MODEL_PAGE.planOrHigher(titled(model.minTier))],
                [MODEL_PAGE.nameInTheApi, model.provider.kind],
                ...(model.asOf === null ? [] : ([[MODEL_PAGE.priceChecked, model.asOf]] as const)),
                [MODEL_PAGE.asynchronous, model.asyncSupported ? "yes" : "no"],
                [COMMON.trialRuns, String(model.trialRuns)],
                ...(model.tasks.length > 0
                  ? [[MODEL_PAGE.chosenAutomatically, model.tasks.map((task) => `auto:${task}`).join(", ")] as const]
                  : []),
              ]}
            />
            <div className="mt-3 flex gap-1">
              {model.sandbox && <Badge tone="warn">{MODEL_PAGE.sandboxNoAi}</Badge>}
              <Retirement model={model} />
            </div>
          </Card>
          {example && (
            <Card title={MODEL_PAGE.example}>
              <p className="mb-3 text-xs text-faint">{example.words}</p>
              <Example model={model} className="max-h-72" />
            </Card>
          )}
          <Card title={COMMON.inputs}>
            <Facts
              rows={propertiesOf(model.inputSchema).map(
                ([name, schema]) => [required.has(name) ? `${name} *` : name, inputWords(schema)] as const,
              )}
            />
          </Card>
          <Card title={MODEL_PAGE.callOverHttp}>
            <p className="mb-2 text-xs text-faint">{MODEL_PAGE.capabilityHint}</p>
            <Code text={curl({ baseUrl: location.origin, path: `models/${model.internalName}`, inputs })} label={MODEL_PAGE.curlExample} />
          </Card>
        </div>
      </div>
    </Page>
  );
};

export const ModelPage = () => {
  const { internalName } = route.useParams();
  const model = useQuery(modelQuery(internalName));
  if (model.data) return <Detail key={internalName} model={model.data} />;
  if (model.isPending) return <Loading />;
  return (
    <NotThere
      error={model.error}
      retry={() => void model.refetch()}
      title={MODEL_PAGE.modelNotFound}
      list={{ to: "/models", title: MODEL_PAGE.goToModels }}
    />
  );
};
