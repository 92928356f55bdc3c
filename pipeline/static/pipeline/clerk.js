// Asks the live parts of a page to refresh themselves. A person can stop that, and a hidden tab asks for nothing.
(() => {
  "use strict";
  const SECONDS = { board: 10, "site-live": 2 };
  let still = false;
  const words = () => document.getElementById("live-words");

  const refresh = (part) => {
    const done = part.querySelector("[data-still]");
    if (still || document.hidden || done || !window.htmx) return;
    // Never from under somebody who is reading or typing inside it.
    if (part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")) return;
    window.htmx.trigger(part, "clerk:refresh");
  };

  const say = (text) => { if (words()) words().textContent = text; };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-live]").forEach((part) => {
      setInterval(() => refresh(part), 1000 * (SECONDS[part.id] || 10));
    });
    const toggle = document.getElementById("live-toggle");
    if (toggle) {
      toggle.addEventListener("click", () => {
        still = !still;
        toggle.setAttribute("aria-pressed", String(still));
        toggle.textContent = still ? "Go on updating" : "Pause updates";
        say(still ? "Updates are paused" : "Updated every 10 seconds");
      });
    }
    // What a person has opened stays open when the part around it is replaced.
    let open = [];
    document.body.addEventListener("htmx:beforeSwap", () => {
      open = [...document.querySelectorAll("details[open][id]")].map((part) => part.id);
    });
    document.body.addEventListener("htmx:afterSwap", () => {
      open.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
      if (words()?.dataset.lost) { delete words().dataset.lost; say("Updated every 10 seconds"); }
    });
    ["htmx:sendError", "htmx:responseError"].forEach((name) => {
      document.body.addEventListener(name, () => {
        if (words()) { words().dataset.lost = "1"; say("No answer from the server; trying again"); }
      });
    });
  });
})();
