/**
 * Every service: its ports by variable, the services it calls, and whether it has a database. Written by `npm run generate` from
 * deploy/services.cjs.
 */
export const SERVICES = {
  gateway: {
    listens: { GATEWAY_LISTEN: 8080, ADMIN_LISTEN: 8082 },
    calls: ["identity", "workflows", "models", "billing", "usage", "executions", "triggers", "media", "notifications"],
    database: false,
  },
  identity: { listens: { IDENTITY_LISTEN: 50051 }, calls: [], database: true },
  workflows: { listens: { WORKFLOWS_LISTEN: 50052 }, calls: ["media"], database: true },
  models: { listens: { MODELS_LISTEN: 50053 }, calls: ["identity"], database: true },
  billing: { listens: { BILLING_LISTEN: 50054 }, calls: [], database: true },
  usage: { listens: { USAGE_LISTEN: 50055 }, calls: [], database: true },
  executions: {
    listens: { EXECUTIONS_LISTEN: 50056 },
    calls: ["identity", "workflows", "models", "billing", "usage", "media", "transform", "triggers", "notifications"],
    database: true,
  },
  triggers: { listens: { TRIGGERS_LISTEN: 50060 }, calls: ["identity", "workflows", "executions"], database: true },
  media: { listens: { MEDIA_LISTEN: 50057, MEDIA_HTTP_LISTEN: 8081 }, calls: ["workflows", "transform"], database: true },
  notifications: { listens: { NOTIFICATIONS_LISTEN: 50059 }, calls: ["identity", "billing", "executions"], database: true },
  transform: { listens: { TRANSFORM_LISTEN: 50058 }, calls: ["media"], database: false },
  sandbox: { listens: { SANDBOX_LISTEN: 8090 }, calls: [], database: false },
  inference: { listens: { INFERENCE_LISTEN: 8091 }, calls: [], database: false },
} as const satisfies Record<string, ServiceRow>;

interface ServiceRow {
  listens: Readonly<Record<string, number>>;
  calls: readonly string[];
  database: boolean;
}
