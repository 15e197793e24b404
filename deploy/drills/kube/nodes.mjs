import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startChild } from "../../local/run/child.mjs";

/**
 * Creates pods from objects, with Kubernetes's own controllers and scheduler, and nodes in three zones that kwok simulates. A pod on these
 * nodes counts as running, and a Job's pod as done, without a container.
 */

export const ZONES = ["a", "b", "c"];
const STAGES = fileURLToPath(new URL("stages.yaml", import.meta.url));
const READY_MS = 120_000;
const LOOK_MS = 250;
const CAPACITY = { cpu: "32", memory: "128Gi", pods: "110" };
/** One node has an NVIDIA GPU, with the label and the runtime class of NVIDIA's operator. */
const GPU_ZONE = "c";
const GPU_CAPACITY = { ...CAPACITY, "nvidia.com/gpu": "1" };
const RUNTIME_CLASS = { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name: "nvidia" }, handler: "nvidia" };
const FAKE = "kwok.x-k8s.io/node";

/** @typedef {import("./cluster.mjs").Cluster} Cluster */

/** @param {string} zone */
const nodeIn = (zone) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: {
    name: `node-${zone}`,
    annotations: { [FAKE]: "fake" },
    labels: {
      ...{ "kubernetes.io/hostname": `node-${zone}`, "kubernetes.io/os": "linux", "topology.kubernetes.io/zone": zone },
      ...(zone === GPU_ZONE ? { "nvidia.com/gpu.present": "true" } : {}),
    },
  },
  status: zone === GPU_ZONE ? { capacity: GPU_CAPACITY, allocatable: GPU_CAPACITY } : { capacity: CAPACITY, allocatable: CAPACITY },
});

/** A volume for claims; it stays empty. @param {number} number */
const volume = (number) => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: `volume-${number}` },
  spec: { capacity: { storage: "100Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/nowhere" } },
});
const VOLUMES = 4;

/** @param {Cluster} cluster */
const readyNodes = async (cluster) => {
  const { body } = await cluster.must("GET", "/api/v1/nodes");
  const isReady = (/** @type {any} */ { status, spec }) =>
    status.conditions?.some((/** @type {any} */ one) => one.type === "Ready" && one.status === "True") && !spec.taints?.length;
  return body.items.filter(isReady).length;
};

/**
 * @param {Cluster} cluster
 * @param {{ controllerManager: string, scheduler: string, kwok: string }} programs
 * @returns {Promise<() => Promise<void>>} stops the processes
 */
export const startNodes = async (cluster, { controllerManager, scheduler, kwok }) => {
  const client = ["--kubeconfig", cluster.kubeconfig];
  const alone = ["--leader-elect=false", "--secure-port=0"];
  const keys = [`--service-account-private-key-file=${cluster.keys.accounts}`, `--root-ca-file=${cluster.keys.authority}`];
  const scaling = "--horizontal-pod-autoscaler-sync-period=2s";
  const keeping = [
    "--config",
    STAGES,
    `--manage-nodes-with-annotation-selector=${FAKE}=fake`,
    "--node-lease-duration-seconds=40",
    "--node-port=0",
  ];
  /** @type {import("../../local/run/child.mjs").Child[]} */
  const children = [];
  const stop = async () => {
    await Promise.all(children.map((child) => child.stop()));
  };
  try {
    children.push(await startChild({ command: controllerManager, args: [...client, ...alone, ...keys, scaling] }));
    children.push(await startChild({ command: scheduler, args: [...client, ...alone] }));
    children.push(await startChild({ command: kwok, args: [...client, ...keeping] }));
    await cluster.must("POST", "/apis/node.k8s.io/v1/runtimeclasses", RUNTIME_CLASS);
    for (const zone of ZONES) await cluster.must("POST", "/api/v1/nodes", nodeIn(zone));
    for (let number = 1; number <= VOLUMES; number += 1) await cluster.must("POST", "/api/v1/persistentvolumes", volume(number));
    for (const end = Date.now() + READY_MS; (await readyNodes(cluster)) < ZONES.length; await delay(LOOK_MS)) {
      const endedChild = children.find((child) => child.process.exitCode !== null);
      if (endedChild === undefined && Date.now() < end) continue;
      throw new Error(`no nodes became ready:\n${(endedChild ?? children.at(-1))?.tail()}`);
    }
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
};
