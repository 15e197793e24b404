import { invalidRequest } from "@nodeloom/kernel";
import { z } from "zod";
import { errorReply, isExpected } from "../../http/errors";
import { aliasName, slug } from "../../http/schemas";
import { revisionTag } from "../../http/revisions";
import { aliasRoutes } from "../../routes/workflows/aliases";
import { canarySettings } from "../../routes/workflows/canaries";
import { testRoutes } from "../../routes/workflows/tests";
import { versionRoutes } from "../../routes/workflows/versions";
import { callRoute } from "../calls";
import { structured } from "../contents";
import { routeNamed } from "../named";
import { argumentsSchema, asRouteCall, objectSchema, readArguments } from "../tools/arguments";
import { READS, type Tool, type ToolCall } from "../tools/tool";

/** Tools that test, publish and copy workflows. */

const [publishRoute, cloneRoute] = [routeNamed(versionRoutes, "publishVersion"), routeNamed(versionRoutes, "cloneWorkflow")];
const [runTestsRoute, testRunRoute] = [routeNamed(testRoutes, "runTests"), routeNamed(testRoutes, "getTestRun")];
const [aliasRoute, currentAliasRoute] = [routeNamed(aliasRoutes, "setAlias"), routeNamed(aliasRoutes, "getAlias")];

const publishArguments = z.strictObject({
  slug: slug.meta({ description: "The slug of your workflow" }),
  ...(publishRoute.body!.schema as z.ZodOptional<z.ZodNullable<z.ZodObject>>).unwrap().unwrap().shape,
  revision: z.number().int().min(0).optional().meta({ description: "Publishes the draft only if it has this revision" }),
  alias: aliasName
    .optional()
    .meta({ description: "An alias, such as `staging`, that then points to the version. Needs the capability to run the workflow" }),
  requireTests: z.boolean().optional().meta({
    description:
      "For `alias`: it only moves to versions that passed the workflow's tests, so call `run_tests` first. Otherwise the version is published, and the alias stays",
  }),
  canary: canarySettings.omit({ version: true }).optional().meta({
    description: "For `alias`: it keeps its version, and the new version gets a share of its runs until it is promoted or rolled back",
  }),
});

interface PublishArguments {
  slug: string;
  revision?: number;
  alias?: string;
  requireTests?: boolean;
  canary?: object;
}

/** Version that an alias keeps during a canary. @throws ALIAS_NOT_FOUND; INVALID_REQUEST for an alias that follows the newest version */
const keptVersion = async ({ context }: ToolCall, slugValue: string, name: string): Promise<number> => {
  const { body } = await callRoute(context, currentAliasRoute, { params: { slug: slugValue, name } });
  const { version, isDefault } = body as { version: number | null; isDefault: boolean };
  if (version !== null && !isDefault) return version;
  const message = `${name} follows the newest version, so a new version would get all of its runs: publish once with this alias and without a canary`;
  throw invalidRequest([{ path: "canary", message }]);
};

const publish = async (call: ToolCall) => {
  const { context, args, executionId, fingerprint } = call;
  const { slug: value, revision, alias, requireTests, canary, ...body } = readArguments(publishArguments, args) as PublishArguments;
  if (alias === undefined && (requireTests ?? canary) !== undefined) readArguments(publishArguments.required({ alias: true }), args);
  const currentVersion = alias !== undefined && canary && (await keptVersion(call, value, alias));
  const ifMatch = revision === undefined ? {} : { ifMatch: revisionTag(revision) };
  const published = await callRoute(context, publishRoute, {
    ...{ params: { slug: value }, body: JSON.stringify(body), executionId, fingerprint },
    ...ifMatch,
  });
  const version = published.body as { version: number };
  if (alias === undefined) return structured({ slug: value, ...version });
  const target = currentVersion
    ? { version: currentVersion, if: { version: currentVersion }, canary: { ...canary, version: version.version } }
    : { version: version.version };
  const move = { ...target, ...(requireTests === undefined ? {} : { requireTests }) };
  try {
    const moved = await callRoute(context, aliasRoute, { params: { slug: value, name: alias }, body: JSON.stringify(move) });
    return structured({ slug: value, ...version, alias: moved.body });
  } catch (error) {
    if (!isExpected(error)) throw error;
    // The version is published, whatever happens to the alias.
    return { ...structured({ slug: value, ...version, aliasError: errorReply(error).body }), isError: true };
  }
};

const clone = async ({ context, args, executionId, fingerprint }: ToolCall) =>
  structured((await callRoute(context, cloneRoute, { ...asRouteCall(cloneRoute, args), executionId, fingerprint })).body);

export const PUBLISHING_TOOLS: readonly Tool[] = [
  {
    name: "publish",
    description:
      "Publishes the draft as the next version. From then on, runs use this version, and later changes of the draft don't affect it. With `alias`, that alias points to it; with `canary` too, it gets a share of the runs of that alias first.",
    inputSchema: objectSchema(publishArguments),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    call: publish,
  },
  {
    name: "clone_workflow",
    description: "Copies a template or one of your workflows, with its files, into a new workflow of yours that you can change.",
    inputSchema: argumentsSchema({ params: cloneRoute.params }, { name: z.string().max(200).optional() }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    call: clone,
  },
  {
    name: "run_tests",
    description:
      "Runs the tests of your workflow on its draft, or on a version or an alias, which costs credits for calls that changed. It returns a `batchId`: ask `get_test_run` for the results.",
    inputSchema: argumentsSchema(
      { params: runTestsRoute.params },
      (runTestsRoute.body!.schema as z.ZodOptional<z.ZodObject>).unwrap().shape,
    ),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    call: async ({ context, args, executionId, fingerprint }) =>
      structured((await callRoute(context, runTestsRoute, { ...asRouteCall(runTestsRoute, args), executionId, fingerprint })).body),
  },
  {
    name: "get_test_run",
    description: "Reads a run of a workflow's tests, with the result of each test.",
    inputSchema: argumentsSchema({ params: testRunRoute.params }),
    annotations: READS,
    call: async ({ context, args }) =>
      structured((await callRoute(context, testRunRoute, asRouteCall({ params: testRunRoute.params }, args))).body),
  },
];
