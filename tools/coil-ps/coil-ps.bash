# Completions of coil-ps for bash.

_coil_ps() {
    local word=${COMP_WORDS[COMP_CWORD]}

    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W '--all --debuginfod --exe= --help --in= --json --limit= --older= --output= --pause= --save= --stop --trace --version --waits= --watch' -- "$word"))
        [[ ${COMPREPLY[0]:-} != *= ]] || compopt -o nospace
    else
        COMPREPLY=($(compgen -f -- "$word") $(compgen -W "$(cd /proc && echo [0-9]*)" -- "$word"))
    fi
}
complete -F _coil_ps coil-ps
