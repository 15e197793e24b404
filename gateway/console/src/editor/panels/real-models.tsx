import type { Model } from "@nodeloom/client";
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { useState } from "react";
import { kindOf } from "../../canvas/kinds";
import { nodesOf } from "../../document/graph";
import { IconButton } from "../../ui/button";
import { Notice } from "../../ui/notice";
import { COMMON } from "../../messages/common";
import { REAL_MODELS } from "../../messages/editor/panels";
import { useDocument, useEditor } from "../context";

const CLOSED = "nodeloom:real-models-closed";
const IMAGE = "image";
const LINK = "underline underline-offset-2";

const isRealPainter = ({ modality, status, sandbox, inputSchema: { properties = {} } }: Model): boolean =>
  modality === IMAGE && status === "ready" && !sandbox && Object.hasOwn(properties as object, "prompt");

/** Says how to get AI images, while only the sandbox draws them. Once closed, it doesn't come back. */
export const RealModels = () => {
  const { models, me } = useEditor();
  const isAdmin = me.user.role === "admin";
  const draws = useDocument(({ graph }) => nodesOf(graph).some(({ type }) => kindOf(type).modality === IMAGE));
  const [isClosed, setClosed] = useState(() => localStorage.getItem(CLOSED) !== null);
  if (isClosed || !draws || models.some(isRealPainter)) return null;
  const close = (): void => {
    localStorage.setItem(CLOSED, "true");
    setClosed(true);
  };
  return (
    <div className="relative">
      <Notice title={REAL_MODELS.title} className="pr-10">
        {isAdmin ? REAL_MODELS.hint : REAL_MODELS.hintForUsers}
        {isAdmin && (
          <ul className="mt-1.5 flex flex-col gap-1.5">
            <li>
              <Link to="/models" search={{ open: "keys" }} className={LINK}>
                {REAL_MODELS.addKey}
              </Link>
            </li>
            <li>
              <Link to="/models" search={{ open: "server" }} className={LINK}>
                {REAL_MODELS.addServer}
              </Link>
            </li>
            <li>
              <a href="/docs/guide/local-models.md#local-pictures" target="_blank" rel="noopener" className={LINK}>
                {REAL_MODELS.local}
              </a>
            </li>
          </ul>
        )}
      </Notice>
      <IconButton icon={X} size="sm" label={COMMON.close} className="absolute top-2 right-2" onClick={close} />
    </div>
  );
};
