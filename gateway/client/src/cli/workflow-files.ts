import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Client } from "../client";
import { NodeloomError } from "../errors";
import { readArgument } from "./arguments";
import { membersOf } from "./json-members";
import { EXIT, Refusal } from "./outcome";
import type { Terminal } from "./terminal";

/** Workflows as files for version control. Pulling after a push gives identical files. */

/** Members of a file, in this order. Covers, folders and agent settings belong to the account and aren't in files. */
const MEMBERS = [
  "name",
  "description",
  "tags",
  "isTemplate",
  "hidden",
  "archived",
  "publicPlayground",
  "nodes",
  "edges",
  "viewport",
] as const;
/** Revisions of pulled and pushed files, stored beside them. */
const REVISIONS = ".nodeloom.json";
const ENDING = ".json";
const NOT_FOUND = 404;
const CHANGED = 412;

const fileText = (workflow: string): string => {
  const members = membersOf(workflow);
  const lines = MEMBERS.flatMap((name) => (members.has(name) ? [`  ${JSON.stringify(name)}: ${members.get(name)!}`] : []));
  return `{\n${lines.join(",\n")}\n}\n`;
};

type Revisions = Record<string, string>;

const readRevisions = async (folder: string): Promise<Revisions> => {
  try {
    return JSON.parse(await readFile(join(folder, REVISIONS), "utf8")) as Revisions;
  } catch {
    return {};
  }
};

const noteRevision = async (folder: string, slug: string, etag: string | null): Promise<void> => {
  const revisions = { ...(await readRevisions(folder)), ...(etag === null ? {} : { [slug]: etag }) };
  const sorted = Object.fromEntries(Object.entries(revisions).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(join(folder, REVISIONS), `${JSON.stringify(sorted, null, 2)}\n`);
};

const slugOf = (file: string): string => basename(file, ENDING);

/** @returns undefined if the workflow doesn't exist */
const remote = async (client: Client, slug: string) => {
  try {
    return await client.requestText("getWorkflow", { params: { slug } });
  } catch (error) {
    if (error instanceof NodeloomError && error.status === NOT_FOUND) return undefined;
    throw error;
  }
};

/** Writes workflows to `<slug>.json`. @param slugs all own workflows if empty */
export const pull = async (client: Client, slugs: readonly string[], folder: string, terminal: Terminal): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const chosenSlugs = slugs.length > 0 ? slugs : (await client.workflows.list()).map(({ slug }) => slug);
  for (const slug of chosenSlugs) {
    const workflow = await remote(client, slug);
    if (!workflow) throw new Refusal(`there is no workflow ${slug}`, EXIT.refused);
    const file = join(folder, `${slug}${ENDING}`);
    await writeFile(file, fileText(workflow.body));
    await noteRevision(folder, slug, workflow.headers.get("etag"));
    terminal.note(`pulled ${file}`);
  }
};

const readFileText = async (file: string): Promise<string> => {
  const text = (await readArgument(file)).toString("utf8");
  try {
    JSON.parse(text);
  } catch (error) {
    throw new Refusal(`${file} isn't valid JSON: ${(error as Error).message}`);
  }
  return text;
};

const pushOne = async (client: Client, file: string, isForced: boolean, terminal: Terminal): Promise<void> => {
  const [slug, folder, text] = [slugOf(file), dirname(file), await readFileText(file)];
  const revision = (await readRevisions(folder))[slug];
  const workflow = await remote(client, slug);
  if (!workflow) {
    const created = await client.requestText("createWorkflow", { text });
    const name = (JSON.parse(created.body) as { slug: string }).slug;
    if (name !== slug) terminal.note(`${file} became ${name}: rename the file to ${name}${ENDING}, so that it is found again`);
    await noteRevision(folder, name, created.headers.get("etag"));
    terminal.note(`created ${name}`);
    return;
  }
  if (!isForced && revision === undefined)
    throw new Refusal(`${slug} exists and was not pulled here: pull it first, or push with --force`, EXIT.refused);
  try {
    const ifMatch = isForced ? undefined : { "if-match": revision! };
    const { headers } = await client.requestText("updateWorkflow", { params: { slug }, text, headers: ifMatch });
    await noteRevision(folder, slug, headers.get("etag"));
    terminal.note(`pushed ${slug}`);
  } catch (error) {
    if (!(error instanceof NodeloomError) || error.status !== CHANGED) throw error;
    throw new Refusal(
      `${slug} has changed since it was pulled: compare with \`nodeloom workflows diff ${file}\`, or push with --force`,
      EXIT.refused,
    );
  }
};

/** Saves files as workflows with their names. A workflow that changed since it was pulled is skipped unless forced. */
export const push = async (client: Client, files: readonly string[], isForced: boolean, terminal: Terminal): Promise<void> => {
  for (const file of files) await pushOne(client, file, isForced, terminal);
};

/** Prints the members that differ between files and workflows. @returns true if any differ */
export const diff = async (client: Client, files: readonly string[], terminal: Terminal): Promise<boolean> => {
  const rows: { workflow: string; member: string; is: string }[] = [];
  for (const file of files) {
    const [here, remoteWorkflow] = [membersOf(await readFileText(file)), await remote(client, slugOf(file))];
    if (!remoteWorkflow) rows.push({ workflow: slugOf(file), member: "", is: "not saved" });
    const there = membersOf(remoteWorkflow?.body ?? "{}");
    for (const name of remoteWorkflow ? MEMBERS : []) {
      const [own, theirs] = [here.get(name), there.get(name)];
      if (own !== undefined && own !== theirs) rows.push({ workflow: slugOf(file), member: name, is: differenceOf(name, own, theirs) });
    }
  }
  if (rows.length > 0) terminal.table(rows, ["workflow", "member", "is"]);
  return rows.length > 0;
};

/** Ids that differ in a list of nodes or edges; for other members only a note that they differ. */
const differenceOf = (name: string, own: string, theirs = "null"): string => {
  if (name !== "nodes" && name !== "edges") return "changed";
  const byId = (text: string): Map<string, string> =>
    new Map((JSON.parse(text) as { id?: string }[] | null)?.map((item) => [String(item?.id), JSON.stringify(item)]) ?? []);
  const [here, there] = [byId(own), byId(theirs)];
  const ids = [...new Set([...here.keys(), ...there.keys()])].filter((id) => here.get(id) !== there.get(id));
  return ids.map((id) => (there.has(id) ? (here.has(id) ? `~${id}` : `-${id}`) : `+${id}`)).join(" ") || "written otherwise";
};
