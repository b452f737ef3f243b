#!/usr/bin/env bash
# Copies the fixtures of tests/data into fuzz/corpus, each to the targets whose readers know it. Run it before the first `cargo fuzz run`.
set -euo pipefail
cd "$(dirname "$0")"
data=../tests/data

# seed TARGET FOLDER...: every file below the folders, named by its content so that none overwrites another.
seed() {
    local target=$1
    shift
    mkdir -p "corpus/$target"
    for folder in "$@"; do
        find "$data/$folder" -type f -size -64k | while read -r file; do
            cp "$file" "corpus/$target/$(sha1sum <"$file" | cut -c1-16)"
        done
    done
}

lines=(native claude-code claude-managed-agents qwen-code codex copilot-cli deepseek-harness factory-droid pi goose kimi-code kimi-cli kiro-cli grok-cli junie mistral-vibe muse picoclaw baseagent gemini-stream cli
    references drift)
documents=(opencode cline cline-cli continue kiro-cli vscode-chat mycoder gemini-cli mini-swe-agent openhands crewai crush openai-agents adk amp hermes zed pydantic-ai
    langchain agno trae-agent)
benchmarks=(tau2 swe-agent atif tau-bench sharegpt autogen messages-display summariser)
exchanges=(api-exchange litellm anthropic-messages openai-chat)
telemetry=(langfuse langsmith otlp)
seed agent_lines "${lines[@]}"
seed agent_documents "${documents[@]}"
seed benchmarks "${benchmarks[@]}"
seed exchanges "${exchanges[@]}"
seed telemetry "${telemetry[@]}"
seed vcr vcr
seed aider aider
seed inspect inspect
seed sniff "${lines[@]}" "${documents[@]}" "${benchmarks[@]}" "${exchanges[@]}" "${telemetry[@]}" vcr aider inspect
# Statements that make databases, and the databases that they make.
mkdir -p corpus/databases
for statements in "$data"/*/*.sql; do
    name=$(basename "$(dirname "$statements")")
    cp "$statements" "corpus/databases/$name.sql"
    if command -v sqlite3 >/dev/null; then
        rm -f "corpus/databases/$name.db"
        sqlite3 "corpus/databases/$name.db" "PRAGMA page_size = 512" ".read $statements"
    fi
done
seed counting "${lines[@]}" aider
mkdir -p corpus/policy
cp ../src/policy/presets/*.toml "$data"/*/*.toml corpus/policy/

# What the targets found late, which later runs start from.
for late in "$data"/fuzz/*; do
    mkdir -p "corpus/$(basename "$late")"
    cp "$late" "corpus/$(basename "$late")/late"
done

# A trace file of the short sample sessions, whole and unpacked (the first line is the magic).
mkdir -p corpus/trace_file
if command -v ctxsim >/dev/null; then
    ctxsim trace build "$data/native" "$data/pi" -o corpus/trace_file/whole.ctxtrace --force
    tail -n +2 corpus/trace_file/whole.ctxtrace | gunzip >corpus/trace_file/unpacked
fi
