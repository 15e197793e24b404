import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020";

/** Kubernetes's schemas of the kinds in the chart, written by `node deploy/helm/kubernetes-schemas.mjs`. */
interface Schemas {
  version: string;
  kinds: Record<string, object>;
  $defs: Record<string, object>;
}
const schemas = JSON.parse(gunzipSync(readFileSync(join(__dirname, "kubernetes.json.gz"))).toString()) as Schemas;

/** Kinds of other software, without schemas here. */
const FOREIGN = new Set([
  "cert-manager.io/v1 Certificate",
  "monitoring.coreos.com/v1 ServiceMonitor",
  "monitoring.coreos.com/v1 PrometheusRule",
  "gateway.networking.k8s.io/v1 HTTPRoute",
  "keda.sh/v1alpha1 ScaledObject",
  "keda.sh/v1alpha1 TriggerAuthentication",
  "external-secrets.io/v1 ExternalSecret",
]);

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
const compiled = new Map<string, ValidateFunction>();
const validatorOf = (kind: string): ValidateFunction => {
  const validator = compiled.get(kind) ?? ajv.compile({ ...schemas.kinds[kind], $defs: schemas.$defs });
  compiled.set(kind, validator);
  return validator;
};

/** Violations of an object's schema, including unknown members; empty for kinds of other software. */
export const complaintsOf = (object: unknown): string[] => {
  const { apiVersion, kind, metadata } = object as { apiVersion: string; kind: string; metadata?: { name?: string } };
  const name = `${apiVersion} ${kind}`;
  if (FOREIGN.has(name)) return [];
  if (schemas.kinds[name] === undefined) return [`${name} is a kind without a schema here: add it to deploy/helm/kubernetes-schemas.mjs`];
  const validate = validatorOf(name);
  if (validate(object)) return [];
  return validate.errors!.map(
    ({ instancePath, message, params }) => `${kind} ${metadata?.name}: ${instancePath} ${message} ${JSON.stringify(params)}`,
  );
};
