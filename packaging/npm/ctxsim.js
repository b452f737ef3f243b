#!/usr/bin/env node
// Starts the program that the package of this platform carries, and ends as it ends.
"use strict";
const { spawn } = require("node:child_process");
const path = require("node:path");

function musl() {
  return process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
}

function program() {
  if (process.env.CTXSIM_PROGRAM) return process.env.CTXSIM_PROGRAM;
  const platform = `${process.platform}-${process.arch}${musl() ? "-musl" : ""}`;
  try {
    const manifest = require.resolve(`@ctxsim/${platform}/package.json`);
    return path.join(path.dirname(manifest), "bin", process.platform === "win32" ? "ctxsim.exe" : "ctxsim");
  } catch {
    console.error(
      `error: there is no package @ctxsim/${platform} beside this one. Either the platform is not supported, or optional ` +
        "dependencies were left out (npm install --include=optional).\n" +
        "hint: build the program from its source, and set CTXSIM_PROGRAM to where it stands",
    );
    process.exit(2);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (reason) => {
  console.error(`error: the program cannot be started: ${reason.message}`);
  process.exit(2);
});
// A terminal sends Ctrl-C to both; whatever else is sent to the launcher alone is passed on.
const passed = ["SIGINT", "SIGTERM", "SIGHUP"];
const handlers = passed.map((name) => [name, () => (name === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(name))]);
for (const [name, handler] of handlers) process.on(name, handler);
child.on("exit", (code, signal) => {
  for (const [name, handler] of handlers) process.off(name, handler);
  if (signal) process.kill(process.pid, signal);
  else process.exitCode = code;
});
