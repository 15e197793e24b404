import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createProgress } from "../../local/run/progress.mjs";
import { runToEnd } from "../../local/run/to-end.mjs";
import { startCluster } from "./cluster.mjs";
import { runDocumented } from "./documented.mjs";
import { startNodes, ZONES } from "./nodes.mjs";
import { createRollout } from "./rollout.mjs";
import { kubernetesTools } from "./tools.mjs";

export const DRILL = { sentence: "installs, upgrades and rolls back the Helm chart on a real Kubernetes API server", minutes: 4 };

/**
 * `npm run drill kube`: installs the Helm chart on a real Kubernetes API server that enforces the pod security standard `restricted`, with
 * its controllers, its scheduler and nodes simulated by kwok. Each value set in the chart's folder ci/ is installed, upgraded, rolled back
 * and uninstalled, including hooks. No warning may appear, and every pod must run, in all zones, without gaps. The commands of
 * docs/operations/kubernetes.md run first. `npm run drill -- kube one-machine` uses one value set.
 */

const CHART = fileURLToPath(new URL("../../helm/nodeloom", import.meta.url));
/** Kinds that other software defines; the server accepts any object of them. */
const FOREIGN_KINDS = [
  { group: "cert-manager.io", kind: "Certificate", plural: "certificates" },
  { group: "monitoring.coreos.com", kind: "ServiceMonitor", plural: "servicemonitors" },
  { group: "monitoring.coreos.com", kind: "PrometheusRule", plural: "prometheusrules" },
];
/** Values that change in later revisions. */
const SECOND = "settings.process.LOG_LEVEL=debug,services.billing.replicas=4,image.tag=next";
const THIRD = "pods.annotations.release=third";
const ENFORCED = ["enforce", "warn", "audit"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "restricted"]);
const READY_TRIES = 100;
const READY_PAUSE_MS = 100;

/** @typedef {import("./cluster.mjs").Cluster} Cluster */

/** @param {Cluster} cluster */
const defineForeignKinds = async (cluster) => {
  for (const { group, kind, plural } of FOREIGN_KINDS) {
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await cluster.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: "Namespaced", names: { kind, plural }, versions: [{ name: "v1", served: true, storage: true, schema }] },
    });
    for (let tries = 0; tries < READY_TRIES; tries += 1) {
      if ((await cluster.call("GET", `/apis/${group}/v1/${plural}`)).status === 200) break;
      await delay(READY_PAUSE_MS);
    }
  }
};

/** @param {string} output */
const warningsIn = (output) => output.split("\n").filter((line) => /warning|would violate|deprecated/i.test(line));

/**
 * Waits for the account that a controller creates in every namespace, because pods need it. @param {Cluster} cluster @param {string}
 * namespace
 */
const accountIn = async (cluster, namespace) => {
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    if ((await cluster.call("GET", `/api/v1/namespaces/${namespace}/serviceaccounts/default`)).status === 200) return;
    await delay(READY_PAUSE_MS);
  }
  throw new Error(`namespace ${namespace} got no service account`);
};

/**
 * The API server must reject pods that the standard forbids; otherwise its acceptance proves nothing.
 * @param {Cluster} cluster @param {string} namespace
 */
const checkEnforcement = async (cluster, namespace) => {
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "root" }, spec: { containers: [{ name: "root", image: "any" }] } };
  const { status } = await cluster.call("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
  if (status !== 403) throw new Error(`pod security is not enforced: a pod that breaks it is answered ${status}`);
};

/** @param {Cluster} cluster @param {string} namespace */
const prepareNamespace = async (cluster, namespace) => {
  await cluster.must("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace, labels: Object.fromEntries(ENFORCED) },
  });
  await accountIn(cluster, namespace);
  await checkEnforcement(cluster, namespace);
};

/** @param {Cluster} cluster @param {string} helm @param {string} file */
const tryValues = async (cluster, helm, file) => {
  const namespace = basename(file, ".yaml");
  await prepareNamespace(cluster, namespace);
  /** @param {string[]} args */
  const run = async (...args) => {
    const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
    const { code, output } = await runToEnd(helm, [...args, "--namespace", namespace], { cwd: CHART, env });
    if (code !== 0) throw new Error(`helm ${args.join(" ")} exits with ${code}:\n${output}`);
    const warnings = warningsIn(output);
    if (warnings.length > 0) throw new Error(`helm ${args[0]} warns:\n${warnings.join("\n")}`);
  };
  const rollout = createRollout(cluster, namespace);
  /** Makes a change, which must complete after one Job. @param {string} job @param {string[]} args */
  const change = async (job, ...args) => {
    const changes = await rollout.changing(() => run(...args));
    if (!changes.some((one) => one.startsWith(`${job}-`)))
      throw new Error(`helm ${args[0]}: ${job} was not seen, only ${changes.join(", ")}`);
  };
  const look = async () => {
    await rollout.checkEndpoints();
    await rollout.checkSpread(ZONES.length);
  };
  const chart = ["nodeloom", CHART, "--values", file];
  await change("nodeloom-migrate-1", "install", ...chart);
  await look();
  const budgets = await rollout.checkBudgets();
  await change("nodeloom-migrate-2", "upgrade", ...chart, "--set", SECOND);
  await look();
  await change("nodeloom-migrate-3", "upgrade", ...chart, "--set", THIRD);
  await change("nodeloom-migrate-2", "rollback", "nodeloom", "2");
  await change("nodeloom-migrate-1", "rollback", "nodeloom", "1");
  await look();
  const pods = (await rollout.deployments()).reduce((sum, { replicas }) => sum + replicas, 0);
  await run("uninstall", "nodeloom");
  const volumes = await rollout.gone();
  return `installed, upgraded, rolled back; ${pods} pods, ${budgets} budgets, ${volumes} volumes kept; no warning`;
};

const progress = createProgress();
/** @type {Cluster | undefined} */
let cluster;
let stopNodes = async () => {};
try {
  const tools = await kubernetesTools(progress.line);
  const names = process.argv.slice(2);
  const all = (await readdir(join(CHART, "ci"))).sort();
  const files = all.filter((name) => names.length === 0 || names.includes(basename(name, ".yaml"))).map((name) => join(CHART, "ci", name));
  await progress.step("API server", async () => {
    cluster = await startCluster(tools);
    const { body } = await cluster.must("GET", "/version");
    await defineForeignKinds(cluster);
    return `${body.gitVersion}`;
  });
  const started = /** @type {Cluster} */ (/** @type {unknown} */ (cluster));
  await progress.step("nodes", async () => {
    stopNodes = await startNodes(started, tools);
    return `${ZONES.length}, each in a zone of its own`;
  });
  await progress.step("commands", () => runDocumented(started, tools));
  for (const file of files) await progress.step(basename(file, ".yaml"), () => tryValues(started, tools.helm, file));
} catch (error) {
  progress.fail(error);
  process.exitCode = 1;
} finally {
  await stopNodes();
  await cluster?.stop();
}
