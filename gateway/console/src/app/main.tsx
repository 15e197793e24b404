import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "../styles/main.css";
import { isOffline } from "../api/client";
import { Toaster } from "../ui/overlays/toast";
import { createAppRouter } from "./router";

const MAX_ATTEMPTS = 2;

const queryClient = new QueryClient({
  defaultOptions: {
    // Otherwise a change made without a network would be sent unexpectedly later.
    mutations: { networkMode: "always" },
    queries: {
      staleTime: 5_000,
      // The client has already retried temporary errors. Only a lost network is worth another attempt.
      retry: (attempts, error) => isOffline(error) && attempts < MAX_ATTEMPTS,
    },
  },
});

const router = createAppRouter(queryClient);

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Toaster />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
