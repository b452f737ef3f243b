//! `ctxsim completions`: a script by which a shell completes commands, options and the names that they take.

use super::failure::Failure;
use super::print::print;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  ctxsim completions bash > ~/.local/share/bash-completion/completions/ctxsim
  ctxsim completions zsh > ~/.zfunc/_ctxsim
  ctxsim completions fish > ~/.config/fish/completions/ctxsim.fish

In bash, zsh and fish the program itself is asked what can stand at a place:
presets and their parameters, kinds of charts, formats, measures, models, ids of
sessions. Where files are meant, the shell lists them.";

/// The scripts that ask the program.
const BASH: &str = r#"_ctxsim() {
    local IFS=$'\n'
    COMPREPLY=($(ctxsim complete "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null))
    case "${COMPREPLY[0]-}" in *=) compopt -o nospace 2>/dev/null ;; esac
}
complete -o default -F _ctxsim ctxsim
"#;
const ZSH: &str = r#"#compdef ctxsim
_ctxsim() {
    local -a found
    found=(${(f)"$(ctxsim complete $((CURRENT - 1)) "${words[@]}" 2>/dev/null)"})
    if (( ${#found} )); then compadd -S '' -- ${(M)found:#*=}; compadd -- ${found:#*=}; else _files; fi
}
if [[ "${funcstack[1]}" == _ctxsim ]]; then _ctxsim "$@"; else compdef _ctxsim ctxsim; fi
"#;
const FISH: &str = r#"function __ctxsim
    set -l before (commandline -opc)
    set -l found (ctxsim complete (count $before) $before (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c ctxsim -f -a '(__ctxsim)'
"#;

/// Print a script by which your shell completes commands and options
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    /// The shell that the script is for
    shell: Shell,
}

impl Completions {
    pub fn run(&self) -> Result<(), Failure> {
        match self.shell {
            Shell::Bash => print(BASH),
            Shell::Zsh => print(ZSH),
            Shell::Fish => print(FISH),
            other => {
                let mut script = Vec::new();
                clap_complete::generate(other, &mut super::Cli::command(), "ctxsim", &mut script);
                print(&String::from_utf8_lossy(&script))
            }
        }
    }
}
