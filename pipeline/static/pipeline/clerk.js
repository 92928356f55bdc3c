// Asks the live parts of a page to refresh themselves. A person can stop that, and a hidden tab asks for nothing.
(() => {
  "use strict";
  const SECONDS = { board: 10, "site-live": 2, "failure-live": 2, "bulk-live": 1, "look-live": 1 };
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

  // Where the keyboard is within a part, so that it is there again when the part has been replaced.
  const REACHABLE = "a[href], button, summary, [tabindex]";
  const placeOf = (part, element) => {
    if (!part.contains(element) || !element.matches(REACHABLE)) return null;
    const alike = (other) => other.outerHTML.split(">")[0] === element.outerHTML.split(">")[0];
    return { start: element.outerHTML.split(">")[0], nth: [...part.querySelectorAll(REACHABLE)].filter(alike).indexOf(element) };
  };
  const focusAt = (part, place) => {
    if (!place || part.contains(document.activeElement)) return;
    const alike = [...part.querySelectorAll(REACHABLE)].filter((other) => other.outerHTML.split(">")[0] === place.start);
    alike[place.nth]?.focus({ preventScroll: true });
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-live]").forEach((part) => {
      setInterval(() => refresh(part), 1000 * (SECONDS[part.id] || 10));
    });
    const all = document.querySelector("#changelist-form[action*='/queues/'] #action-toggle");
    all?.addEventListener("change", () => {
      document.querySelectorAll("input.action-select").forEach((box) => { box.checked = all.checked; });
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
    let open = [], held = null, scrolled = [];
    document.body.addEventListener("htmx:beforeSwap", (event) => {
      open = [...document.querySelectorAll("details[open][id]")].map((part) => part.id);
      held = placeOf(event.detail.target, document.activeElement);
      scrolled = [...event.detail.target.querySelectorAll(".scroll")].map((part) => part.scrollLeft);
    });
    document.body.addEventListener("htmx:afterSwap", (event) => {
      open.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
      event.detail.target.querySelectorAll(".scroll").forEach((part, index) => { part.scrollLeft = scrolled[index] || 0; });
      focusAt(event.detail.target, held);
      if (words()?.dataset.lost) { delete words().dataset.lost; say("Updated every 10 seconds"); }
    });
    ["htmx:sendError", "htmx:responseError"].forEach((name) => {
      document.body.addEventListener(name, () => {
        if (words()) { words().dataset.lost = "1"; say("No answer from the server; trying again"); }
      });
    });
  });
})();
