import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { forAdmins } from "./shared";

export const adminTemporalRoutes = [
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/temporal",
    operationId: "adminGetTemporal",
    summary: "Get the address of Temporal's UI for administrators",
    description: "A run that makes calls has the workflow `<url>/namespaces/<namespace>/workflows/<executionId>`; other runs have none.",
    responses: {
      200: z
        .object({ url: z.url().nullable().meta({ description: "Null if it isn't served" }), namespace: z.string() })
        .meta({ id: "TemporalUi" }),
    },
    handler: ({ gateway: { temporalUi } }) => {
      const body = temporalUi ?? { url: null, namespace: "default" };
      return Promise.resolve({ status: 200, body });
    },
  }),
];
