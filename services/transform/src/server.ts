import { unavailable } from "@nodeloom/kernel";
import { unary } from "@nodeloom/platform";
import { transform } from "@nodeloom/proto";

/** gRPC handlers of the transform service. */
export const transformHandlers = (): transform.TransformServiceServer => ({
  run: unary(async () => Promise.reject(unavailable("no operation can be run yet"))),
  renderPreview: unary(async () => Promise.reject(unavailable("no preview can be rendered yet"))),
  getStatus: unary(async () => transform.GetStatusResponse.fromPartial({})),
});
