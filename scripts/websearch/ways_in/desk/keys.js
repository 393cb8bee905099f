// Keys: / goes to the search field, j and k to the next and the previous result or entry.
"use strict";
const STOPS = "ol.results > li > :first-child a, .what, .panel li > a";
addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { j: 1, k: -1 }[event.key];
  if (event.key === "/") {
    event.preventDefault();
    const fields = ["main input[type=search]", "main input:not([type=hidden]), main textarea"];
    fields.map((field) => document.querySelector(field)).find((field) => field)?.focus();
  } else if (step) {
    const stops = [...document.querySelectorAll(STOPS)].filter((stop) => stop.checkVisibility());
    const at = stops.indexOf(document.activeElement);
    stops[at < 0 && step < 0 ? stops.length - 1 : at + step]?.focus();
  }
});
