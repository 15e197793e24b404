import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { CHART, environmentOf, values } from "./chart";
import { complaintsOf } from "./kubernetes";

/** Checks of the chart with external programs. Others are in agreement.test.ts. */

/** Helm is downloaded if it isn't in the cache. If that fails, its tests fail. */
let helm: string;
beforeAll(() => {
  helm = execFileSync(process.execPath, [join(CHART, "..", "helm.mjs")]).toString();
});

const sets = readdirSync(join(CHART, "ci"));
/** Helm arguments of each value set; empty for the defaults. */
const valueSets: [string, string[]][] = [
  ["values.yaml", []],
  ...sets.map((set): [string, string[]] => [set, ["--values", join(CHART, "ci", set)]]),
];

interface RenderedObject {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: {
    template: {
      spec: {
        securityContext: Record<string, unknown>;
        containers: {
          name: string;
          image: string;
          env: { name: string; value?: string }[];
          args: string[];
          securityContext: Record<string, unknown>;
        }[];
      };
    };
  };
}

const render = (...args: string[]): RenderedObject[] =>
  parseAllDocuments(execFileSync(helm, ["template", "nodeloom", CHART, "--namespace", "test", ...args]).toString())
    .map((document) => document.toJS() as RenderedObject | null)
    .filter((object) => object !== null);

describe("Helm", () => {
  it.each(valueSets)("accepts the values of %s without an error", (_set, args) => {
    const output = execFileSync(helm, ["lint", "--strict", CHART, ...args]).toString();
    expect(output).toContain("0 chart(s) failed");
    const names = render(...args).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(valueSets)("renders %s to objects that Kubernetes' schemas accept, without unknown members", (_set, args) => {
    expect(render(...args).flatMap(complaintsOf)).toEqual([]);
  });

  it("gives every process the environment that the agreement test checks", () => {
    const deployments = render().filter(({ kind }) => kind === "Deployment");
    const enabled = Object.entries(values.services).filter(([, { enabled }]) => enabled);
    expect(deployments.length).toBe(enabled.length);
    for (const { metadata, spec } of deployments) {
      const name = metadata.labels["app.kubernetes.io/component"]!;
      const [container] = spec.template.spec.containers;
      const variables = Object.fromEntries(container!.env.map((variable) => [variable.name, variable.value]));
      const expected = Object.entries(environmentOf(name)).filter(([, value]) => value !== "");
      expect(Object.keys(variables).sort()).toEqual(expected.map(([variable]) => variable).sort());
      for (const [variable, value] of expected)
        if (variables[variable] !== undefined) expect([variable, variables[variable]]).toEqual([variable, value]);
      expect(container!.args).toEqual([values.services[name]!.main]);
    }
  });

  const valuesOf = (set: string): string[] => ["--values", join(CHART, "ci", set)];
  const objectNamed = (objects: RenderedObject[], kind: string, name: string): RenderedObject =>
    objects.find((object) => object.kind === kind && object.metadata.name === name)!;

  it("applies a service's values to that service only", () => {
    const objects = render(...valuesOf("external-tls.yaml"));
    const account = { "eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/nodeloom" };
    expect(objectNamed(objects, "ServiceAccount", "nodeloom-gateway").metadata).toMatchObject({ annotations: account });
    const { template } = objectNamed(objects, "Deployment", "nodeloom-gateway").spec;
    expect(template).toMatchObject({ metadata: { annotations: { "linkerd.io/inject": "enabled" } } });
    const [gateway, sidecar] = template.spec.containers;
    expect(gateway!.env).toContainEqual({ name: "HTTPS_PROXY", value: "http://proxy.example.com:3128" });
    expect(sidecar!.name).toBe("logs");
    const identity = objectNamed(objects, "Deployment", "nodeloom-identity").spec.template;
    expect(identity.spec.containers.map(({ name }) => name)).toEqual(["identity"]);
    expect(identity).not.toHaveProperty("metadata.annotations");
  });

  it("places a service by its own setting instead of the setting for all pods", () => {
    const poolSets = ["pods.nodeSelector.pool=any", "services.sandbox.nodeSelector.pool=gpu"].flatMap((value) => ["--set", value]);
    const objects = render(...valuesOf("one-machine.yaml"), ...poolSets);
    expect(objectNamed(objects, "Deployment", "nodeloom-gateway").spec.template.spec).toMatchObject({ nodeSelector: { pool: "any" } });
    expect(objectNamed(objects, "Deployment", "nodeloom-sandbox").spec.template.spec).toMatchObject({ nodeSelector: { pool: "gpu" } });
  });

  it("pulls every image from the configured mirror", () => {
    const pods = render(...valuesOf("locked-down.yaml"), "--set", "backup.enabled=true", "--set", "backup.volumeClaim=copies");
    const images = JSON.stringify(pods).match(/"image":"[^"]+"/g)!;
    expect(images.length).toBeGreaterThan(10);
    expect(images.filter((image) => !image.startsWith('"image":"mirror.example.com:5000/'))).toEqual([]);
  });

  it("renders your own objects with the chart's values", () => {
    const secret = objectNamed(render(...valuesOf("locked-down.yaml")), "ExternalSecret", "nodeloom-session");
    expect(secret.spec).toMatchObject({ target: { name: values.secrets.session!.secret } });
  });

  it("tells executions how many replicas share the limits of providers", () => {
    const replicasIn = (...args: string[]): string | undefined => {
      const { containers } = objectNamed(render(...args), "Deployment", "nodeloom-executions").spec.template.spec;
      return containers[0]!.env.find(({ name }) => name === "EXECUTIONS_REPLICAS")?.value;
    };
    expect(replicasIn("--set", "services.executions.replicas=3")).toBe("3");
    expect(replicasIn("--set", "services.executions.autoscaling.enabled=true")).toBe(
      String(values.services.executions!.autoscaling!.maxReplicas),
    );
    expect(replicasIn("--set-string", "settings.executions.EXECUTIONS_REPLICAS=7")).toBe("7");
  });

  it("lets processes reach Sentinels where they have a port", () => {
    const egressOf = (...args: string[]): string =>
      JSON.stringify(objectNamed(render(...valuesOf("locked-down.yaml"), ...args), "NetworkPolicy", "nodeloom-gateway").spec);
    expect(egressOf()).not.toContain("26379");
    expect(egressOf("--set", "networkPolicy.redis.sentinelPort=26379")).toContain('[{"port":6379},{"port":26379}]');
  });

  it("alerts about the missing processes of enabled services only", () => {
    const missingIn = (...args: string[]): string[] => {
      const { spec } = objectNamed(render("--set", "prometheus.enabled=true", ...args), "PrometheusRule", "nodeloom");
      return [...JSON.stringify(spec).matchAll(/absent\(up\{component=\\"(\w+)\\"\}\)/g)].map(([, name]) => name!).sort();
    };
    const namesOf = (isIn: (enabled: boolean, name: string) => boolean): string[] =>
      Object.entries(values.services)
        .filter(([name, { enabled }]) => isIn(enabled, name))
        .map(([name]) => name)
        .sort();
    expect(missingIn()).toEqual(namesOf((enabled) => enabled));
    expect(missingIn(...valuesOf("nvidia.yaml"))).toEqual(namesOf((enabled, name) => enabled || name === "inference"));
  });

  it("scales by KEDA or by the autoscaler, never by both", () => {
    const kinds = render(...valuesOf("external-tls.yaml")).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(kinds).toContain("ScaledObject nodeloom-executions");
    expect(kinds).not.toContain("HorizontalPodAutoscaler nodeloom-executions");
  });

  it("renames the migration when its content changes, if no revision says so", () => {
    const nameWith = (tag: string): string => render("--set", `image.tag=${tag}`).find(({ kind }) => kind === "Job")!.metadata.name;
    expect(nameWith("1.0.0")).toBe(nameWith("1.0.0"));
    expect(nameWith("1.0.0")).not.toBe(nameWith("1.0.1"));
  });

  it.each([
    ["httpRoute.enabled=true", "httpRoute.parentRefs: name the Gateway"],
    ["backup.enabled=true", "backup.volumeClaim: name the PersistentVolumeClaim"],
    ["services.billing.sidecar=1", "sidecar"],
    ["services.media.replicas=2", "more than one needs a bucket"],
    ["services.media.autoscaling.enabled=true", "services.media: set replicas to 1"],
    ["services.inference.replicas=2", "services.inference: set replicas to 1"],
    ["services.inference.replicas=2,services.inference.data.scratch=true", "services.inference: set replicas to 1"],
    ["services.sandbox.replicas=2", "services.sandbox: set replicas to 1"],
    ["services.sandbox.autoscaling.enabled=true", "services.sandbox: set replicas to 1"],
    ["services.sandbox.enabled=true", "set settings.models.SANDBOX_URL to http://nodeloom-sandbox:8090"],
    ["services.inference.enabled=true", "set settings.models.INFERENCE_URL to http://nodeloom-inference:8091"],
    [
      "services.inference.enabled=true,settings.models.INFERENCE_URL=http://nodeloom-inference:8091",
      "add nodeloom-inference:8091 to settings.egress.PROVIDER_EGRESS_ALLOW",
    ],
    ["settings.public.PUBLIC_BASE_URL=http://example.com", "browsers keep no session without https"],
    ["services.billing.enabled=false", "which is not enabled"],
    ["settings.process.LOG_LEVEL=loud", "LOG_LEVEL"],
    ["services.billing.listens.BILLING_LISTEN=70000", "BILLING_LISTEN"],
    ["services.billing.replica=2", "replica"],
  ])("rejects %s, and gives the reason", (value, reason) => {
    let errorText = "";
    try {
      execFileSync(helm, ["template", "nodeloom", CHART, "--set", value], { stdio: "pipe" });
    } catch (error) {
      errorText = String((error as { stderr: Buffer }).stderr);
    }
    expect(errorText).toContain(reason);
  });
});

describe("Kubernetes' schemas", () => {
  const port = { name: "grpc", port: 50051, targetPort: "grpc" };
  const service = { apiVersion: "v1", kind: "Service", metadata: { name: "billing" }, spec: { ports: [port] } };

  it("accept valid objects", () => {
    expect(complaintsOf(service)).toEqual([]);
  });

  it.each([
    ["a member that there is not", { ...service, spec: { ports: [port], clusterIp: "None" } }, "clusterIp"],
    ["a wrong type", { ...service, spec: { ports: [{ ...port, port: "50051" }] } }, "/spec/ports/0/port"],
    ["a missing member", { ...service, spec: { ports: [{ name: "grpc" }] } }, "port"],
    ["a kind that nobody checks", { ...service, kind: "Daemon" }, "without a schema"],
  ])("reject %s", (_what, object, complaint) => {
    expect(complaintsOf(object).join()).toContain(complaint);
  });
});

it("has a value set for each way of deployment", () => {
  expect(sets.sort()).toEqual(["external-tls.yaml", "locked-down.yaml", "nvidia.yaml", "one-machine.yaml", "three-replicas.yaml"]);
  for (const set of sets) expect(readFileSync(join(CHART, "ci", set), "utf8")).toMatch(/^# /);
});
