import { Tooltip } from "@base-ui/react/tooltip";
import { Outlet } from "@tanstack/react-router";

/** What every page stands in. */
export const Frame = () => (
  <Tooltip.Provider>
    <Outlet />
  </Tooltip.Provider>
);
