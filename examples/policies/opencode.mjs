// What the preset `opencode@2025-12` does, as a program. opencode.toml is its document, and has the limits on tool outputs that arrive.
//
// Source: OpenCode of about 2025-12, session/compaction.ts and session/prompt.ts. At the top of every step it summarises everything where the
// usage of the last reply is above what is usable; after each turn it clears old tool outputs.
// @ts-check

import { inject, mask, run, summarise } from "./ctxsim-policy.mjs";

const CLEARED = "[Old tool result content cleared]";

/** @param {import("./ctxsim-policy.mjs").View} view */
function compact({ params, messages, sizes }) {
  if (!params.auto || params.window <= 0) return [];
  const when = { level: { of: "usage_total", gt: params.usable } };
  const usage = sizes?.usage;
  if (!usage || usage.prompt + usage.output <= params.usable) return { when };
  const history = messages.filter((message) => message.role !== "system" || message.summary);
  if (history.length === 0) return { when };
  const words = { place: "head", role: "assistant", input: "selection" };
  const sized = { prompt_tokens: params.summary_prompt_tokens, wrapper_tokens: params.summary_wrapper_tokens };
  return { when, edits: [summarise(history, { ...words, ...sized }), inject("continue", { tokens: params.continue_tokens, role: "user" })] };
}

/** @param {import("./ctxsim-policy.mjs").View} view */
function prune({ params, messages }) {
  if (!params.prune) return [];
  const old = [];
  let [users, protectedTokens, cleared] = [0, 0, 0];
  scan: for (const message of [...messages].reverse()) {
    if (message.role === "user") users += 1;
    if (users < 2) continue;
    if (message.summary) break;
    for (const item of [...message.items].reverse()) {
      if (item.kind !== "tool_result" || item.error) continue;
      if (item.state === "masked") break scan;
      protectedTokens += item.tokens;
      if (protectedTokens <= params.prune_protect) continue;
      cleared += item.tokens;
      old.push(item);
    }
  }
  return { fired: true, edits: cleared > params.prune_minimum ? [mask(old.reverse(), CLEARED)] : [] };
}

run((view) => (view.rule === "compact" ? compact(view) : prune(view)));
