//! One test binary; a module for each room or promise.
/// What presets mirror: their ages, the page that lists them, the note on newer logs.
mod agents;
/// The rules of the house: who may know whom, and what no room may hold.
mod architecture;
/// Recorded compactions beside predicted ones: a made session, the samples, real files.
mod backtest;
/// Databases that no agent wrote so.
#[cfg(feature = "sqlite")]
mod bad_databases;
/// Files that no agent wrote so: empty, binary, cut, huge, absurd.
mod bad_input;
/// Settings that fly together come to the sums of each by itself.
mod batch;
/// Chromium through its driver, for pages.
mod browser;
/// Breaks of the recorded prompt cache, with their causes.
mod cache;
/// Bills held against recordings.
mod calibration;
mod catalog;
/// Charts: golden pictures, words that never meet, files from outside.
mod chart;
/// Charts of more policies than a reader could tell apart.
mod chart_many;
/// The program from outside: forms, exit codes, sentences.
mod cli;
/// What shells complete.
mod completion;
/// Agents' own configuration: documented keys, snippets read back.
mod configuration;
/// Sessions written down in another shape, and without their words: a replay gives the same numbers.
mod convert;
/// Money: prices, prompt caches, bills; real files against an independent count.
mod cost;
/// Damaged files, format by format: the same figures, or the loss named.
mod damage;
/// The same bytes for any number of threads and order of files, and from measured traces.
mod determinism;
/// `ctxsim diff`: where two policies part.
mod diff;
/// The one door for writing: every option that writes, against all that must not be written over.
#[cfg(unix)]
mod door;
/// Drift: the example worked by hand, bars on recorded sessions, calibration.
mod drift;
/// `ctxsim explain`, line by line.
mod explain;
/// Sessions that a policy fails: where they end, what still counts, how they rank.
mod failed;
/// Readers, one file per format.
mod format;
/// One convention for forms and places of output, over all commands.
mod forms;
/// `ctxsim gate`: limits, baselines, forms, exit codes.
mod gate;
/// Days, blocks, jumps, windows, against the raw lines.
mod groups;
/// What a corpus of many sessions holds as bytes comes back as it was.
mod held;
/// `--help` of every command: it fits the page, and its examples run.
mod help;
/// A made home of forty sessions.
mod home;
/// A cloned repository with settings, names, links and pipes that mean harm.
#[cfg(unix)]
mod hostile_repository;
/// Pauses between calls and what helps against a cold cache.
mod idle;
/// What logs hold, against the raw files and the samples' own page.
mod inspect;
/// Rows of made traces, and the tables that are built in.
mod made;
/// The table of measures.
mod metric;
/// Two totals: with and without the calls of sub-agents that are only mirrored.
mod mirrors;
/// The oracle and the bound beside policies and beside every possible choice.
mod oracle;
/// What `cargo package` would publish.
mod package;
/// Files that were packed: whole, cut off, in several frames.
mod packed;
/// `ctxsim report`: files, the page in a browser, hostile names.
mod page;
/// Policies: the session worked by hand, the main facts of each preset, properties.
mod policies;
/// `ctxsim policy`: words, schema, what cannot work.
mod policy_commands;
/// Policies as documents: presets, inheritance, mistakes.
mod policy_documents;
/// A case worked by hand for each newer preset.
mod policy_examples;
/// What presets of frameworks leave beside the cut.
mod policy_frameworks;
/// Main facts of the presets of other systems: thresholds, comparisons, what is kept.
mod policy_systems;
mod policy_upstream;
/// Words of the policy language that several systems need.
mod policy_words;
/// Policies whose decisions a program takes: examples beside their presets, the protocol, hostile programs.
mod programs;
/// What is shown while a run lasts.
mod progress;
/// A project's defaults, the demo, completions and manual pages.
mod project;
/// What agents read again after recorded compactions.
mod read_again;
/// The recording and the user's own agents beside policies, on sessions made for it.
mod recording;
/// References: what later messages repeat, and what policies lose of it.
mod references;
/// The closed loop: what is read again, by hand and by properties.
mod refetch;
/// Every form of a report: pages, and words of others that stay words.
mod render;
/// The sample corpus and its table.
mod samples;
/// Sessions by date and project.
mod selection;
/// Defaults of the founding systems, written by hand, against what `policy show` prints.
mod sheets;
/// Every real file: who claims it, and its calls against its row and an independent count.
mod sources;
/// Growth of time and memory, from outside.
mod speed;
/// Sums by reader and by independent script.
mod sums;
/// What tests of readers share.
mod support;
/// What is typed: one name for one thing, options that fit, files that are not written over.
mod typed;
mod usage;
/// Predictions beside runs that were made under a policy.
mod validate;
/// The page of figures of trust, held to the data.
mod validation_page;

/// Every golden vector, through the presets.
mod conformance;
mod counting;
/// Licences of all that is built in, and advisories.
mod licences;
/// The README's report and commands.
mod manual;
mod marks;
mod messages;
/// A made population of sessions, of which the truth is known.
mod population;
/// Questions of users, with commands and their answers.
mod questions;
/// One door for reading: streams, links, devices, bounds.
mod reading;
mod scale;
/// The first screen of each command.
mod screens;
/// Many settings: designs, constraints, the same bytes after a kill.
mod sweep;
/// Truth: shares, exact reproduction of recorded prompts, anchored prediction.
mod truth;
/// `ctxsim tune`: the optimum, held-out sessions, refusals.
mod tune;
/// What is not known, in every form.
mod unknown;
/// Logs that begin in the middle: what they lack is conversation, and no overhead.
mod unseen;
/// Intervals and verdicts, held against a made population.
mod verdicts;
/// Windows: from where they come, and which goes before which.
mod windows;
/// Plain words, and the glossary.
mod words;
/// Rows in, rows out: the worker behind engines that move rows between machines.
mod worker;
/// Texts that make tokenizers slow.
mod worst_strings;
