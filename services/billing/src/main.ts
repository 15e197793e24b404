import {
  defineService,
  erasureHandlers,
  grpcService,
  listenVariable,
  openDatabase,
  runProcess,
  serveGrpc,
  startRelay,
  variables,
} from "@nodeloom/platform";
import { billing as proto, erasure, payments as paymentsProto } from "@nodeloom/proto";
import { database } from "./database";
import { createBilling } from "./billing";
import { createPaymentStore } from "./payments/payment-store";
import { createPayments } from "./payments/payments";
import { paymentRemovals } from "./payments/removal";
import { paymentsHandlers } from "./payments/server";
import { paymentSettings, paymentVariables } from "./payments/settings";
import { connectStripe } from "./payments/stripe";
import { billingHandlers } from "./server";
import { createStore } from "./store";

export const service = defineService({
  name: "billing",
  database,
  variables: {
    MONGODB_URI: variables.MONGODB_URI,
    MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX,
    ...listenVariable("billing"),
    ...paymentVariables,
  },
  start: async ({ config, logger }) => {
    const settings = paymentSettings(config);
    const provider = settings && { settings, stripe: await connectStripe({ settings, logger }) };
    const connection = await openDatabase(database, config, logger);
    const store = createStore(connection);
    const purchases = createPaymentStore(connection);
    const billing = createBilling({ store, removals: paymentRemovals(purchases), logger });
    const payments = createPayments({ store: purchases, billing, provider, logger });
    const relay = startRelay(billing.relayed, { service: "billing", connection, logger });
    return serveGrpc({
      service: grpcService(proto.BillingServiceService, billingHandlers(billing)),
      more: [
        grpcService(paymentsProto.PaymentsServiceService, paymentsHandlers(payments)),
        grpcService(erasure.ErasureServiceService, erasureHandlers(billing.erase, { metadata: billing.eraseMetadata })),
      ],
      config,
      listen: "BILLING_LISTEN",
      connection,
      logger,
      stop: async () => {
        await relay.stop();
        await billing.stop();
        await provider?.stripe.close();
      },
    });
  },
});

if (require.main === module) void runProcess([service]);
