// A policy for ctxsim in TypeScript or JavaScript: one file, no dependencies, Node 18 or later. docs/policy-program.md describes the protocol.
//
// Node runs no .ts by itself before release 22: so this is JavaScript with its types in comments, which the TypeScript compiler and editors read
// (`// @ts-check`, `tsc --allowJs --checkJs`). A policy in TypeScript imports it and is compiled first, or runs with a Node that strips types.
//
//     import { run, mask } from "./ctxsim-policy.mjs";
//
//     run((view) => {
//       const old = view.items({ kind: "tool_result", state: "whole" }).slice(0, -5);
//       return old.length ? [mask(old, "[old output]")] : [];
//     });
//
// The function gets a `View` and hands back a list of edits, or an `Answer`. What is printed goes to stderr (console.error): stdout belongs to the
// protocol.
// @ts-check

import { writeSync, readSync } from "node:fs";

export const PROTOCOL = "ctxsim.policy/1";

/**
 * @typedef {{ id: number, kind: string, tool?: string, tokens: number, state: "whole" | "truncated" | "masked", error?: boolean,
 *   superseded?: boolean, cut_by_agent?: boolean, bytes?: number, utf16?: number, chars?: number, newlines?: number, text?: string }} Item
 * @typedef {{ id: number, role: "system" | "user" | "assistant" | "tool", turn: number, call: number, tokens: number, usage?: number,
 *   opens_turn?: boolean, summary?: boolean, unseen?: boolean, own?: boolean, items: Item[] }} Message
 * @typedef {{ usage: { prompt: number, output: number } | null, usage_plus_pending: number, pending: number, est_request: number,
 *   est_history: number, est_system: number, refused: number, left: number, idle_seconds: number | null }} Sizes
 * @typedef {{ edits?: object[], when?: object, fired?: boolean }} Answer `when`: what was looked at, in the words of a rule's trigger.
 *   `fired: true` without edits says that there was something to do and nothing came of it.
 */

/** The context before a decision. `memory` is an object of your own, empty at the start of each session. */
export class View {
  /** @param {any} begin */
  constructor(begin) {
    this.session = begin;
    /** @type {Record<string, number>} */
    this.params = begin.params;
    /** @type {number} */
    this.window = begin.window;
    /** @type {number} */
    this.reserve = begin.reserve;
    /** @type {Record<string, any>} */
    this.memory = {};
    /** @type {Message[]} */
    this.messages = [];
    this.rule = "";
    this.at = "";
    this.call = 0;
    this.turn = 0;
    /** @type {number | undefined} */
    this.attempt = undefined;
    /** @type {Message | undefined} */
    this.arrives = undefined;
    /** @type {Sizes | undefined} */
    this.sizes = undefined;
  }

  /**
   * The items in prompt order, those of a kind, in a state, of a tool.
   * @param {{ kind?: string, state?: string, tool?: string }} [of]
   * @returns {Item[]}
   */
  items({ kind, state, tool } = {}) {
    const wanted = (/** @type {Item} */ item) =>
      (kind === undefined || item.kind === kind) && (state === undefined || item.state === state) && (tool === undefined || item.tool === tool);
    return this.messages.flatMap((message) => message.items.filter(wanted));
  }

  /** So many calls have been made since the message came. @param {Message} message */
  age(message) {
    return this.call - message.call;
  }

  /** @param {any} question */
  learn(question) {
    ({ rule: this.rule, at: this.at, call: this.call, turn: this.turn } = question);
    ({ attempt: this.attempt, arrives: this.arrives, sizes: this.sizes } = question);
    if (question.gone) {
      const gone = new Set(question.gone);
      this.messages = this.messages.filter((message) => !gone.has(message.id));
    }
    for (const { place, ...message } of question.put ?? []) this.messages.splice(place, 0, message);
    if (!question.changed) return;
    const known = new Map(this.messages.map((message) => [message.id, message]));
    for (const { id, tokens, usage, items = [], without = [] } of question.changed) {
      const message = known.get(id);
      if (!message) continue;
      message.tokens = tokens;
      message.usage = usage;
      const news = new Map(items.map((/** @type {Item} */ item) => [item.id, item]));
      const stays = message.items.filter((item) => !without.includes(item.id));
      message.items = stays.map((item) => news.get(item.id) ?? item);
    }
  }
}

/** @param {any} things */
const ids = (things) => (Array.isArray(things) ? things : [things]).map((thing) => (typeof thing === "number" ? thing : thing.id));

/** Items are replaced by a short text; `preview` leaves something of both ends. @param {any} items @param {string} text @param {object} [preview] */
export const mask = (items, text, preview) => ({ mask: preview ? { text, preview } : { text }, items: ids(items) });

/** Items are cut, in the words of a policy document. @param {any} items @param {object} limits */
export const truncate = (items, limits) => ({ truncate: limits, items: ids(items) });

/** Messages are removed. @param {any} messages @param {object} [words] */
export const drop = (messages, words = {}) => ({ drop: words, messages: ids(messages) });

/** Items are removed from their messages: reasoning, pictures. @param {any} items */
export const dropItems = (items) => ({ drop: {}, items: ids(items) });

/** Messages are replaced by a summary: of `tokens`, or with its `text`. @param {any} messages @param {any} [words] */
export const summarise = (messages, { text, ...words } = {}) => ({ summarise: words, messages: ids(messages), ...(text === undefined ? {} : { text }) });

/** A text is put in, of so many `tokens`, or as `text`. @param {string} what @param {any} [words] */
export const inject = (what, { text, tokens = 0, ...words } = {}) => ({ inject: { what, tokens, ...words }, ...(text === undefined ? {} : { text }) });

/** Writes all of a line, however much the pipe takes at once. @param {string} line */
function say(line) {
  let bytes = Buffer.from(line + "\n");
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(1, bytes));
    } catch (error) {
      if (/** @type {any} */ (error).code !== "EAGAIN") throw error;
    }
  }
}

/** The lines of standard input. */
function* lines() {
  const chunk = Buffer.alloc(1 << 16);
  let rest = Buffer.alloc(0);
  for (;;) {
    let read = 0;
    try {
      read = readSync(0, chunk);
    } catch (error) {
      const { code } = /** @type {any} */ (error);
      if (code === "EAGAIN") continue;
      if (code !== "EOF") throw error;
    }
    if (read === 0) return;
    rest = Buffer.concat([rest, chunk.subarray(0, read)]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield rest.toString("utf8", 0, end);
      rest = rest.subarray(end + 1);
    }
  }
}

/**
 * Answers ctxsim's questions until it has no more.
 * @param {(view: View) => Answer | object[] | null | undefined | void} decide
 */
export function run(decide) {
  /** @type {View | undefined} */
  let view;
  for (const line of lines()) {
    const question = JSON.parse(line);
    if (question.begin !== undefined) {
      if (question.begin !== PROTOCOL) throw new Error(`this library speaks ${PROTOCOL}, not ${question.begin}`);
      view = new View(question);
      say(JSON.stringify({ n: 0, ready: PROTOCOL }));
      continue;
    }
    if (!view) throw new Error("a question before the session began");
    view.learn(question);
    const decided = decide(view) ?? [];
    const { edits = [], when, fired } = Array.isArray(decided) ? { edits: decided } : /** @type {Answer} */ (decided);
    say(JSON.stringify({ n: question.n, edits, when, fired }));
  }
}
