import { Tooltip } from "@base-ui/react/tooltip";
import { Outlet } from "@tanstack/react-router";
import { ViewerHost } from "../media/viewer/host";

export const Frame = () => (
  <Tooltip.Provider>
    <Outlet />
    <ViewerHost />
  </Tooltip.Provider>
);
