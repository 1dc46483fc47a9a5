// Everything works without this file. It looks for news, asks before something is deleted, and switches the theme.
"use strict";

const EVERY = 15000;
let mark = null;

async function lookForNews() {
  const parts = [...document.querySelectorAll("[data-live]")];
  const busy = parts.some((part) => part.contains(document.activeElement) || part.querySelector("details[open]:hover"));
  if (!parts.length || busy || document.hidden) return;
  try {
    const answer = await fetch(location.href, { headers: mark ? { "If-None-Match": mark } : {}, cache: "no-store", redirect: "error" });
    if (answer.status !== 200) return;
    mark = answer.headers.get("ETag");
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of parts) {
      const news = fresh.getElementById(part.id);
      if (!news || news.innerHTML === part.innerHTML) continue;
      const open = [...part.querySelectorAll("details")].map((each) => each.open);
      part.replaceWith(news);
      news.querySelectorAll("details").forEach((each, place) => { if (place in open) each.open = open[place]; });
    }
  } catch { /* the service is away: what is shown stays */ }
}

document.addEventListener("submit", (event) => {
  const words = event.target.dataset.ask;
  if (words && !confirm(words)) event.preventDefault();
});

const button = document.querySelector("[data-theme-switch]");
const root = document.documentElement;
const kept = localStorage.getItem("fairtest-theme");
if (kept === "light" || kept === "dark") root.dataset.theme = kept;
if (button) {
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.hidden = false;
  name();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem("fairtest-theme", root.dataset.theme);
    name();
  });
}

setInterval(lookForNews, EVERY);
