import { Link } from "@tanstack/react-router";
import { Button, buttonClasses } from "../../ui/button";
import { Notice } from "../../ui/notice";
import type { Remedy } from "../../messages/troubles";
import type { Trouble } from "./trouble";
import { COMMON } from "../../messages/common";
import { TROUBLE_NOTICE } from "../../messages/runs";

const LINKS: Readonly<Partial<Record<Remedy, readonly [string, string]>>> = {
  "see-plans": ["/plans", COMMON.seePlans],
  "see-credits": ["/usage", TROUBLE_NOTICE.seeBalance],
  "see-models": ["/models", TROUBLE_NOTICE.seeModels],
};
const BUTTONS: Readonly<Partial<Record<Remedy, string>>> = {
  "open-node": TROUBLE_NOTICE.openNode,
  "raise-limit": TROUBLE_NOTICE.raiseLimit,
  "see-problems": TROUBLE_NOTICE.showProblems,
};

export interface TroubleNoticeProps {
  trouble: Trouble;
  /** `warn` for problems before a request. */
  kind?: "bad" | "warn";
  /** Actions available on this page. Remedies without an action are omitted. */
  on?: Readonly<Partial<Record<Remedy, () => void>>>;
}

/** An error with its cause, advice and buttons. */
export const TroubleNotice = ({ trouble: { title, cause, advice, remedies }, kind = "bad", on = {} }: TroubleNoticeProps) => {
  const actions = [...new Set(remedies)].flatMap((remedy) => {
    const [link, act] = [LINKS[remedy], on[remedy]];
    if (link)
      return (
        <Link key={remedy} to={link[0]} className={buttonClasses("secondary", "sm")}>
          {link[1]}
        </Link>
      );
    return act ? (
      <Button key={remedy} size="sm" onClick={act}>
        {BUTTONS[remedy]}
      </Button>
    ) : (
      []
    );
  });
  return (
    <Notice kind={kind} title={title} actions={actions.length > 0 ? actions : undefined}>
      {cause}
      {advice !== undefined && <span className="mt-1 block">{advice}</span>}
    </Notice>
  );
};
