# Completions of coil-ps for fish.

complete -c coil-ps -s a -l all -d 'Print a tree of all tasks'
complete -c coil-ps -s e -l exe -r -d 'The program of the core'
complete -c coil-ps -l in -x -d 'Only tasks with this function on their stack'
complete -c coil-ps -l json -d 'One JSON object per task'
complete -c coil-ps -l limit -x -d 'Stop reading after this time'
complete -c coil-ps -l older -x -d 'Only tasks that have waited so long'
complete -c coil-ps -l stop -d 'Stop the process meanwhile'
complete -c coil-ps -l waits -x -d 'Only tasks that wait for this'
complete -c coil-ps -s w -l watch -d 'Print again and again'
complete -c coil-ps -s h -l help -d 'Print the help'
complete -c coil-ps -l version -d 'Print the version'
complete -c coil-ps -a '(__fish_complete_pids)'
