/** Requests that run or price the tests of a workflow. */
import { invalidRequest } from "@nodeloom/kernel";
import type { batches as proto } from "@nodeloom/proto";
import { z } from "zod";
import type { CallContext } from "../../edge/route";
import { aliasName, versionMember } from "../../http/schemas";
import { settings } from "../batches/requests";
import { toRunner } from "../runs/run";
import { selectedGraph } from "./selection";

const DRAFT = "draft";
const MOST_RECENT_RUNS = 20;

const which = {
  version: versionMember.meta({ description: "A version's number, or `draft`" }),
  alias: aliasName.optional().meta({ description: "The alias whose version is tested. Send either `alias` or `version`" }),
};
export const testsBody = z
  .strictObject({
    ...which,
    draft: z.literal(true).optional().meta({ description: 'Same as `version: "draft"`' }),
    settings: settings.optional().meta({
      description:
        "Settings by node id, which replace those of the tested graph, and not those of `against`: for example another model. Without `workflow:write`, you can set `model` (with the capability of that model) and the `inputs` of generators",
    }),
    recentRuns: z.number().int().min(1).max(MOST_RECENT_RUNS).optional().meta({
      description:
        "Instead of the tests: the distinct inputs of up to this many completed runs of the workflow, newest first. The results have the ids of these runs as names, and expect only that the run completes",
    }),
    against: z.strictObject(which).optional().meta({
      description:
        "A version or an alias to compare with. It runs first, and the tests reuse its calls where nothing changed. By default the version that judges name in `against`",
    }),
  })
  .optional()
  .meta({ id: "RunTestsRequest" });

/** Errors of a request that runs or prices tests. */
export const ORDER_ERRORS = [
  ...(["INVALID_INPUTS", "WORKFLOW_INVALID", "MODEL_TIER_REQUIRED", "MODEL_NOT_FOUND", "ACCOUNT_NOT_APPROVED"] as const),
  ...(["CAPABILITY_DENIED", "PRECONDITION_FAILED", "WORKFLOW_NOT_FOUND", "VERSION_NOT_FOUND", "ALIAS_NOT_FOUND"] as const),
] as const;

type TestContext = CallContext<"any", { slug: string }, unknown, z.infer<typeof testsBody>>;

/** The tests of a request, for executions; the draft is the default. */
export const testOrder = ({ caller, params, body, members }: TestContext): proto.RunTestsRequest => {
  const selected = (selection: { version?: string | number | undefined; alias?: string | undefined }) =>
    selectedGraph(caller, { version: selection.version === undefined ? undefined : String(selection.version), alias: selection.alias });
  if (body?.draft && body.version !== undefined) throw invalidRequest([{ path: "draft", message: "send draft or version, not both" }]);
  const tested = selected(body?.draft ? { ...body, version: DRAFT } : (body ?? {}));
  const isNamed = tested.version !== "" || tested.alias !== "";
  return {
    ...{ batchId: "", slug: params.slug, fingerprint: "" },
    ...(isNamed ? tested : { version: DRAFT, alias: "" }),
    against: body?.against && selected(body.against),
    runner: toRunner(caller, "workflow"),
    settingsJson: body?.settings === undefined ? "" : (members().get("settings") ?? ""),
    recentRuns: body?.recentRuns ?? 0,
  };
};
