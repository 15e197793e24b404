import { setTimeout as delay } from "node:timers/promises";

/**
 * Checks how controllers, a scheduler and nodes carry out a release.
 * @typedef {import("./cluster.mjs").Cluster} Cluster
 * @typedef {{ name: string, component: string, replicas: number, available: number, generation: number, rolls: boolean, isDone: boolean }}
 *   Deployment
 */

const SETTLE_MS = 120_000;
const LOOK_MS = 200;
const MOST_SHOWN = 5;
const CREATED = 201;
const TOO_MANY = 429;

/** @param {any} deployment @returns {Deployment} */
const readDeployment = ({ metadata, spec, status }) => {
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const counts = [replicas, updatedReplicas, availableReplicas];
  return {
    name: metadata.name,
    component: spec.selector.matchLabels["app.kubernetes.io/component"],
    replicas: spec.replicas,
    available: availableReplicas,
    generation: metadata.generation,
    rolls: spec.strategy.type === "RollingUpdate",
    isDone: observedGeneration === metadata.generation && counts.every((count) => count === spec.replicas),
  };
};

/** @param {Cluster} cluster @param {string} namespace */
export const createRollout = (cluster, namespace) => {
  /** @param {string} group `apps/v1`, or `v1` @param {string} kinds */
  const list = async (group, kinds) => {
    const { body } = await cluster.must("GET", `/${group === "v1" ? "api" : "apis"}/${group}/namespaces/${namespace}/${kinds}`);
    return /** @type {any[]} */ (body.items);
  };
  const deployments = async () => (await list("apps/v1", "deployments")).map(readDeployment);
  const jobs = () => list("batch/v1", "jobs");
  const podsOf = async (/** @type {string} */ component) => {
    const pods = await list("v1", "pods");
    return pods.filter(({ metadata }) => metadata.labels["app.kubernetes.io/component"] === component && !metadata.deletionTimestamp);
  };

  /** @param {() => Promise<string[]>} missing conditions that aren't met yet */
  const until = async (missing) => {
    for (const end = Date.now() + SETTLE_MS; ; await delay(LOOK_MS)) {
      const missingPods = await missing();
      if (missingPods.length === 0) return;
      if (Date.now() < end) continue;
      const warnings = (await list("v1", "events")).filter(({ type }) => type === "Warning").map(({ message }) => message);
      throw new Error([...missingPods.slice(0, MOST_SHOWN), ...[...new Set(warnings)].slice(-MOST_SHOWN)].join("\n"));
    }
  };

  /** Resolves when all wanted pods and no others run, and every Job is done. */
  const settled = () =>
    until(async () => {
      const scaled = new Map(
        (await list("autoscaling/v2", "horizontalpodautoscalers")).map(({ spec }) => [spec.scaleTargetRef.name, spec.minReplicas]),
      );
      const open = (await deployments()).filter((one) => !one.isDone || one.replicas < (scaled.get(one.name) ?? 0));
      const running = (await jobs()).filter(({ status }) => !status.succeeded);
      return [
        ...open.map(({ name, available, replicas }) => `${name}: ${available} of ${replicas}`),
        ...running.map(({ metadata }) => metadata.name),
      ];
    });

  /**
   * Watches the release during `change`. No rolling Deployment may have fewer available pods than both its old and new count, and nothing
   * may change before the change's Job is done.
   * @param {() => Promise<void>} change @returns {Promise<string[]>} names of the Jobs that ran
   */
  const changing = async (change) => {
    const before = new Map((await deployments()).map((one) => [one.name, one]));
    /** @type {Map<string, number>} */
    const least = new Map();
    /** @type {Set<string>} */
    const podNames = new Set();
    /** @type {string[]} */
    const early = [];
    let isOver = false;
    const look = async () => {
      const running = await jobs();
      const now = await deployments();
      for (const { name, available } of now) least.set(name, Math.min(available, least.get(name) ?? available));
      for (const { metadata } of running) podNames.add(metadata.name);
      const hooks = running.filter(({ metadata, status }) => metadata.annotations?.["helm.sh/hook"] && !status.succeeded);
      if (hooks.length > 0) early.push(...now.filter((one) => one.generation !== before.get(one.name)?.generation).map(({ name }) => name));
    };
    const looking = (async () => {
      for (; !isOver; await delay(LOOK_MS / 4)) await look();
    })();
    try {
      await change();
      await settled();
    } finally {
      isOver = true;
      await looking;
    }
    if (early.length > 0) throw new Error(`${early[0]} is changed before its migration is done`);
    for (const { name, replicas, rolls } of await deployments()) {
      const minimum = Math.min(replicas, before.get(name)?.replicas ?? 0);
      if (rolls && (least.get(name) ?? 0) < minimum) throw new Error(`${name} had ${least.get(name)} of ${minimum} pods available`);
    }
    return [...podNames];
  };

  /** Every service must select all of its pods and no others. */
  const checkEndpoints = () =>
    until(async () => {
      const slices = await list("discovery.k8s.io/v1", "endpointslices");
      const wrong = (await deployments()).filter(({ name, replicas }) => {
        const own = slices.filter(({ metadata }) => metadata.labels["kubernetes.io/service-name"] === name);
        return own.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions.ready).length !== replicas;
      });
      return wrong.map(({ name }) => `endpoints of ${name}`);
    });

  /**
   * Replicas must cover every zone.
   * @param {number} zones
   */
  const checkSpread = async (zones) => {
    for (const { name, component, replicas } of await deployments()) {
      const nodes = new Set((await podsOf(component)).map(({ spec }) => spec.nodeName));
      if (nodes.size < Math.min(replicas, zones)) throw new Error(`the ${replicas} pods of ${name} run in ${nodes.size} zones`);
    }
  };

  /** Checks that replicas can be evicted one at a time. @returns {Promise<number>} number of budgets */
  const checkBudgets = async () => {
    const budgets = await list("policy/v1", "poddisruptionbudgets");
    const several = (await deployments()).filter(({ replicas }) => replicas > 1);
    if (budgets.length !== several.length)
      throw new Error(`${budgets.length} budgets for ${several.length} deployments of several replicas`);
    await until(async () =>
      (await list("policy/v1", "poddisruptionbudgets"))
        .filter(({ status }) => status?.disruptionsAllowed !== 1)
        .map(({ metadata }) => `budget of ${metadata.name}`),
    );
    for (const { name, component, replicas } of several) {
      const pods = await podsOf(component);
      const evict = async (/** @type {any} */ { metadata }) => {
        const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: metadata.name, namespace } };
        return (await cluster.call("POST", `/api/v1/namespaces/${namespace}/pods/${metadata.name}/eviction`, eviction)).status;
      };
      const answers = [];
      for (const pod of pods) answers.push(await evict(pod));
      if (answers[0] !== CREATED || answers.slice(1).some((status) => status !== TOO_MANY))
        throw new Error(`evictions of ${name} are answered ${answers.join(", ")}`);
      const evicted = pods[0].metadata.name;
      await until(async () =>
        (await podsOf(component)).filter(({ metadata }) => metadata.name !== evicted).length === replicas ? [] : [evicted],
      );
    }
    await settled();
    return budgets.length;
  };

  /** Waits until nothing runs and only user data is left. @returns {Promise<number>} number of volumes left */
  const goneVolumes = async () => {
    await until(async () => (await list("v1", "pods")).map(({ metadata }) => metadata.name));
    return (await list("v1", "persistentvolumeclaims")).length;
  };

  return { settled, changing, checkEndpoints, checkSpread, checkBudgets, gone: goneVolumes, deployments };
};
