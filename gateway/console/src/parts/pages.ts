import { useRouter } from "@tanstack/react-router";
import type { LucideIcon } from "lucide-react";
import type { ComponentType } from "react";

/** A page's menu entry, stored in its route. Pages without an order are reached from other pages. */
declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    title?: string;
    icon?: LucideIcon;
    order?: number;
    /** Shown beside the title in the menu. */
    Aside?: ComponentType<{ compact: boolean }>;
    /** Target of the entry, for routes with parameters. */
    to?: string;
    /** True for an entry in the account menu instead of the navigation. */
    inAccountMenu?: boolean;
    forAdmins?: boolean;
  }
}

export interface MenuPage {
  to: string;
  title: string;
  icon: LucideIcon;
  order: number;
  Aside?: ComponentType<{ compact: boolean }>;
  inAccountMenu?: boolean;
  forAdmins?: boolean;
}

export const usePages = (): readonly MenuPage[] =>
  Object.values(useRouter().routesById)
    .flatMap(({ fullPath, options: { staticData } }) => {
      if (staticData?.title === undefined || staticData.icon === undefined || staticData.order === undefined) return [];
      return [{ to: fullPath as string, ...staticData } as MenuPage];
    })
    .sort((a, b) => a.order - b.order);
