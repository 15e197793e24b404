import { defineService, erasureHandlers, grpcService, openDatabase, runProcess, serveGrpc } from "@nodeloom/platform";
import { erasure, notifications } from "@nodeloom/proto";
import { variables } from "./config";
import { database } from "./database";
import { createEraseNotifications, createEraseRuns, notificationsHandlers } from "./server";
import { wire } from "./wire";

export const service = defineService({
  name: "notifications",
  database,
  variables,
  start: async ({ config, logger }) => {
    const connection = await openDatabase(database, config, logger);
    const wired = await wire(config, connection, logger);
    const { deliveries } = wired.handlers.stores;
    return serveGrpc({
      service: grpcService(notifications.NotificationsServiceService, notificationsHandlers(wired.handlers)),
      more: [
        grpcService(
          erasure.ErasureServiceService,
          erasureHandlers(createEraseNotifications(deliveries), { runs: createEraseRuns(deliveries) }),
        ),
      ],
      config,
      listen: "NOTIFICATIONS_LISTEN",
      connection,
      logger,
      drain: wired.drain,
      stop: wired.stop,
    });
  },
});

if (require.main === module) void runProcess([service]);
