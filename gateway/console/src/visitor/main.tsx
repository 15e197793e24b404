/** Pages of apps for people without an account. They share the console's styles, but not its pages. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "../styles/main.css";
import { AppPage } from "./app-page";
import { isEmbedded, tellHeight } from "./frame";
import { GalleryPage } from "./gallery-page";

const [kind, name = ""] = location.pathname.split("/").slice(1);
const root = document.getElementById("root")!;
// An embedded page has the height of its contents.
root.style.height = "auto";

createRoot(root).render(
  <StrictMode>
    <main className={`mx-auto w-full px-4 ${isEmbedded ? "py-4" : "py-8"} ${kind === "apps" ? "max-w-5xl" : "max-w-2xl"}`}>
      {kind === "apps" ? <GalleryPage owner={decodeURIComponent(name)} /> : <AppPage slug={decodeURIComponent(name)} />}
    </main>
  </StrictMode>,
);
tellHeight();
