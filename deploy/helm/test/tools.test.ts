import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { CHART, environmentOf, values } from "./chart";
import { complaintsOf } from "./kubernetes";

/** Checks of the chart by programs. Checks without one are in agreement.test.ts. */

/** Helm is fetched when the cache has none. If that fails, so does every test that needs it. */
let helm: string;
beforeAll(() => {
  helm = execFileSync(process.execPath, [join(CHART, "..", "helm.mjs")]).toString();
});

const sets = readdirSync(join(CHART, "ci"));
/** Arguments that give Helm a set of values; none for the chart's own. */
const given: [string, string[]][] = [
  ["values.yaml", []],
  ...sets.map((set): [string, string[]] => [set, ["--values", join(CHART, "ci", set)]]),
];

interface Rendered {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: {
    template: {
      spec: {
        securityContext: Record<string, unknown>;
        containers: { env: { name: string; value?: string }[]; args: string[]; securityContext: Record<string, unknown> }[];
      };
    };
  };
}

const render = (...args: string[]): Rendered[] =>
  parseAllDocuments(execFileSync(helm, ["template", "nodeloom", CHART, "--namespace", "test", ...args]).toString())
    .map((document) => document.toJS() as Rendered | null)
    .filter((object) => object !== null);

describe("Helm", () => {
  it.each(given)("takes the values of %s without a complaint", (_set, args) => {
    const output = execFileSync(helm, ["lint", "--strict", CHART, ...args]).toString();
    expect(output).toContain("0 chart(s) failed");
    const names = render(...args).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(given)("renders %s to what Kubernetes' schemas take, without unknown members", (_set, args) => {
    expect(render(...args).flatMap(complaintsOf)).toEqual([]);
  });

  it("gives every process the environment that the agreement was checked with", () => {
    const deployments = render().filter(({ kind }) => kind === "Deployment");
    const enabled = Object.entries(values.services).filter(([, { enabled }]) => enabled);
    expect(deployments.length).toBe(enabled.length);
    for (const { metadata, spec } of deployments) {
      const name = metadata.labels["app.kubernetes.io/component"]!;
      const [container] = spec.template.spec.containers;
      const given = Object.fromEntries(container!.env.map((variable) => [variable.name, variable.value]));
      const expected = Object.entries(environmentOf(name)).filter(([, value]) => value !== "");
      expect(Object.keys(given).sort()).toEqual(expected.map(([variable]) => variable).sort());
      for (const [variable, value] of expected)
        if (given[variable] !== undefined) expect([variable, given[variable]]).toEqual([variable, value]);
      expect(container!.args).toEqual([values.services[name]!.main]);
    }
  });

  it.each([
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
  ])("refuses %s, and says why", (value, reason) => {
    let said = "";
    try {
      execFileSync(helm, ["template", "nodeloom", CHART, "--set", value], { stdio: "pipe" });
    } catch (error) {
      said = String((error as { stderr: Buffer }).stderr);
    }
    expect(said).toContain(reason);
  });
});

describe("Kubernetes' schemas", () => {
  const port = { name: "grpc", port: 50051, targetPort: "grpc" };
  const service = { apiVersion: "v1", kind: "Service", metadata: { name: "billing" }, spec: { ports: [port] } };

  it("take what is right", () => {
    expect(complaintsOf(service)).toEqual([]);
  });

  it.each([
    ["a member that there is not", { ...service, spec: { ports: [port], clusterIp: "None" } }, "clusterIp"],
    ["a wrong type", { ...service, spec: { ports: [{ ...port, port: "50051" }] } }, "/spec/ports/0/port"],
    ["a missing member", { ...service, spec: { ports: [{ name: "grpc" }] } }, "port"],
    ["a kind that nobody checks", { ...service, kind: "Daemon" }, "without a schema"],
  ])("complain of %s", (_what, object, complaint) => {
    expect(complaintsOf(object).join()).toContain(complaint);
  });
});

it("has a value set for each way of running it", () => {
  expect(sets.sort()).toEqual(["external-tls.yaml", "locked-down.yaml", "one-machine.yaml", "three-replicas.yaml"]);
  for (const set of sets) expect(readFileSync(join(CHART, "ci", set), "utf8")).toMatch(/^# /);
});
