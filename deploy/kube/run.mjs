import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createProgress } from "../local/run/progress.mjs";
import { runToEnd } from "../local/run/to-end.mjs";
import { startCluster } from "./cluster.mjs";
import { kubernetesTools } from "./tools.mjs";

/**
 * `npm run kube`: the Helm chart against a real Kubernetes API server, which enforces the pod security standard `restricted`. Each
 * value set of the chart's folder ci/ is installed, upgraded, rolled back and uninstalled; no warning may come, and every pod that
 * a Deployment would make must be taken.
 */

const CHART = fileURLToPath(new URL("../helm/nodeloom", import.meta.url));
/** Kinds that others bring to a cluster; here any object of theirs is taken. */
const FOREIGN_KINDS = [
  { group: "cert-manager.io", kind: "Certificate", plural: "certificates" },
  { group: "monitoring.coreos.com", kind: "ServiceMonitor", plural: "servicemonitors" },
  { group: "monitoring.coreos.com", kind: "PrometheusRule", plural: "prometheusrules" },
];
const ENFORCED = ["enforce", "warn", "audit"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "restricted"]);
/** Nothing carries out the job of a hook here, and Helm would wait for it. An installation's job is an ordinary one. */
const NO_HOOKS = "--no-hooks";
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
      await new Promise((resolve) => setTimeout(resolve, READY_PAUSE_MS));
    }
  }
};

/** @param {string} output */
const warningsIn = (output) => output.split("\n").filter((line) => /warning|would violate|deprecated/i.test(line));

/** Makes the pod of each Deployment and Job, as its controller would. @param {Cluster} cluster @param {string} namespace */
const checkPods = async (cluster, namespace) => {
  const { body } = await cluster.must("GET", `/apis/apps/v1/namespaces/${namespace}/deployments`);
  const { body: jobs } = await cluster.must("GET", `/apis/batch/v1/namespaces/${namespace}/jobs`);
  for (const { metadata, spec } of [...body.items, ...jobs.items]) {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...spec.template.metadata, generateName: `${metadata.name}-` },
      spec: spec.template.spec,
    };
    const { warnings } = await cluster.must("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
    if (warnings.length > 0) throw new Error(`the pods of ${metadata.name}: ${warnings.join("; ")}`);
  }
  return body.items.length;
};

/** The API server must refuse what the standard forbids, or its consent says nothing. @param {Cluster} cluster @param {string} namespace */
const checkEnforcement = async (cluster, namespace) => {
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "root" }, spec: { containers: [{ name: "root", image: "any" }] } };
  const { status } = await cluster.call("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
  if (status !== 403) throw new Error(`pod security is not enforced: a pod that breaks it is answered ${status}`);
};

/** @param {Cluster} cluster @param {string} helm @param {string} file */
const tryValues = async (cluster, helm, file) => {
  const namespace = basename(file, ".yaml");
  await cluster.must("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespace, labels: Object.fromEntries(ENFORCED) },
  });
  await cluster.call("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "default" },
  });
  await checkEnforcement(cluster, namespace);
  /** @param {string[]} args */
  const run = async (...args) => {
    const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
    const { code, output } = await runToEnd(helm, [...args, "--namespace", namespace], { cwd: CHART, env });
    if (code !== 0) throw new Error(`helm ${args.join(" ")} exits with ${code}:\n${output}`);
    const warnings = warningsIn(output);
    if (warnings.length > 0) throw new Error(`helm ${args[0]} warns:\n${warnings.join("\n")}`);
  };
  const values = ["--values", file];
  await run("install", "nodeloom", CHART, ...values);
  const pods = await checkPods(cluster, namespace);
  await run(
    "upgrade",
    "nodeloom",
    CHART,
    NO_HOOKS,
    ...values,
    "--set",
    "settings.process.LOG_LEVEL=debug,services.billing.replicas=4,image.tag=next",
  );
  await checkPods(cluster, namespace);
  await run("rollback", "nodeloom", "1", NO_HOOKS);
  await checkPods(cluster, namespace);
  await run("uninstall", "nodeloom");
  return `installed, upgraded, rolled back; ${pods} deployments, no warning`;
};

const progress = createProgress();
/** @type {Cluster | undefined} */
let cluster;
try {
  const tools = await kubernetesTools(progress.line);
  const files = (await readdir(join(CHART, "ci"))).sort().map((name) => join(CHART, "ci", name));
  await progress.step("API server", async () => {
    cluster = await startCluster(tools);
    const { body } = await cluster.must("GET", "/version");
    await defineForeignKinds(cluster);
    return `${body.gitVersion}`;
  });
  const started = /** @type {Cluster} */ (/** @type {unknown} */ (cluster));
  for (const file of files) await progress.step(basename(file, ".yaml"), () => tryValues(started, tools.helm, file));
} catch (error) {
  progress.fail(error);
  process.exitCode = 1;
} finally {
  await cluster?.stop();
}
