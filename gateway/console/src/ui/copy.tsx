import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button, IconButton } from "./button";
import { complain } from "./overlays/toast";
import { COPY } from "../messages/notices";

const SHOWN_MS = 1_500;

const useCopy = (text: string) => {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), SHOWN_MS);
    } catch {
      complain(COPY.blocked);
    }
  };
  return { copied, copy };
};

export const CopyButton = ({ text, label = COPY.copy, compact }: { text: string; label?: string; compact?: boolean }) => {
  const { copied, copy } = useCopy(text);
  const icon = copied ? Check : Copy;
  return compact ? (
    <IconButton icon={icon} label={copied ? COPY.copied : label} size="sm" onClick={() => void copy()} />
  ) : (
    <Button size="sm" icon={icon} onClick={() => void copy()}>
      {copied ? COPY.copied : label}
    </Button>
  );
};

/** Code with a copy button. */
export const Code = ({ text, label, wrap = false }: { text: string; label: string; wrap?: boolean }) => (
  <div className="relative min-w-0 rounded-xl border bg-sunken">
    <pre
      tabIndex={0}
      role="region"
      aria-label={label}
      className={`max-h-96 overflow-auto p-3 pr-12 font-mono text-xs leading-relaxed ${wrap ? "whitespace-pre-wrap wrap-anywhere" : ""}`}
    >
      {text}
    </pre>
    <div className="absolute top-1.5 right-1.5 rounded-md bg-sunken">
      <CopyButton text={text} label={COPY.copyNamed(label.toLowerCase())} compact />
    </div>
  </div>
);
