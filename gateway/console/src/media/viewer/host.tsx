import { lazy, Suspense } from "react";
import { useViewer } from "./store";

const load = async () => ({ default: (await import("./viewer")).ViewerDialog });
const ViewerDialog = lazy(load);

/** The viewer above any page; its code is loaded on first use. */
export const ViewerHost = () => {
  const open = useViewer(({ sets }) => sets.length > 0);
  return open ? (
    <Suspense fallback={null}>
      <ViewerDialog />
    </Suspense>
  ) : null;
};
