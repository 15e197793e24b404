import { ProtocolError, ProtocolErrorCode, type CompleteRequestParams, type Server } from "@modelcontextprotocol/server";
import { DomainError } from "@nodeloom/kernel";
import { workflowRoutes } from "../../routes/workflows/routes";
import { callRoute, type McpContext } from "../calls";
import { fixturesIf } from "../fixtures";
import { routeNamed } from "../named";
import { getPrompt, listPrompts, takesWorkflow } from "./prompts";
import { createGuides } from "./resources";

/** Resources, prompts and completions of a server. */

const guides = createGuides();
const listRoute = routeNamed(workflowRoutes, "listWorkflows");
/** The most values that the protocol allows. */
const MOST_VALUES = 100;
const MAX_VALUE_CHARS = 200;

/** Slugs of workflows that begin with a text; none if the caller can't list workflows. */
const slugsWith = async (context: McpContext, value: string): Promise<string[]> => {
  const query = { limit: String(MOST_VALUES), ...(value === "" ? {} : { q: value }) };
  try {
    const { body } = await callRoute(context, listRoute, { query });
    return (body as { slug: string }[]).map(({ slug }) => slug).filter((slug) => slug.startsWith(value));
  } catch (error) {
    if (error instanceof DomainError) return [];
    throw error;
  }
};

const complete = async (context: McpContext, { ref, argument }: CompleteRequestParams): Promise<string[]> => {
  const { name, value } = argument;
  if (value.length > MAX_VALUE_CHARS) return [];
  if (ref.type === "ref/resource") return guides.complete(ref.uri, value);
  return takesWorkflow(ref.name, name) ? slugsWith(context, value) : [];
};

const noCursor = (cursor: string | undefined): void => {
  if (cursor === undefined) return;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "the cursor doesn't belong to this list, which has one page");
};

/** Adds the handlers. @param server with the capabilities `resources`, `prompts` and `completions` */
export const addGuides = (server: Server, context: McpContext): void => {
  const fixtures = fixturesIf(context.gateway.mcp.hasFixtures);
  server.setRequestHandler("resources/list", ({ params }) => {
    noCursor(params?.cursor);
    return { resources: [...guides.list(), ...fixtures.resources] };
  });
  server.setRequestHandler("resources/templates/list", ({ params }) => {
    noCursor(params?.cursor);
    return { resourceTemplates: [...guides.templates(), ...fixtures.templates] };
  });
  server.setRequestHandler("resources/read", ({ params: { uri } }) => fixtures.read(uri) ?? guides.read(uri));
  server.setRequestHandler("prompts/list", ({ params }) => {
    noCursor(params?.cursor);
    return { prompts: [...listPrompts(), ...fixtures.prompts] };
  });
  server.setRequestHandler(
    "prompts/get",
    ({ params: { name, arguments: given = {} } }) => fixtures.prompt(name, given) ?? getPrompt(name, given),
  );
  server.setRequestHandler("completion/complete", async ({ params }) => {
    const all = await complete(context, params);
    const values = all.slice(0, MOST_VALUES);
    return { completion: { values, total: all.length, hasMore: all.length > values.length } };
  });
};
