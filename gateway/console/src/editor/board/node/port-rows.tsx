import { Handle, Position } from "@xyflow/react";
import { Plus } from "lucide-react";
import { useRef, type PointerEvent as ReactPointerEvent, type TouchEvent } from "react";
import type { Box } from "../../../canvas/geometry";
import { PortMark } from "../../../canvas/port-mark";
import { fits, type NodePorts, type Port } from "../../../canvas/ports";
import { classes } from "../../../ui/classes";
import { linkAt, openPortPalette } from "../../commands/actions";
import { useEditor, useScene, useUi } from "../../context";
import { wiredKey } from "../../scene/scene";
import { PORT_ROWS } from "../../../messages/editor/board";

interface PortHandleProps {
  nodeId: string;
  port: Port;
  side: "input" | "output";
  y: number;
}

/** Tolerance for pointer movement during a press. */
const SHAKE_PX = 4;

/** Drags an existing link's end at an input, instead of starting a new link. The canvas library moves ends by anchors beside the port. */
const useHeldEnd = (nodeId: string, port: Port, side: "input" | "output") => {
  const editor = useEditor();
  const wired = useScene((state) => (side === "input" ? state.wired : state.feeding).has(wiredKey(nodeId, port.name)));
  const isWireHeld = side === "input" && wired && !port.list && editor.canEdit;
  const grab = (x: number, y: number): void => {
    const edge = linkAt(editor, nodeId, port.name);
    const anchor = edge && document.querySelector(`.react-flow__edge[data-id="${CSS.escape(edge.id)}"] .react-flow__edgeupdater-target`);
    anchor?.dispatchEvent(new MouseEvent("mousedown", { bubbles: true, cancelable: true, button: 0, clientX: x, clientY: y }));
  };
  return { isWireHeld, wired, grab };
};

const PortHandle = ({ nodeId, port, side, y }: PortHandleProps) => {
  const editor = useEditor();
  const { isWireHeld, wired, grab } = useHeldEnd(nodeId, port, side);
  const locked = useUi((state) => state.locked) || !editor.canEdit;
  const pressed = useRef<{ x: number; y: number }>(undefined);
  const dimmed = useUi(({ linking }) => {
    if (!linking || (linking.nodeId === nodeId && linking.side === side)) return false;
    if (linking.nodeId === nodeId || linking.side === side) return true;
    return !(side === "input" ? fits(linking.port, port) : fits(port, linking.port));
  });
  const open = (event: React.MouseEvent): void => {
    event.stopPropagation();
    const { x, y: top } = pressed.current ?? { x: event.clientX, y: event.clientY };
    if (!editor.canEdit || Math.hypot(event.clientX - x, event.clientY - top) > SHAKE_PX) return;
    openPortPalette(editor, { nodeId, port, side }, { x: event.clientX, y: event.clientY });
  };
  return (
    <Handle
      id={port.name}
      type={side === "input" ? "target" : "source"}
      position={side === "input" ? Position.Left : Position.Right}
      isConnectableStart={!isWireHeld}
      style={{ top: y }}
      onClick={open}
      onPointerDown={(event: ReactPointerEvent) => {
        pressed.current = { x: event.clientX, y: event.clientY };
      }}
      onMouseDown={(event) => isWireHeld && event.button === 0 && grab(event.clientX, event.clientY)}
      onTouchStart={(event: TouchEvent) => isWireHeld && event.touches[0] && grab(event.touches[0].clientX, event.touches[0].clientY)}
      className={classes("node-port", isWireHeld && "node-port-held", dimmed && "opacity-20")}
      title={`${port.name}: ${port.list ? PORT_ROWS.listOf : ""}${port.type}`}
    >
      <PortMark type={port.type} list={port.list} />
      {!locked && (side === "output" || !wired) && (
        <button
          type="button"
          tabIndex={-1}
          className={classes("node-plus", side === "input" && "node-plus-before", !wired && side === "output" && "node-plus-open")}
          aria-label={side === "output" ? PORT_ROWS.addANodeAfter : PORT_ROWS.addANodeBefore}
        >
          <Plus className="size-3.5" aria-hidden />
        </button>
      )}
    </Handle>
  );
};

/** Ports with names: inputs on the left, outputs on the right. */
export const PortRows = ({ nodeId, ports, box }: { nodeId: string; ports: NodePorts; box: Box }) => (
  <>
    {ports.inputs.map((port, index) => (
      <div key={port.name} className="contents">
        <span className="node-label left-3.5 text-left" style={{ top: box.inputs[index]!.y }}>
          {port.name}
        </span>
        <PortHandle nodeId={nodeId} port={port} side="input" y={box.inputs[index]!.y} />
      </div>
    ))}
    {ports.outputs.map((port, index) => (
      <div key={port.name} className="contents">
        <span className="node-label right-3.5 text-right" style={{ top: box.outputs[index]!.y }}>
          {port.name}
        </span>
        <PortHandle nodeId={nodeId} port={port} side="output" y={box.outputs[index]!.y} />
      </div>
    ))}
  </>
);
