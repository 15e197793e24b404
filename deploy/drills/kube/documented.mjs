import { copyFile, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "../../local/paths.mjs";
import { runToEnd } from "../../local/run/to-end.mjs";
import { createRollout } from "./rollout.mjs";

/** The page whose commands run in order. */
const PAGE = join(ROOT, "docs", "operations", "kubernetes.md");
const VALUES = join(ROOT, "deploy", "helm", "nodeloom", "ci", "three-replicas.yaml");
/** Code blocks, and inline commands with a namespace. */
const COMMANDS = /^ *```sh drill\n([^]*?)^ *```$|`(kubectl (?:-n|create namespace) [^`\n]+)`/gm;
const NAMESPACE = "nodeloom";
/** kubectl marks restarts with a time in seconds, and rejects a second one in the same second. */
const RESTART_MARK_MS = 1_000;

/**
 * @param {import("./cluster.mjs").Cluster} cluster
 * @param {{ kubectl: string, helm: string }} tools
 * @returns {Promise<string>} throws if a command fails
 */
export const runDocumented = async (cluster, { kubectl, helm }) => {
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-commands-"));
  const PATH = [dirname(kubectl), dirname(helm), process.env.PATH].join(":");
  const env = { ...process.env, PATH, KUBECONFIG: cluster.kubeconfig };
  const commands = [...(await readFile(PAGE, "utf8")).matchAll(COMMANDS)].map(([, block, line]) => block ?? line ?? "");
  try {
    await symlink(join(ROOT, "deploy"), join(folder, "deploy"));
    await copyFile(VALUES, join(folder, "my-values.yaml"));
    for (const command of commands) {
      if (command.includes("rollout restart")) await delay(RESTART_MARK_MS);
      const { code, output } = await runToEnd("bash", ["-euo", "pipefail", "-c", command], { cwd: folder, env });
      if (code !== 0 || /would violate/.test(output)) throw new Error(`${command}\nexits with ${code}:\n${output}`);
    }
    await createRollout(cluster, NAMESPACE).settled();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return `${commands.length} commands and blocks of kubernetes.md`;
};
