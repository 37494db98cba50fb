"""The command `gpupool completion`: a shell script that completes commands, options and values."""

import sys
from typing import Annotated, Literal

import typer

_BASH = r"""_gpupool() {
    # Without compopt (bash 3.2) the shell also offers files where none are meant.
    local IFS=$'\n' answer line paths=none program=$1
    type "$program" >/dev/null 2>&1 || program=gpupool
    answer=$(
        _GPUPOOL_COMPLETE=${COMP_LINE:0:COMP_POINT} _GPUPOOL_REPLACED=$2 "$program" 2>/dev/null </dev/null
    )
    COMPREPLY=()
    for line in $answer; do
        case $line in
            $'\t'files*) paths=default ;;
            $'\t'folders*) paths=dirnames ;;
            *)
                line=${line%%$'\t'*}
                # Inside quotes the word is inserted as it is.
                [[ ${COMP_WORDS[COMP_CWORD]} == [\'\"]* ]] || printf -v line %q "$line"
                COMPREPLY+=("$line")
                ;;
        esac
    done
    compopt +o default 2>/dev/null
    [[ $paths == none ]] || compopt -o "$paths" 2>/dev/null
}
complete -o default -F _gpupool gpupool
"""
_ZSH = r"""#compdef gpupool
_gpupool() {
    local line before
    local -a found
    for line in "${(@f)$(
        _GPUPOOL_COMPLETE="${(j: :)words[1,CURRENT-1]} $PREFIX" "${(Q)words[1]}" 2>/dev/null </dev/null
    )}"; do
        case $line in
            $'\t'*)
                before=${line##*$'\t'}
                PREFIX=${PREFIX#"$before"} IPREFIX=$IPREFIX$before
                if [[ $line == $'\t'folders* ]]; then _path_files -/; else _files; fi
                return
                ;;
            *$'\t'*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
            ?*) found+=("${line//:/\\:}") ;;
        esac
    done
    (( $#found )) && _describe -V gpupool found
}
if [[ $funcstack[1] == _gpupool ]]; then _gpupool "$@"; else compdef _gpupool gpupool; fi
"""
_FISH = r"""function __gpupool_complete
    set -l word (commandline -ct)
    set -l program (commandline -cpo)[1]
    for line in (_GPUPOOL_COMPLETE=(commandline -cp) $program 2>/dev/null </dev/null)
        set -l parts (string split \t -- $line)
        switch $line
            case \tfiles\* \tfolders\*
                set -l complete __fish_complete_path
                string match -q \tfolders\* -- $line; and set complete __fish_complete_directories
                set -l start (math (string length -- "$parts[3]") + 1)
                for path in ($complete (string sub -s $start -- $word))
                    echo $parts[3]$path
                end
            case '*'
                echo $line
        end
    end
end
complete --command gpupool --no-files --arguments '(__gpupool_complete)'
"""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="The shell.")],
) -> None:
    """Print a completion script.

    \b
    gpupool completion bash > ~/.local/share/bash-completion/completions/gpupool
    gpupool completion zsh > "${fpath[1]}/_gpupool"
    gpupool completion fish > ~/.config/fish/completions/gpupool.fish
    """  # noqa: D301 - the backspace keeps the lines below it as they are
    sys.stdout.write(_SCRIPTS[shell])
